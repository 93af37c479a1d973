// Which processes belong together: the descendants of a process, and every process that carries a mark in its
// environment, which finds children whose parent is gone. Reads /proc, so Linux only; elsewhere it finds nothing.
// Tested by test/host/guardedProcess.test.ts.
// @ts-check

import { readdirSync, readFileSync } from 'node:fs';

/** The environment variable that marks the processes of one tree; children inherit it. */
export const markVariable = 'REDIS_STREAMS_PROCESS_TREE';

/** @typedef {{ pid: number, parent: number, command: string }} ProcessEntry */

/**
 * All living processes that descend from `rootPid` or carry `mark`, without this process itself.
 * @param {{ rootPid?: number | undefined, mark: string }} which
 * @returns {ProcessEntry[]}
 */
export function processesOf({ rootPid, mark }) {
  const all = livingProcesses();
  const members = new Set(rootPid === undefined ? [] : [rootPid]);
  for (const { pid } of all) if (carries(pid, mark)) members.add(pid);
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  members.delete(process.pid);
  return all.filter(({ pid }) => members.has(pid));
}

/** @returns {ProcessEntry[]} */
function livingProcesses() {
  const found = [];
  for (const name of processFolders()) {
    const status = readOf(name, 'stat');
    const rest = status.slice(status.lastIndexOf(')') + 2).split(' ');
    const [state, parent] = rest;
    if (state === undefined || parent === undefined || state === 'Z' || state === 'X' || status === '') continue;
    const command = readOf(name, 'cmdline').replaceAll('\0', ' ').trim();
    found.push({ pid: Number(name), parent: Number(parent), command });
  }
  return found;
}

/** @returns {string[]} */
function processFolders() {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/**
 * @param {number} pid
 * @param {string} mark
 */
function carries(pid, mark) {
  return readOf(String(pid), 'environ').split('\0').includes(`${markVariable}=${mark}`);
}

/**
 * @param {string} pid
 * @param {string} file
 * @returns {string} empty when the process is gone or belongs to another user
 */
function readOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
