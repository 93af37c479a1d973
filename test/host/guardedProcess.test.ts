// Nothing that was started under a guard outlives the process that started it, however that ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startGuarded } from '../../scripts/lib/guardedProcess.mjs';
import { eventually } from '../support/eventually';
import { repositoryRoot } from './support/repositoryRoot';

const library = pathToFileURL(join(repositoryRoot, 'scripts', 'lib', 'guardedProcess.mjs')).href;

// A parent that ignores SIGTERM, with a child of its own; both print their pids.
const stubborn = `
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1000);
  if (process.argv[1] !== 'child') {
    require('node:child_process').spawn(process.execPath, ['-e', process.env.STUBBORN, 'child'], { stdio: 'inherit', detached: true });
  }
  console.log('pid ' + process.pid);
`;

describe('A guarded process', function () {
  this.timeout(60_000);

  it('ends with all its children on stop, also when they ignore SIGTERM', async () => {
    const pids: number[] = [];
    const guarded = startGuarded({
      command: process.execPath,
      args: ['-e', stubborn],
      env: { ...process.env, STUBBORN: stubborn },
      onOutput: (text) => pids.push(...pidsIn(text)),
    });
    await eventually(() => pids.length === 2);
    assert.equal(guarded.processes().length, 2);
    await guarded.stop();
    // A killed process may stay as a zombie until its new parent looks.
    await eventually(() => !pids.some(isAlive));
  });

  it('ends with all its children, and its folder goes, when the process that started it is killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'redis-streams-guarded-'));
    const starter = spawn(process.execPath, ['--input-type=module', '-e', starting], {
      env: { ...process.env, STUBBORN: stubborn, LIBRARY: library, FOLDER: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pids: number[] = [];
    starter.stdout.on('data', (text) => pids.push(...pidsIn(String(text))));
    await eventually(() => pids.length === 2);
    assert.deepEqual(pids.filter(isAlive), pids);
    starter.kill('SIGKILL');
    await eventually(() => !pids.some(isAlive) && !existsSync(folder));
  });

  it('gives its exit code when it ends by itself', async () => {
    const guarded = startGuarded({ command: process.execPath, args: ['-e', 'process.exit(7)'] });
    assert.equal(await guarded.exited, 7);
    await guarded.stop();
  });

  it('says so when the program does not exist', async () => {
    let output = '';
    const guarded = startGuarded({
      command: join(tmpdir(), 'no-such-program'),
      args: [],
      onOutput: (text) => {
        output += text;
      },
    });
    assert.equal(await guarded.exited, 127);
    assert.match(output, /no-such-program did not start/);
  });
});

const starting = `
  const { startGuarded } = await import(process.env.LIBRARY);
  startGuarded({
    command: process.execPath,
    args: ['-e', process.env.STUBBORN],
    remove: [process.env.FOLDER],
    onOutput: (text) => process.stdout.write(text),
  });
`;

function pidsIn(text: string): number[] {
  return [...text.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
