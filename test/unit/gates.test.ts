/** That the gates can fail: each is given a text that breaks it, and one that does not. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ESLint } from 'eslint';
import { check, resolveConfig } from 'prettier';

const repository = path.resolve(import.meta.dirname, '../..');

describe('ESLint', function () {
  this.timeout(120_000);
  const eslint = new ESLint({ cwd: repository });

  const rulesBroken = async (file: string, text: string): Promise<string[]> => {
    const [result] = await eslint.lintText(text, { filePath: path.join(repository, file) });
    return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message);
  };

  const planted: readonly {
    readonly what: string;
    readonly file: string;
    readonly text: string;
    readonly rule: string;
  }[] = [
    {
      what: 'a promise that nobody waits for',
      file: 'src/base/assertNever.ts',
      text: 'export function start(): void {\n  Promise.resolve(1);\n}\n',
      rule: '@typescript-eslint/no-floating-promises',
    },
    {
      what: 'a type imported as a value',
      file: 'src/base/emitter.ts',
      text: "import { Disposable } from './disposables';\nexport type Own = Disposable;\n",
      rule: '@typescript-eslint/consistent-type-imports',
    },
    {
      what: 'any',
      file: 'src/base/assertNever.ts',
      text: 'export const value: any = 1;\n',
      rule: '@typescript-eslint/no-explicit-any',
    },
    {
      what: 'an empty catch',
      file: 'src/base/assertNever.ts',
      text: 'try {\n  process.chdir("/");\n} catch {}\n',
      rule: 'no-restricted-syntax',
    },
    {
      what: 'speaking to the user outside of src/ui',
      file: 'src/tree/treeItems.ts',
      text: "import * as vscode from 'vscode';\nvoid vscode.window.showErrorMessage('no');\n",
      rule: 'no-restricted-syntax',
    },
  ];
  for (const { what, file, text, rule } of planted) {
    it(`refuses ${what}`, async () => {
      const broken = await rulesBroken(file, text);
      assert.ok(broken.includes(rule), `found only ${JSON.stringify(broken)}`);
    });
  }

  it('takes a file of the repository as it is', async () => {
    const file = 'src/base/assertNever.ts';
    assert.deepEqual(await rulesBroken(file, readFileSync(path.join(repository, file), 'utf8')), []);
  });
});

describe('Prettier', () => {
  const isFormatted = async (text: string): Promise<boolean> => {
    const filepath = path.join(repository, 'src/base/assertNever.ts');
    return check(text, { ...(await resolveConfig(filepath)), filepath });
  };

  it('refuses what is not formatted, and takes what is', async () => {
    assert.equal(await isFormatted('export const a = "b"'), false);
    assert.equal(await isFormatted("export const a = 'b';\n"), true);
  });
});

describe('The bundler', () => {
  it('says what it cannot bundle, and ends', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-build-'));
    try {
      copyFileSync(path.join(repository, 'esbuild.js'), path.join(folder, 'esbuild.js'));
      symlinkSync(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'));
      mkdirSync(path.join(folder, 'src/bus'), { recursive: true });
      writeFileSync(path.join(folder, 'src/bus/index.ts'), "export * from './missing';\n");
      const run = spawnSync(process.execPath, ['esbuild.js'], { cwd: folder, encoding: 'utf8', timeout: 60_000 });
      assert.equal(run.status, 1);
      assert.match(run.stderr, /Could not resolve "\.\/missing"\n +src\/bus\/index\.ts:1/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }).timeout(90_000);
});
