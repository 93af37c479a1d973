/** The panels' pages draw text as text and never write markup, styles or code from strings. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { contentSecurityPolicy, panelHtml } from '../../src/panels/panelHtml';

const forbiddenNames = new Set([
  'innerHTML',
  'outerHTML',
  'insertAdjacentHTML',
  'dangerouslySetInnerHTML',
  'srcdoc',
  'createContextualFragment',
  'setHTMLUnsafe',
  'parseFromString',
  'cssText',
  'eval',
  'Function',
]);

/** What a source does that it must not, one line each. */
function dangers(file: string, text: string): string[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && forbiddenNames.has(node.text)) found.push(`${file}: ${node.text}`);
    if (
      ts.isJsxAttribute(node) &&
      node.name.getText(tree) === 'style' &&
      node.initializer &&
      ts.isStringLiteral(node.initializer)
    )
      found.push(`${file}: a style attribute`);
    if (ts.isJsxAttribute(node) && /^(href|src|action|formaction)$/i.test(node.name.getText(tree)))
      found.push(`${file}: a link`);
    if (ts.isCallExpression(node) && /\.(write|writeln|setAttribute)$/.test(node.expression.getText(tree))) {
      const isHarmless =
        node.expression.getText(tree) === 'this.state.write' ||
        (node.arguments[0]?.getText(tree) ?? '').startsWith("'aria-");
      if (!isHarmless) found.push(`${file}: ${node.expression.getText(tree)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

describe("the sources of the panels' pages", () => {
  const folder = path.resolve(import.meta.dirname, '../../webview');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));

  it('hold nothing that makes markup, styles or code of text', () => {
    assert.ok(files.length > 20);
    assert.deepEqual(
      files.flatMap((file) => dangers(file, readFileSync(path.join(folder, file), 'utf8'))),
      [],
    );
  });

  for (const planted of [
    'x.innerHTML = y;',
    'const a = <b dangerouslySetInnerHTML={{ __html: y }} />;',
    'document.write(y);',
    'const a = <b style="color: red" />;',
    'const a = <a href={y} />;',
    'new Function(y)();',
    "x.setAttribute('onclick', y);",
  ]) {
    it(`would be caught with ${planted}`, () => {
      assert.equal(dangers('planted.tsx', planted).length > 0, true);
    });
  }

  it('register the toolkit in one file only', () => {
    const users = files.filter((file) =>
      readFileSync(path.join(folder, file), 'utf8').includes('@vscode/webview-ui-toolkit'),
    );
    assert.deepEqual(users, ['toolkit.ts']);
  });

  it('take every colour from the theme', () => {
    const sheets = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.css'));
    for (const sheet of sheets) {
      const text = readFileSync(path.join(folder, sheet), 'utf8').replace(/\/\*.*?\*\//gs, '');
      assert.deepEqual(
        text.match(/#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|color)\(|\b(?:white|black|red|green|blue|gr[ae]y)\b(?!-)\s*;/gi),
        null,
        sheet,
      );
    }
  });
});

describe('the page of a panel', () => {
  const page = {
    title: '</title><script>alert(1)</script>',
    locale: '"><img src=x>',
    scriptUri: 'https://host/stream.js?"',
    styleUri: 'https://host/stream.css',
    cspSource: 'https://host',
    nonce: 'abc',
    styleNonce: 'def',
  };

  it('lets through one script and the style sheets of the extension, nothing else', () => {
    const policy = contentSecurityPolicy(page);
    assert.match(policy, /^default-src 'none'; script-src 'nonce-abc'; style-src https:\/\/host 'nonce-def'; /);
    assert.doesNotMatch(policy, /unsafe|\*|data:|http:/);
  });

  it('escapes all that is put into it', () => {
    const html = panelHtml(page);
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.equal(html.includes('<img'), false);
    assert.match(html, /<title>&#60;\/title&#62;/);
    assert.doesNotMatch(html, / style="| on\w+="/);
  });
});
