/**
 * The worker's command line, built as `dist/worker.js`. It knows the bus and nothing of VS Code; its tests are in `test/worker`.
 */
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { watchLaunch } from './run/launchWatch';
import { runWorker } from './run/runWorker';
import { readRunOptions } from './run/runOptions';
import { runSample } from './sample/runSample';
import { runSandbox } from './sandbox/runSandbox';
import { UsageError } from './usageError';

const usage = `Usage: node worker.js <command> [options]

Commands
  sample --url <redis://…>   fill an empty Redis with sample streams and keep them moving
  sandbox [--port <n>]       serve a Redis of its own with the same streams on loopback, in memory; nothing needs to be installed
  run                        hand the messages of a stream and group to a handler, until SIGINT or SIGTERM; a second one ends it at once

Options of run
  --url <redis://…>          or REDIS_STREAMS_URL, which keeps a password out of the process list
  --stream, --group <name>   or REDIS_STREAMS_STREAM, REDIS_STREAMS_GROUP
  --consumer <name>          or REDIS_STREAMS_CONSUMER; default: host, pid and chance
  --handler <file>           or REDIS_STREAMS_HANDLER: exports a function (default, or named handle); default: the sample's
  --max-messages <n>         end after this many
  --create-group             create the stream and group when they are missing, from --from <0|$|id>, default 0
  --reclaim                  take over what others let lie for --min-idle-ms, default 30000
  --dead-letter              move a message to the dead letters after three failed deliveries
  --concurrency <n>          handlers at once, default 10
  --handler-timeout-ms <n>   default 30000, 0 for none
  --heartbeat-ms, --close-ms <n>
  --log <text|json>
  --launch-file <file>       all of this in a file, as an editor writes it; it is deleted at once

Exit codes
  0  ended as asked
  1  failed; the last line says why
  2  the command line is wrong
  3  the handler file cannot be used
  4  the handler ended the process, or something threw outside of any message
  5  the editor that launched it is gone
  130, 143  ended at once by a second SIGINT or SIGTERM
`;

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'sample': {
      const { values } = parseArgs({ args: rest, options: { url: { type: 'string' } } });
      if (values.url === undefined) throw new UsageError('sample needs --url');
      return runSample(values.url);
    }
    case 'sandbox': {
      const { values } = parseArgs({ args: rest, options: { port: { type: 'string' } } });
      return runSandbox({ port: readPort(values.port ?? '0') });
    }
    case 'run':
      return runWorker(readRunOptions(rest, process.env));
    case 'watch-launch':
      return watchLaunch(rest[0]);
    case 'help':
    case '--help':
      process.stdout.write(usage);
      return 0;
    case undefined:
      throw new UsageError('Which command?');
    default:
      throw new UsageError(`There is no command ${JSON.stringify(command)}`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`--port is ${JSON.stringify(text)}: give 0 to 65535`);
  return port;
}

function isUsageError(error: unknown): boolean {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
  );
}

// The heartbeat thread of the bus loads this file too.
if (isMainThread) start();

function start(): void {
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      const isUsage = isUsageError(error);
      // Not to stderr by itself: debuggers show what goes through the console.
      console.error(`${error instanceof Error ? error.message : String(error)}${isUsage ? `\n\n${usage}` : ''}`);
      process.exitCode = isUsage ? 2 : 1;
    },
  );
}
