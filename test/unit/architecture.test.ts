/** The walls between the rooms (docs/architecture.md has the same table for people), and proof that each check can fail. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

interface Room {
  /** The rooms whose code it may import; `types` are rooms of which it may import types only. */
  readonly rooms: readonly string[];
  readonly types?: readonly string[];
  readonly packages: readonly string[];
}

const vscodeRoom = (rooms: readonly string[], types: readonly string[] = []): Room => ({
  rooms,
  types,
  packages: ['vscode'],
});

const rooms: Readonly<Record<string, Room>> = {
  base: { rooms: [], packages: [] },
  protocol: { rooms: [], packages: [] },
  manifest: { rooms: [], types: ['bus'], packages: [] },
  bus: { rooms: ['base'], packages: ['ioredis', '@opentelemetry/api', '@standard-schema/spec'] },
  embedded: { rooms: ['base', 'bus'], packages: [] },
  worker: {
    rooms: ['base', 'bus', 'embedded'],
    packages: ['pino', 'prom-client', 'pg', 'hono', '@hono/node-server', 'valibot'],
  },
  connections: vscodeRoom(['base', 'bus', 'manifest', 'ui']),
  ui: vscodeRoom(['base', 'manifest']),
  tree: vscodeRoom(['base', 'connections', 'manifest', 'ui', 'protocol'], ['bus']),
  panels: vscodeRoom(['base', 'connections', 'manifest', 'ui', 'protocol'], ['bus']),
  sandbox: vscodeRoom(['base', 'connections', 'manifest', 'ui'], ['bus']),
  debugging: vscodeRoom(['base', 'connections', 'manifest', 'ui'], ['bus']),
  commands: vscodeRoom([
    'base',
    'bus',
    'manifest',
    'connections',
    'ui',
    'tree',
    'panels',
    'sandbox',
    'debugging',
    'protocol',
  ]),
  extension: vscodeRoom([
    'base',
    'bus',
    'manifest',
    'connections',
    'ui',
    'tree',
    'panels',
    'sandbox',
    'debugging',
    'commands',
    'protocol',
  ]),
  webview: {
    rooms: ['protocol'],
    packages: ['preact', '@preact/signals', '@vscode/webview-ui-toolkit', '@tanstack/virtual-core', 'uplot'],
  },
};

const maxLines = 400;
/** The composition root stays short enough to be read at once. */
const maxRootLines = 101;

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly file: string;
  readonly text: string;
}

function importsOf({ file, text }: SourceFile): Import[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
        const clause = ts.isImportDeclaration(node)
          ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
          : node.isTypeOnly;
        const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
        const elements = named && (ts.isNamedImports(named) || ts.isNamedExports(named)) ? [...named.elements] : [];
        const allTypes = elements.length > 0 && elements.every((element) => element.isTypeOnly);
        found.push({ specifier: node.moduleSpecifier.text, typeOnly: clause || allTypes });
      }
    } else if (ts.isCallExpression(node)) {
      const isImport =
        node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText(tree) === 'require';
      const [argument] = node.arguments;
      if (isImport && argument && ts.isStringLiteral(argument))
        found.push({ specifier: argument.text, typeOnly: false });
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      found.push({ specifier: node.argument.literal.text, typeOnly: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function roomOf(file: string): string | undefined {
  if (file.startsWith('webview/')) return 'webview';
  if (file === 'src/extension.ts') return 'extension';
  return /^src\/([^/]+)\//.exec(file)?.[1];
}

function resolveRelative(from: string, specifier: string, known: ReadonlySet<string>): string | undefined {
  const base = path.posix.join(path.posix.dirname(from), specifier);
  return [base, `${base}.ts`, `${base}.tsx`, `${base}/index.ts`].find((candidate) => known.has(candidate));
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Every way in which the files break the rules, each as one sentence. */
function violations(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ file }) => file));
  const problems: string[] = [];
  const graph = new Map<string, string[]>();
  for (const source of files) {
    const { file, text } = source;
    const lines = text.split('\n').length;
    const limit = file === 'src/extension.ts' ? maxRootLines : maxLines;
    if (lines > limit) problems.push(`${file} has ${lines} lines, over ${limit}`);
    if (/^export default /m.test(text)) problems.push(`${file} has a default export`);
    if (file.startsWith('src/protocol/') && hasRuntimeCode(source))
      problems.push(`${file} has code; protocol is types only`);
    const room = roomOf(file);
    const rules = room === undefined ? undefined : rooms[room];
    if (room === undefined || !rules) {
      problems.push(`${file} is in no room of the table`);
      continue;
    }
    for (const { specifier, typeOnly } of importsOf(source)) {
      if (specifier.startsWith('.')) {
        if (specifier.endsWith('.css')) continue;
        const target = resolveRelative(file, specifier, known);
        if (target === undefined) {
          problems.push(`${file} imports ${specifier}, which is no file of a room`);
          continue;
        }
        if (!typeOnly) graph.set(file, [...(graph.get(file) ?? []), target]);
        const targetRoom = roomOf(target) ?? '';
        const allowed =
          targetRoom === room ||
          rules.rooms.includes(targetRoom) ||
          (typeOnly && (rules.types ?? []).includes(targetRoom));
        if (!allowed)
          problems.push(`${file} imports ${typeOnly ? 'types of ' : ''}${target}: ${room} may not know ${targetRoom}`);
      } else if (specifier.startsWith('node:')) {
        if (room === 'webview' || room === 'protocol')
          problems.push(`${file} imports ${specifier}: ${room} does not run in Node`);
      } else if (!rules.packages.includes(packageOf(specifier))) {
        problems.push(`${file} imports ${specifier}: ${room} may not use ${packageOf(specifier)}`);
      }
    }
  }
  return [...problems, ...cycles(graph)];
}

function hasRuntimeCode({ file, text }: SourceFile): boolean {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return tree.statements.some(
    (statement) =>
      !ts.isInterfaceDeclaration(statement) &&
      !ts.isTypeAliasDeclaration(statement) &&
      !(ts.isImportDeclaration(statement) && statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) &&
      !(ts.isExportDeclaration(statement) && statement.isTypeOnly),
  );
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): void => {
    const start = trail.indexOf(file);
    if (start >= 0) {
      found.push(`import cycle: ${[...trail.slice(start), file].join(' > ')}`);
      return;
    }
    if (done.has(file)) return;
    trail.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    trail.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return found;
}

const repository = path.resolve(import.meta.dirname, '../..');

function sourcesBelow(folder: string): SourceFile[] {
  const absolute = path.join(repository, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => ({ file, text: readFileSync(path.join(repository, file), 'utf8') }));
}

describe('the architecture', () => {
  it('is kept by every file of src and webview', function () {
    this.timeout(60_000);
    const files = [...sourcesBelow('src'), ...sourcesBelow('webview')];
    assert.ok(files.length > 10, 'the sources were found');
    assert.deepEqual(violations(files), []);
  });

  const planted: readonly { readonly name: string; readonly files: readonly SourceFile[]; readonly problem: RegExp }[] =
    [
      {
        name: 'an import through a wall',
        files: [
          { file: 'src/bus/a.ts', text: "import { b } from '../tree/b';" },
          { file: 'src/tree/b.ts', text: 'export const b = 1;' },
        ],
        problem: /bus may not know tree/,
      },
      {
        name: 'a value of a room of which only types may be known',
        files: [
          { file: 'src/tree/a.ts', text: "import { b } from '../bus/b';" },
          { file: 'src/bus/b.ts', text: 'export const b = 1;' },
        ],
        problem: /tree may not know bus/,
      },
      {
        name: 'vscode outside its rooms',
        files: [{ file: 'src/bus/a.ts', text: "import type { Uri } from 'vscode';" }],
        problem: /may not use vscode/,
      },
      {
        name: 'a package of another room',
        files: [{ file: 'src/tree/a.ts', text: "import Redis from 'ioredis';" }],
        problem: /may not use ioredis/,
      },
      {
        name: 'a hidden dynamic import',
        files: [{ file: 'webview/a.ts', text: "void import('ioredis');" }],
        problem: /may not use ioredis/,
      },
      {
        name: 'a Node module in the browser',
        files: [{ file: 'webview/a.ts', text: "import fs from 'node:fs';" }],
        problem: /does not run in Node/,
      },
      {
        name: 'a cycle',
        files: [
          { file: 'src/base/a.ts', text: "import { b } from './b'; export const a = b;" },
          { file: 'src/base/b.ts', text: "import { a } from './a'; export const b = a;" },
        ],
        problem: /import cycle: src\/base\/a\.ts > src\/base\/b\.ts > src\/base\/a\.ts/,
      },
      {
        name: 'a file that is too long',
        files: [{ file: 'src/base/a.ts', text: '\n'.repeat(maxLines) }],
        problem: /401 lines/,
      },
      {
        name: 'a default export',
        files: [{ file: 'src/base/a.ts', text: 'export default 1;' }],
        problem: /default export/,
      },
      {
        name: 'code in the protocol',
        files: [{ file: 'src/protocol/a.ts', text: 'export const a = 1;' }],
        problem: /types only/,
      },
      { name: 'a room that is not in the table', files: [{ file: 'src/misc/a.ts', text: '' }], problem: /no room/ },
    ];
  for (const { name, files, problem } of planted) {
    it(`refuses ${name}`, () => {
      const problems = violations(files);
      assert.ok(
        problems.some((text) => problem.test(text)),
        `found only ${JSON.stringify(problems)}`,
      );
    });
  }

  it('lets type imports through where types may be known', () => {
    const files = [
      { file: 'src/tree/a.ts', text: "import type { B } from '../bus/b'; export type A = B;" },
      { file: 'src/bus/b.ts', text: 'export type B = 1;' },
    ];
    assert.deepEqual(violations(files), []);
  });
});
