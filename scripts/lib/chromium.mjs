// Finds the Chromium that the webview and host tiers drive, and installs Debian's where that is allowed. It never
// downloads a browser build of its own. Tested by test/host/chromium.test.ts.
// @ts-check

import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const names = ['chromium', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** Flags for a headless Chromium that stays off the network and runs as root. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * The path of a Chromium: the environment variable CHROMIUM, one on PATH, or Debian's package, installed now.
 * @param {{ log?: (line: string) => void, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<string>}
 */
export function ensureChromium({ log, env = process.env } = {}) {
  return Promise.resolve().then(() => findOrInstall(env, log));
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {((line: string) => void) | undefined} log
 * @returns {string}
 */
function findOrInstall(env, log) {
  const wished = env.CHROMIUM;
  if (wished !== undefined && wished !== '') {
    const path = isAbsolute(wished) ? (isExecutable(wished) ? wished : undefined) : onPath(wished, env);
    if (path === undefined) throw new Error(`CHROMIUM is ${wished}, and that is not a program that can be run.`);
    return path;
  }
  const found = findChromium(env);
  if (found !== undefined) return found;
  const apt = aptCommand(env);
  if (apt !== undefined) {
    log?.('Installing the package chromium with apt-get.');
    run([...apt, 'update', '-q'], env);
    const failure = run([...apt, 'install', '-y', '-q', '--no-install-recommends', 'chromium'], env);
    const installed = findChromium(env);
    if (installed !== undefined) return installed;
    throw new Error(
      `apt-get install chromium left no Chromium on PATH: ${failure}. Install it by hand, or set CHROMIUM.`,
    );
  }
  throw new Error(
    `No Chromium on PATH (looked for ${names.join(', ')}). ` +
      'Install one (on Debian: apt-get install chromium), or set CHROMIUM to the path of a Chrome or Chromium.',
  );
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
function findChromium(env) {
  for (const name of names) {
    const path = onPath(name, env);
    if (path !== undefined) return path;
  }
  return undefined;
}

/**
 * @param {string} name
 * @param {NodeJS.ProcessEnv} env
 */
function onPath(name, env) {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * How apt-get may be run without asking anybody, if it may.
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[] | undefined}
 */
function aptCommand(env) {
  if (onPath('apt-get', env) === undefined) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  if (onPath('sudo', env) === undefined) return undefined;
  return run(['sudo', '-n', 'true'], env) === '' ? ['sudo', '-n', 'apt-get'] : undefined;
}

/**
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} empty on success, else what went wrong
 */
function run([program = '', ...args], env) {
  const { status, error, stderr } = spawnSync(program, args, {
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status === 0) return '';
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  return error?.message ?? (lastLine === '' ? `exit code ${status}` : lastLine);
}
