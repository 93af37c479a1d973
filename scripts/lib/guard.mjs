// Runs one command and outlives it only to clean up: when its standard input closes, which happens however the process
// that started it ends, it ends the command's whole process tree and removes the folders it was told to remove.
// Started by guardedProcess.mjs, never by hand. Tested by test/host/guardedProcess.test.ts.
// @ts-check

import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { markVariable, processesOf } from './processTree.mjs';

/** How long the tree may take to end when it was asked to, and when the command ended by itself: its children may notice late. */
const patienceMs = { asked: 3_000, byItself: 12_000 };
const killingMs = 10_000;

/** @type {{ mark: string, command: string, args: string[], remove: string[] }} */
const { mark, command, args, remove } = JSON.parse(process.argv[2] ?? '{}');

const child = spawn(command, args, {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, [markVariable]: mark },
});
let ending = false;

child.on('error', (error) => {
  process.stderr.write(`${command} did not start: ${error.message}\n`);
  void end(127);
});
child.on('exit', (code) => void end(code ?? 1, patienceMs.byItself));
process.stdin.on('end', () => void end(0));
process.stdin.on('error', () => void end(0));
process.stdin.resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));

/**
 * @param {number} code
 * @param {number} [patience]
 */
async function end(code, patience = patienceMs.asked) {
  if (ending) return;
  ending = true;
  child.kill('SIGTERM');
  await goneWithin(patience, () => undefined);
  const gone = await goneWithin(killingMs, kill);
  for (const folder of remove) await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  process.exit(gone ? code : 3);
}

/**
 * @param {number} ms
 * @param {(pid: number) => void} each
 */
async function goneWithin(ms, each) {
  const deadline = Date.now() + ms;
  while (Date.now() < deadline) {
    const members = processesOf({ rootPid: child.pid, mark });
    if (members.length === 0) return true;
    for (const { pid } of members) each(pid);
    await sleep(50);
  }
  return false;
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It may have ended by itself between the look and the kill.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
