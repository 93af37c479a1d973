// Lists or installs the server versions of the matrix: `node scripts/servers.mjs [--list | --install | --refresh]`.
// The binaries it prints can be given to any tier as REDIS_SERVER.
// @ts-check

import { ensureServer, findServer, serverMatrix } from './lib/serverMatrix.mjs';

const [mode = '--list'] = process.argv.slice(2);
if (!['--list', '--install', '--refresh'].includes(mode)) {
  console.error(`Unknown option ${mode}. Usage: node scripts/servers.mjs [--list | --install | --refresh]`);
  process.exit(2);
}

let missing = 0;
for (const { suite, kind, usually } of serverMatrix) {
  const startedAt = performance.now();
  const server =
    mode === '--list'
      ? ((await findServer(suite, kind)) ?? { reason: `not installed (usually ${usually})` })
      : await ensureServer(suite, kind, { log: console.log, refresh: mode === '--refresh' });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if ('reason' in server) {
    missing += 1;
    console.log(`${suite.padEnd(13)}${kind.padEnd(8)}${server.reason}`);
  } else {
    console.log(
      `${suite.padEnd(13)}${kind.padEnd(8)}${server.version.padEnd(9)}${server.binary}${mode === '--list' ? '' : `  (${seconds} s)`}`,
    );
  }
}
process.exitCode = mode !== '--list' && missing > 0 ? 1 : 0;
