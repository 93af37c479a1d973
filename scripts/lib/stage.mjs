// Lays out what a VSIX may be made from in a folder of its own. vsce looks at every file below its folder, and the repository
// also holds caches with tens of thousands; `.vscodeignore` still decides what goes in. Tested by test/unit/package.test.ts.
// @ts-check

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './dependencies.mjs';

const candidates = ['.vscodeignore', 'README.md', 'CHANGELOG.md', 'LICENSE', 'l10n', 'media', 'dist', 'src', 'webview'];

/**
 * Fills the folder anew and answers it. The manifest goes in without what only developers of this repository need.
 * @param {string} [folder]
 */
export function stage(folder = join(repository, 'out', 'vsix')) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const translations = readdirSync(repository).filter((file) => /^package\.nls(\.[\w-]+)?\.json$/.test(file));
  for (const name of [...candidates, ...translations]) {
    const from = join(repository, name);
    if (!existsSync(from)) continue;
    cpSync(from, join(folder, name), { recursive: true, filter: (file) => !file.endsWith('.vsix') });
  }
  const { scripts, dependencies, devDependencies, ...manifest } = JSON.parse(
    readFileSync(join(repository, 'package.json'), 'utf8'),
  );
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}
