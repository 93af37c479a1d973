// Programs that tests start many times: one that is transpiled at each start takes a second longer to be there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const bundled = new Map<string, Promise<string>>();

/** Bundles a TypeScript program once in this process, and answers the file to start; it is removed when this process ends. */
export function bundledProgram(entry: string): Promise<string> {
  let file = bundled.get(entry);
  if (!file) bundled.set(entry, (file = bundle(entry)));
  return file;
}

async function bundle(entry: string): Promise<string> {
  const name = path.basename(entry, '.ts');
  const folder = mkdtempSync(path.join(tmpdir(), `redis-streams-${name}-`));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const outfile = path.join(folder, `${name}.js`);
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['pg-native'],
    logLevel: 'silent',
  });
  return outfile;
}
