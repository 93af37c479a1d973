/**
 * A launch whose editor died before the worker's own code ran: nobody but a process outside of it can end it. The editor's side is the
 * extension's own code, in a process of its own that is killed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { LifelineServer } from '../../src/debugging/lifelineServer';
import { writeLaunchFile } from '../../src/debugging/launchFile';
import type { LaunchFileOnDisk } from '../../src/debugging/launchFile';
import { eventually } from '../support/eventually';
import { endWorkers, startWorker, workerFile } from './support/workerProcess';

const editorProgram = `
const { watchLaunch } = require(${JSON.stringify(path.resolve(import.meta.dirname, '../../src/debugging/launchWatch.ts'))});
const watch = watchLaunch(${JSON.stringify(workerFile)}, process.argv[1], (error) => { throw error; });
process.stdin.on('data', (text) => watch[String(text).trim()]());
setTimeout(() => console.log('watching'), 1);
`;

describe('A launch that came to nothing', () => {
  const lifeline = new LifelineServer({ said: () => undefined, ended: () => undefined });
  let file: LaunchFileOnDisk;
  let editor: ChildProcess;

  beforeEach(async () => {
    const port = await lifeline.listen();
    file = writeLaunchFile({
      url: 'redis://:secret@127.0.0.1:1',
      lifeline: { port, token: lifeline.token },
      stream: 's',
      group: 'g',
      consumer: 'c',
      grant: { createGroup: false, reclaim: false, deadLetter: false },
    });
    editor = spawn(process.execPath, ['--require', 'tsx/cjs', '--eval', editorProgram, file.path], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let said = '';
    editor.stdout?.on('data', (text) => (said += String(text)));
    await eventually(() => said.includes('watching') && watchers(file.path).length === 1);
  });

  afterEach(async () => {
    editor.kill('SIGKILL');
    lifeline.dispose();
    file.remove();
    await endWorkers();
  });

  const tell = (what: 'launched' | 'abandon'): void => void editor.stdin?.write(`${what}\n`);

  it('leaves no process that waits for a debugger, and no launch file, when the editor is killed', async () => {
    const worker = startWorker(['run', '--launch-file', file.path], { nodeArgs: ['--inspect-brk=127.0.0.1:0'] });
    await eventually(() => worker.output().includes('Debugger listening'));
    editor.kill('SIGKILL');
    assert.equal(await worker.ended, 'SIGKILL', worker.output());
    assert.equal(existsSync(path.dirname(file.path)), false);
  });

  it('leaves nothing either when the editor lives and gives it up', async () => {
    const worker = startWorker(['run', '--launch-file', file.path], { nodeArgs: ['--inspect-brk=127.0.0.1:0'] });
    await eventually(() => worker.output().includes('Debugger listening'));
    tell('abandon');
    assert.equal(await worker.ended, 'SIGKILL', worker.output());
    assert.equal(existsSync(file.path), false);
  });

  it('is not cleared away once the worker runs', async () => {
    tell('launched');
    await eventually(() => watchers(file.path).length === 0, { what: 'the watch to end' });
    assert.equal(existsSync(file.path), true);
  });
});

/** The processes that look after a launch. */
function watchers(launchFile: string): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && argumentsOf(pid).includes(`watch-launch\0${launchFile}`),
  );
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}
