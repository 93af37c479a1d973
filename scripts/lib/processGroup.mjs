// Runs a program in a process group of its own, shows its output as it comes, ends the whole group when it takes too long,
// and finds what it left behind. Linux finds leftovers by /proc; elsewhere they are only ended.
// Tested by test/worker/testRun.test.ts.
// @ts-check

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const keptOutput = 64 * 1024;
const goodbyeMs = 5000;

/** @typedef {{ pid: number, command: string }} Leftover */
/**
 * @typedef {object} GroupResult
 * @property {string} output the last of what it wrote to standard output
 * @property {string | undefined} badEnd why it did not end well
 * @property {number} seconds
 */

/** @type {Set<number>} */
const running = new Set();
let listening = false;

/**
 * Runs a program until its end, or until the limit.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, limitMs: number, write?: (text: string) => void }} options
 * @returns {Promise<GroupResult>}
 */
export async function runInGroup(command, args, options) {
  const startedAt = performance.now();
  const write = options.write ?? ((text) => void process.stdout.write(text));
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const group = child.pid;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output = `${output}${text}`.slice(-keptOutput);
    write(String(text));
  });
  child.stderr.setEncoding('utf8').on('data', (text) => write(String(text)));
  const streamsEnd = Promise.all(
    [child.stdout, child.stderr].map((stream) => new Promise((end) => stream.on('close', end))),
  );
  /** @type {Promise<string | undefined>} */
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(`${command} did not start: ${error.message}`));
    child.on('exit', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`));
  });
  if (group === undefined) return { output, badEnd: await ended, seconds: 0 };
  running.add(group);
  endGroupsWithThisProcess();
  const limit = new AbortController();
  const tooLong = sleep(options.limitMs, 'too long', { signal: limit.signal }).catch(() => undefined);
  let badEnd = await Promise.race([ended, tooLong]);
  if (badEnd === 'too long') {
    badEnd = `still running after ${formatDuration(options.limitMs)}: ended with everything that it had started`;
    await endGroup(group);
    await ended;
  }
  limit.abort();
  const left = await waitForGroup(group);
  if (left.length > 0) {
    const names = left.map(({ pid, command: name }) => `${pid} ${name}`).join('; ');
    badEnd ??= `left processes behind (ended now): ${names}`;
    await endGroup(group);
  }
  running.delete(group);
  await Promise.race([streamsEnd, sleep(1000)]);
  return { output, badEnd, seconds: (performance.now() - startedAt) / 1000 };
}

/**
 * The living processes of a group.
 * @param {number} group
 * @returns {Leftover[]}
 */
export function groupMembers(group) {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      // The program's name is in brackets and may hold anything; what follows is: state, parent, group.
      const fields = read(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ') ?? [];
      if (Number(fields[2]) !== group || fields[0] === 'Z' || fields[0] === 'X') return [];
      return [{ pid: Number(name), command: read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 120) }];
    });
}

/**
 * @param {number} group
 * @returns {Promise<Leftover[]>} what is left after a moment
 */
async function waitForGroup(group) {
  const deadline = performance.now() + goodbyeMs;
  let left = groupMembers(group);
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(50);
    left = groupMembers(group);
  }
  return left;
}

/** @param {number} group */
async function endGroup(group) {
  signalGroup(group, 'SIGTERM');
  if ((await waitForGroup(group)).length > 0 || !existsSync('/proc/self/stat')) signalGroup(group, 'SIGKILL');
}

/**
 * @param {number} group
 * @param {NodeJS.Signals} signal
 */
function signalGroup(group, signal) {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function endGroupsWithThisProcess() {
  if (listening) return;
  listening = true;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      for (const group of running) signalGroup(group, 'SIGKILL');
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/**
 * @param {number} ms
 * @returns {string}
 */
function formatDuration(ms) {
  return ms >= 60_000 ? `${ms / 60_000} minutes` : `${ms / 1000} s`;
}

/**
 * @param {string} path
 * @returns {string}
 */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // The process ended between the listing and the look.
    return error instanceof Error ? '' : String(error);
  }
}
