// Finds, installs and starts redis-server on a loopback port with a folder of its own and no persistence. A server never
// outlives the process that started it: a small shell waits on a pipe and ends the server when that pipe breaks, however
// the starter died. Knows nothing of clients, clusters or versions: test/support/redisServer.ts builds on it.
// Tested by test/bus/support.test.ts.
// @ts-check

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from './apt.mjs';
import { findProgram, isExecutable } from './findProgram.mjs';
import { freePort } from './freePort.mjs';
import { ask } from './respAsk.mjs';

const host = '127.0.0.1';
const startLimitMs = 30_000;
const lifeline = 'read -r line || { kill -9 "$1" 2>/dev/null; sleep 0.2; rm -rf "$2"; }';

/** @typedef {(line: string) => void} Log */
/** @typedef {import('node:tls').ConnectionOptions} TlsOptions */
/**
 * @typedef {object} ServerOptions
 * @property {string} [binary] default: `findRedisServer()`
 * @property {number} [port] default: a free one
 * @property {string} [dir] an existing folder to run in; default: a new temporary one
 * @property {boolean} [removeDir] whether `stop` removes the folder; default: when it is a new one
 * @property {string[]} [config] lines of redis.conf, after ours
 * @property {string[]} [args] more command-line arguments, after the configuration file
 * @property {TlsOptions} [tls] how to reach the port when it speaks TLS
 * @property {boolean} [clusterBus] pick a port whose cluster bus port (+10000) is free too
 */
/**
 * @typedef {object} RunningServer
 * @property {string} host
 * @property {number} port
 * @property {number} pid
 * @property {string} dir
 * @property {Promise<void>} exited
 * @property {() => boolean} isRunning
 * @property {() => string} log what the server wrote to its log since this start
 * @property {(signal?: NodeJS.Signals) => Promise<void>} kill sends the signal (default SIGKILL) and, when it is one
 *   that ends the server, waits for its end; the folder stays
 * @property {() => Promise<void>} stop ends the server and removes its folder, unless that is to stay
 */

/** @type {Set<{ pid: number, dir: string | undefined }>} */
const live = new Set();
let hooked = false;

/**
 * The redis-server to use: `REDIS_SERVER`, else the one on PATH; undefined when there is none.
 * @returns {string | undefined}
 */
export function findRedisServer() {
  const wished = process.env.REDIS_SERVER;
  if (wished === undefined || wished === '') return findProgram('redis-server', ['/usr/bin', '/usr/local/bin']);
  const path = wished.includes('/') ? wished : findProgram(wished);
  if (path === undefined || !isExecutable(path)) {
    throw new Error(`REDIS_SERVER is ${wished}, which is not an executable file: give the path of a redis-server.`);
  }
  return path;
}

/**
 * `findRedisServer`, after installing Debian's package when there is none and that is possible.
 * @param {{ log?: Log }} [options]
 * @returns {string}
 */
export function ensureRedisServer(options = {}) {
  const found = findRedisServer();
  if (found !== undefined) return found;
  installPackages(['redis-server'], {
    why: 'the tests and the demo start a Redis of their own on a free loopback port',
    byHand: 'Install Redis 6.2 or newer so that redis-server is on PATH, or set REDIS_SERVER to its path.',
    ...options,
  });
  const installed = findRedisServer();
  if (installed === undefined)
    throw new Error('The package redis-server is installed but there is no redis-server on PATH.');
  return installed;
}

/**
 * What a server binary says it is, for example `{ name: 'Redis', version: '7.0.15' }`.
 * @param {string} binary
 * @returns {{ name: string, version: string }}
 */
export function readServerVersion(binary) {
  const run = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  const match = /^(\w+) server v=(\S+)/.exec(run.error === undefined ? run.stdout : '');
  if (match?.[1] !== undefined && match[2] !== undefined) return { name: match[1], version: match[2] };
  const said = run.error?.message ?? `${run.stdout}${run.stderr}`.trim();
  throw new Error(
    `${binary} --version did not say which server it is: ${said === '' ? `ended with ${run.status}` : said}`,
  );
}

/**
 * A new temporary folder for a server.
 * @returns {string}
 */
export function makeServerDir() {
  return mkdtempSync(join(tmpdir(), 'redis-streams-server-'));
}

/**
 * Starts a server and resolves when it accepts connections and answers PING.
 * @param {ServerOptions} [options]
 * @returns {Promise<RunningServer>}
 */
export async function startRedisServer(options = {}) {
  const binary = options.binary ?? findRedisServer();
  if (binary === undefined) {
    throw new Error('There is no redis-server on PATH: install Redis 6.2 or newer, or set REDIS_SERVER to its path.');
  }
  const dir = options.dir ?? makeServerDir();
  const ownDir = (options.removeDir ?? options.dir === undefined) ? dir : undefined;
  const attempts = options.port === undefined ? 5 : 1;
  try {
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freePort({ clusterBus: options.clusterBus === true }));
      const outcome = await startOnce(binary, port, dir, ownDir, options);
      if (typeof outcome !== 'string') return outcome;
      if (attempt < attempts && outcome.includes('Address already in use')) continue;
      throw new Error(`${binary} did not start on port ${port}: ${outcome}`);
    }
  } catch (error) {
    if (ownDir !== undefined) rmSync(ownDir, { recursive: true, force: true });
    throw error;
  }
}

/**
 * @param {string} binary
 * @param {number} port
 * @param {string} dir
 * @param {string | undefined} ownDir
 * @param {ServerOptions} options
 * @returns {Promise<RunningServer | string>} the server, or what it said when it ended instead
 */
async function startOnce(binary, port, dir, ownDir, options) {
  const logFile = join(dir, 'server.log');
  const configFile = join(dir, 'redis.conf');
  writeFileSync(logFile, '');
  writeFileSync(configFile, configText(port, dir, logFile, options), { mode: 0o600 });
  const child = spawn(binary, [configFile, ...(options.args ?? [])], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr = `${stderr}${text}`.slice(-4000);
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return error instanceof Error ? error.message : 'it could not be started';
  }
  const state = { running: true };
  const watcher = watch(pid, ownDir);
  const entry = { pid, dir: ownDir };
  live.add(entry);
  hookExit();
  const exited = /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      child.once('exit', () => {
        state.running = false;
        watcher.release();
        live.delete(entry);
        resolve();
      });
    })
  );
  const isRunning = () => state.running;
  const readLog = () => readFileSync(logFile, 'utf8');
  /** @param {NodeJS.Signals} [signal] */
  const kill = async (signal = 'SIGKILL') => {
    if (!state.running) return;
    signalIfAlive(pid, signal);
    if (['SIGSTOP', 'SIGCONT', 'SIGUSR1', 'SIGUSR2', 'SIGHUP'].includes(signal)) return;
    await exited;
  };
  const stop = async () => {
    await kill('SIGKILL');
    if (ownDir !== undefined) rmSync(ownDir, { recursive: true, force: true });
  };
  const deadline = Date.now() + startLimitMs;
  while (isRunning() && Date.now() < deadline) {
    if (isUp(readLog()) && (await answersPing(port, options.tls))) {
      return { host, port, pid, dir, exited, isRunning, log: readLog, kill, stop };
    }
    await Promise.race([sleep(15), exited]);
  }
  const why = isRunning() ? `no answer to PING within ${startLimitMs / 1000} s` : 'it ended';
  await kill('SIGKILL');
  return [why, ...readLog().trim().split('\n').slice(-5), stderr.trim()].filter((line) => line !== '').join('\n');
}

/**
 * @param {number} port
 * @param {string} dir
 * @param {string} logFile
 * @param {ServerOptions} options
 * @returns {string}
 */
function configText(port, dir, logFile, options) {
  const lines = [
    `bind ${host}`,
    options.tls === undefined ? `port ${port}` : `port 0\ntls-port ${port}`,
    `dir ${JSON.stringify(dir)}`,
    `logfile ${JSON.stringify(logFile)}`,
    'daemonize no',
  ];
  const isSentinel = options.args?.includes('--sentinel') === true;
  if (!isSentinel) lines.push('save ""', 'appendonly no');
  return [...lines, ...(options.config ?? []), ''].join('\n');
}

/**
 * Whether the log says that our own server owns its port: a PING alone could be answered by somebody else's.
 * @param {string} log
 * @returns {boolean}
 */
function isUp(log) {
  return log.includes('Ready to accept connections') || log.includes('Sentinel ID is');
}

/**
 * @param {number} port
 * @param {TlsOptions} [tls]
 * @returns {Promise<boolean>}
 */
async function answersPing(port, tls) {
  try {
    const reply = await ask(port, ['PING'], { timeoutMs: 2000, ...(tls === undefined ? {} : { tls }) });
    return ['+PONG', '-NOAUTH', '-NOPERM', '-MASTERDOWN'].some((prefix) => reply.startsWith(prefix));
  } catch {
    return false;
  }
}

/**
 * A shell in its own process group that ends the server when this process is gone.
 * @param {number} pid
 * @param {string | undefined} dir
 * @returns {{ release: () => void }}
 */
function watch(pid, dir) {
  const watcher = spawn('sh', ['-c', lifeline, 'lifeline', String(pid), dir ?? '/nonexistent'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.stdin.on('error', () => undefined);
  watcher.on('error', () => undefined);
  watcher.unref();
  if ('unref' in watcher.stdin && typeof watcher.stdin.unref === 'function') watcher.stdin.unref();
  return { release: () => void watcher.stdin.end('released\n') };
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function signalIfAlive(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may have ended by itself a moment ago.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function hookExit() {
  if (hooked) return;
  hooked = true;
  process.on('exit', () => {
    for (const { pid, dir } of live) {
      signalIfAlive(pid, 'SIGKILL');
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    }
  });
}
