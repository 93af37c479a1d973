// Collects every text that the code shows, from calls of `l10n.t('…')` in src and `t('…')` in webview, as the bundle that
// translators start from. `npm run l10n` writes it; test/unit/l10n.test.ts holds it equal to the code.
// @ts-check

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { repository } from './dependencies.mjs';

/** Where the bundle is kept; VS Code takes its translations from beside it. */
export const bundleFile = join(repository, 'l10n', 'bundle.l10n.json');

/**
 * Every text, mapped to itself, in alphabetical order; with what is wrong with the calls.
 * @returns {{ bundle: Record<string, string>, problems: string[] }}
 */
export function collectTexts() {
  /** @type {Set<string>} */
  const texts = new Set();
  /** @type {string[]} */
  const problems = [];
  for (const folder of ['src', 'webview']) {
    for (const name of readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name)) continue;
      const file = `${folder}/${name}`;
      const tree = ts.createSourceFile(
        file,
        readFileSync(join(repository, file), 'utf8'),
        ts.ScriptTarget.Latest,
        true,
      );
      visit(tree, tree, folder === 'webview' ? /^t$/ : /(^|\.)l10n\.t$/, texts, problems);
    }
  }
  const sorted = [...texts].sort((a, b) => (a < b ? -1 : 1));
  return { bundle: Object.fromEntries(sorted.map((text) => [text, text])), problems };
}

/**
 * @param {ts.Node} node
 * @param {ts.SourceFile} tree
 * @param {RegExp} callee
 * @param {Set<string>} texts
 * @param {string[]} problems
 */
function visit(node, tree, callee, texts, problems) {
  if (ts.isCallExpression(node) && callee.test(node.expression.getText(tree))) {
    take(node.arguments[0], node, tree, texts, problems);
  }
  if (
    tree.fileName.startsWith('webview/') &&
    ts.isCallExpression(node) &&
    node.expression.getText(tree) === 'formatCount'
  ) {
    for (const text of node.arguments.slice(1, 3)) take(text, node, tree, texts, problems);
  }
  ts.forEachChild(node, (child) => visit(child, tree, callee, texts, problems));
}

/**
 * @param {ts.Expression | undefined} text
 * @param {ts.Node} call
 * @param {ts.SourceFile} tree
 * @param {Set<string>} texts
 * @param {string[]} problems
 */
function take(text, call, tree, texts, problems) {
  const literals = text === undefined ? undefined : literalsOf(text);
  for (const literal of literals ?? []) texts.add(literal);
  if (literals !== undefined || isFormatCount(call)) return;
  const line = tree.getLineAndCharacterOfPosition(call.getStart(tree)).line + 1;
  problems.push(`${tree.fileName}:${line} does not give its text as a literal`);
}

/**
 * Whether the call stands in the definition of `formatCount`, whose own callers give the literals.
 * @param {ts.Node} node
 * @returns {boolean}
 */
function isFormatCount(node) {
  if (ts.isFunctionDeclaration(node)) return node.name?.text === 'formatCount';
  return !ts.isSourceFile(node) && isFormatCount(node.parent);
}

/**
 * The literal texts that an argument can be: one, or the two of a condition.
 * @param {ts.Expression} node
 * @returns {string[] | undefined}
 */
function literalsOf(node) {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isConditionalExpression(node)) return undefined;
  const [yes, no] = [literalsOf(node.whenTrue), literalsOf(node.whenFalse)];
  return yes && no ? [...yes, ...no] : undefined;
}
