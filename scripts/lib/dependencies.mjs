// Installs the packages of package-lock.json when they are missing or out of date, and builds. Used by `npm start` and
// `npm test` before anything else runs. Knows nothing of servers, browsers or editors. Tested by test/unit/dependencies.test.ts.
// @ts-check

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const repository = fileURLToPath(new URL('../..', import.meta.url));

const oldestNode = [20, 19];

/**
 * Refuses a Node that the tools do not run on, with a sentence that says which does.
 * @param {string} version such as `20.19.0`
 */
export function checkNodeVersion(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = oldestNode;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new Error(
    `This is Node ${version}; Node ${oldestNode.join('.')} or newer is needed (Debian: the package nodejs of a newer suite, or any other way to install it).`,
  );
}

/**
 * Whether `npm ci` has to run: nothing is installed, or the lock file names a package or a version that is not. Optional
 * packages of other platforms are not missed.
 * @param {string} [root]
 */
export function needsInstall(root = repository) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return true;
  const wanted = Object.entries(readPackages(join(root, 'package-lock.json')) ?? {});
  return wanted.some(([folder, { version, optional }]) => {
    const found = installed[folder];
    if (folder === '' || (found === undefined && optional === true)) return false;
    return found?.version !== version;
  });
}

/**
 * @param {string} file a lock file
 * @returns {Record<string, { version?: string, optional?: boolean }> | undefined} undefined when there is none
 */
function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined;
}

/**
 * Runs `npm ci` when it has to.
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function ensureDependencies({ log } = {}) {
  checkNodeVersion();
  if (!needsInstall()) return;
  log?.('Installing the packages of package-lock.json (npm ci).');
  await runProgram('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

/**
 * Runs a program in the repository, showing its output; rejects when it does not end with 0.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<void>}
 */
export function runProgram(command, args, { env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: repository, env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${[command, ...args].join(' ')} ended with ${signal ?? code}`));
    });
  });
}
