// Lays out what a VSIX may be made from in a folder of its own. vsce looks at every file below its folder, and the repository
// also holds caches with tens of thousands; `.vscodeignore` still decides what goes in. Tested by test/unit/package.test.ts.
// @ts-check

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './dependencies.mjs';

const candidates = ['.vscodeignore', 'README.md', 'CHANGELOG.md', 'LICENSE', 'l10n', 'media', 'dist', 'src', 'webview'];

/** What the manifest says to developers of this repository only. */
const developersOnly = ['scripts', 'dependencies', 'devDependencies'];

/**
 * Fills the folder anew and answers it.
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
  const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const shipped = Object.entries(manifest).filter(([part]) => !developersOnly.includes(part));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(Object.fromEntries(shipped), null, 2)}\n`);
  return folder;
}
