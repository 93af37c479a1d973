// Finds a Python that has the package redis, which one test of the bus writes foreign journals with, and installs Debian's when that is
// possible. Tested by test/bus/formats.test.ts.
// @ts-check

import { spawnSync } from 'node:child_process';
import { installPackages } from './apt.mjs';
import { findProgram } from './findProgram.mjs';

/**
 * A Python 3 that can `import redis`: `PYTHON`, the one on PATH, or Debian's own.
 * @returns {string | undefined}
 */
export function findPythonRedis() {
  const candidates = [process.env.PYTHON, findProgram('python3'), '/usr/bin/python3'];
  return candidates.find((program) => program !== undefined && program !== '' && hasRedis(program));
}

/**
 * `findPythonRedis`, after installing Debian's packages when there is none and that is possible; else an error that says why not.
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {string}
 */
export function ensurePythonRedis(options = {}) {
  const found = findPythonRedis();
  if (found !== undefined) return found;
  installPackages(['python3', 'python3-redis'], {
    why: 'a test of the bus writes a delivery journal in Python',
    byHand: 'Install Python 3 with its package redis, or set PYTHON to one that has it.',
    ...options,
  });
  const installed = findPythonRedis();
  if (installed === undefined) throw new Error('The package python3-redis is installed but no python3 can import it.');
  return installed;
}

/** @param {string} program */
function hasRedis(program) {
  return spawnSync(program, ['-c', 'import redis'], { stdio: 'ignore' }).status === 0;
}
