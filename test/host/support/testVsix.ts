// The built extension that the host tier tests: named by the environment variable VSIX, or the one in dist.
// It never builds anything. Tested by every test of the tier.
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repositoryRoot } from './repositoryRoot';

const shipped = ['src', 'webview', 'media', 'l10n', 'package.json', 'package.nls.json', 'esbuild.js'];

/** The absolute path of the VSIX under test; throws what to run when it is missing or older than what it is built from. */
export function testVsix(): string {
  const wished = process.env.VSIX;
  if (wished !== undefined && wished !== '') {
    const path = resolve(wished);
    if (modifiedAt(path) === undefined) throw new Error(`VSIX is ${wished}, and there is no such file.`);
    return path;
  }
  const path = join(repositoryRoot, 'dist', 'redis-streams-debugger.vsix');
  const builtAt = modifiedAt(path);
  if (builtAt === undefined) throw new Error(`${path} is missing: run npm run package.`);
  const newer = newest(shipped.map((name) => join(repositoryRoot, name)));
  if (newer !== undefined && newer.at > builtAt) {
    throw new Error(`${path} is older than ${newer.path}: run npm run package.`);
  }
  return path;
}

interface Dated {
  readonly path: string;
  readonly at: number;
}

function newest(paths: readonly string[]): Dated | undefined {
  let found: Dated | undefined;
  for (const path of paths.flatMap(filesIn)) {
    const at = modifiedAt(path) ?? 0;
    if (found === undefined || at > found.at) found = { path, at };
  }
  return found;
}

function filesIn(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)));
}

function modifiedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
