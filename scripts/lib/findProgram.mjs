// Looks a program up the way a shell does. Tested by test/unit/serverScripts.test.ts.
// @ts-check

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The first executable file called `name` on PATH, then in `alsoIn`.
 * @param {string} name
 * @param {string[]} [alsoIn] folders that are often not on PATH
 * @returns {string | undefined}
 */
export function findProgram(name, alsoIn = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...alsoIn].filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Whether `path` is a file that this user may execute.
 * @param {string} path
 * @returns {boolean}
 */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
