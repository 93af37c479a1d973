// Starts a program so that nothing of it can be left behind: it runs under guard.mjs, which ends the whole tree when the
// pipe from this process closes, be it by stop(), by Ctrl-C, by a crash or by SIGKILL.
// Knows nothing of what it runs. Tested by test/host/guardedProcess.test.ts.
// @ts-check

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { processesOf } from './processTree.mjs';

/** @typedef {import('./processTree.mjs').ProcessEntry} ProcessEntry */

/**
 * @typedef {object} GuardedProcess
 * @property {number} pid of the guard
 * @property {Promise<number>} exited resolves with the exit code once the whole tree has ended
 * @property {() => ProcessEntry[]} processes the program and all that descends from it, now
 * @property {() => Promise<void>} stop ends the whole tree; throws naming what is left
 */

/**
 * Starts `command` under a guard. Its output goes to `onOutput` as it comes.
 * @param {object} options
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {string} [options.cwd]
 * @param {string[]} [options.remove] folders that are removed after the tree has ended
 * @param {(text: string) => void} [options.onOutput]
 * @returns {GuardedProcess}
 */
export function startGuarded({ command, args, env = process.env, cwd, remove = [], onOutput }) {
  const mark = randomUUID();
  const guardPath = fileURLToPath(new URL('./guard.mjs', import.meta.url));
  const guard = spawn(process.execPath, [guardPath, JSON.stringify({ mark, command, args, remove })], {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group: Ctrl-C in a terminal reaches this process, and the guard then ends the tree in order.
    detached: true,
  });
  for (const stream of [guard.stdout, guard.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => onOutput?.(String(text)));
  }
  guard.stdin.on('error', () => undefined);
  /** @type {Promise<number>} */
  const exited = new Promise((resolve, reject) => {
    guard.on('error', reject);
    guard.on('exit', (code) => resolve(code ?? 1));
  });
  exited.catch(() => undefined);
  const processes = () => processesOf({ mark }).filter(({ pid }) => pid !== guard.pid);
  return {
    pid: guard.pid ?? -1,
    exited,
    processes,
    async stop() {
      guard.stdin.end();
      await exited;
      const left = processes();
      if (left.length > 0)
        throw new Error(`Left behind: ${left.map((entry) => `${entry.pid} ${entry.command}`).join('; ')}`);
    },
  };
}
