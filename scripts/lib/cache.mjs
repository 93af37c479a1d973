// The cache folder for heavy downloads that are no dependency of the extension: the VS Code host, server builds.
// A folder in it is either complete or absent: it is filled beside its place and then renamed.
// Knows nothing of what it holds. Tested by test/host/cache.test.ts.
// @ts-check

import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const longestWaitMs = 10 * 60_000;

/** @type {Map<string, Promise<string>>} */
const filling = new Map();

/**
 * The absolute path of the cache folder: `REDIS_STREAMS_CACHE`, or `.cache` in the repository root.
 * @returns {string}
 */
export function cacheFolder() {
  const wished = process.env.REDIS_STREAMS_CACHE;
  if (wished !== undefined && wished !== '') {
    if (!isAbsolute(wished)) throw new Error(`REDIS_STREAMS_CACHE is ${wished}: give an absolute path.`);
    return wished;
  }
  return resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '.cache');
}

/**
 * The complete cached folder `name`, filled first by `fill(folder)` when it is absent. An interrupted or failed fill
 * leaves nothing that a later call would take for complete; a second process waits for the first one's fill.
 * @param {string} name names the content and its version
 * @param {(folder: string) => Promise<void>} fill
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<string>}
 */
export function cachedFolder(name, fill, options = {}) {
  const target = join(cacheFolder(), name);
  const running = filling.get(target);
  if (running !== undefined) return running;
  const filled = fillOnce(target, fill, options).finally(() => filling.delete(target));
  filling.set(target, filled);
  return filled;
}

/**
 * @param {string} target
 * @param {(folder: string) => Promise<void>} fill
 * @param {{ log?: (line: string) => void }} options
 * @returns {Promise<string>}
 */
async function fillOnce(target, fill, options) {
  const root = dirname(target);
  const name = basename(target);
  await mkdir(root, { recursive: true });
  const deadline = Date.now() + longestWaitMs;
  let told = false;
  for (;;) {
    if (await exists(target)) return target;
    const others = await livePartials(root, name);
    if (others.length === 0 || Date.now() > deadline) break;
    if (!told) options.log?.(`Waiting for process ${others.join(', ')}, which is filling ${target}.`);
    told = true;
    await sleep(250);
  }
  const partial = join(root, `${name}.partial-${process.pid}`);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial);
  try {
    await fill(partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (await exists(target)) return target;
    throw error;
  }
  return target;
}

/**
 * Pids of other processes that are filling `name` now; what dead ones left is removed on the way.
 * @param {string} root
 * @param {string} name
 * @returns {Promise<number[]>}
 */
async function livePartials(root, name) {
  const prefix = `${name}.partial-`;
  const live = [];
  for (const entry of await readdir(root)) {
    if (!entry.startsWith(prefix)) continue;
    const pid = Number(entry.slice(prefix.length));
    if (pid !== process.pid && isAlive(pid)) live.push(pid);
    else if (pid !== process.pid) await rm(join(root, entry), { recursive: true, force: true });
  }
  return live;
}

/**
 * @param {number} pid
 * @returns {boolean}
 */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * @param {string} path
 * @returns {Promise<boolean>}
 */
async function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}
