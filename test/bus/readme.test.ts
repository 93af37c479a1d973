/** The program in README's chapter on the bus: its types are right, and it does what it says, from its start to SIGTERM. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { eventually } from '../support/eventually';
import { startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

const repository = path.resolve(import.meta.dirname, '../..');

describe("README's chapter on the bus", function () {
  this.timeout(120_000);
  const folder = path.join(repository, 'test-output', `readme-${process.pid}`);
  let world: BusWorld;
  before(async () => {
    mkdirSync(folder, { recursive: true });
    world = await startBusWorld();
  });
  after(async () => {
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The only program of the chapter, with the library and the server of this test. */
  function program(): string {
    const readme = readFileSync(path.join(repository, 'README.md'), 'utf8');
    const chapter = /^## Use the bus$([\s\S]*?)^## /m.exec(readme)?.[1] ?? assert.fail('there is no such chapter');
    const [code = assert.fail('there is no program'), ...others] = [
      ...chapter.matchAll(/^```ts\n([\s\S]*?)^```$/gm),
    ].map(([, text = '']) => text);
    assert.deepEqual(others, []);
    return replaceOnce(replaceOnce(code, './dist/bus', '../../src/bus'), 'redis://localhost:6379', world.server.url);
  }

  function replaceOnce(text: string, from: string, to: string): string {
    assert.equal(text.split(from).length, 2, `${from} is there once`);
    return text.replace(from, to);
  }

  /** What the compiler says of each of these files. */
  function problemsOf(files: readonly string[]): string[] {
    const config = ts.readConfigFile(path.join(repository, 'tsconfig.json'), (name) => ts.sys.readFile(name));
    const { compilerOptions } = config.config as { compilerOptions: object };
    const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, repository);
    const checked = { ...options, noEmit: true, composite: false, emitDeclarationOnly: false, declaration: false };
    const compiled = ts.createProgram(files, checked);
    return files.map((file) => {
      const source = compiled.getSourceFile(file) ?? assert.fail(file);
      const found = [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)];
      return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')).join('\n');
    });
  }

  it('is a program whose types are right, and wrong when a body does not fit its schema', () => {
    const [right, wrong] = [path.join(folder, 'right.mts'), path.join(folder, 'wrong.mts')];
    writeFileSync(right, program());
    writeFileSync(wrong, replaceOnce(program(), 'cents: 500', "cents: '500'"));
    const [none, some] = problemsOf([right, wrong]);
    assert.equal(none, '');
    assert.equal(some, "Type 'string' is not assignable to type 'number'.");
  });

  it('is a program that charges the order, and ends on SIGTERM with nothing left behind', async () => {
    const file = path.join(folder, 'running.mts');
    writeFileSync(file, program());
    const child = spawn(process.execPath, ['--import=tsx', file], {
      cwd: repository,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    try {
      await eventually(() => {
        assert.equal(child.exitCode, null, output);
        return output.includes('charged 500 for order a7');
      });
      await eventually(async () => ((await world.redis.xpending('dev:orders', 'billing')) as [number])[0] === 0);
      child.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null], output);
      assert.equal(output.trim(), 'charged 500 for order a7');
      assert.deepEqual(await world.redis.xinfo('CONSUMERS', 'dev:orders', 'billing'), [], 'it left the group');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
