// Finds PostgreSQL's programs, which Debian keeps off PATH, and installs the package when that is possible. Starting a
// server is test/support/postgres.ts. Tested by test/worker/postgres.test.ts.
// @ts-check

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from './apt.mjs';
import { findProgram, isExecutable } from './findProgram.mjs';

const debianRoot = '/usr/lib/postgresql';

/**
 * The folder of `initdb` and `postgres`: `POSTGRES_BIN`, that of the initdb on PATH, or Debian's newest.
 * @returns {string | undefined}
 */
export function findPostgres() {
  const wished = process.env.POSTGRES_BIN;
  if (wished !== undefined && wished !== '') {
    if (isExecutable(join(wished, 'initdb'))) return wished;
    throw new Error(`POSTGRES_BIN is ${wished}, a folder without initdb: give the folder of PostgreSQL's programs.`);
  }
  const onPath = findProgram('initdb');
  if (onPath !== undefined) return dirname(realpathSync(onPath));
  const versions = existsSync(debianRoot) ? readdirSync(debianRoot).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(debianRoot, version, 'bin'))
    .find((folder) => isExecutable(join(folder, 'initdb')));
}

/**
 * `findPostgres`, after installing Debian's package when there is none and that is possible.
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {string}
 */
export function ensurePostgres(options = {}) {
  const found = findPostgres();
  if (found !== undefined) return found;
  installPackages(['postgresql'], {
    why: 'the worker tests keep the record of processed messages in a PostgreSQL of their own',
    byHand: 'Install PostgreSQL 14 or newer, or set POSTGRES_BIN to the folder of its programs.',
    ...options,
  });
  const installed = findPostgres();
  if (installed === undefined)
    throw new Error(`The package postgresql is installed but ${debianRoot} holds no initdb.`);
  return installed;
}

/**
 * The user to run PostgreSQL as: it refuses root, so root uses a system user; others run it themselves.
 * @returns {{ uid: number, gid: number } | undefined}
 */
export function postgresUser() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root and there is neither a user postgres nor nobody: run the tests as another user.',
  );
}
