/**
 * The worker's command line, built as `dist/worker.js`. It knows the bus and nothing of VS Code; its tests are in `test/worker`.
 *
 * A command is loaded when it is asked for: a debug session must not wait for the gateway's libraries.
 */
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { watchLaunch } from './run/launchWatch';
import { UsageError } from './usageError';
import { isCommand, usageOf } from './usage';

async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [command, ...rest] = args;
  if (command === 'watch-launch') return watchLaunch(rest[0]);
  if (command === 'help' || command === '--help' || command === '-h') return printUsage(rest[0]);
  if (isCommand(command) && (rest.includes('--help') || rest.includes('-h'))) return printUsage(command);
  switch (command) {
    case 'run':
      return run(rest, env);
    case 'gateway': {
      const { readGatewayOptions } = await import('./gateway/gatewayOptions');
      const options = readGatewayOptions(rest, env);
      return (await import('./gateway/runGateway')).runGateway(options);
    }
    case 'selftest':
      return (await import('./selftest/runSelftest')).runSelftest(rest, env);
    case 'lessons':
      return (await import('./lessons/runLessons')).runLessons(rest, env);
    case 'inspect':
    case 'dlq':
    case 'consumers':
    case 'trim':
      return (await import('./ops/runOps')).runOps(command, rest, env);
    case 'sample': {
      const { values } = parseArgs({ args: rest, options: { url: { type: 'string' } } });
      if (values.url === undefined) throw new UsageError('sample needs --url');
      return (await import('./sample/runSample')).runSample(values.url);
    }
    case 'sandbox': {
      const { values } = parseArgs({ args: rest, options: { port: { type: 'string' } } });
      return (await import('./sandbox/runSandbox')).runSandbox({ port: readPort(values.port ?? '0') });
    }
    case undefined:
      throw new UsageError('Which command?');
    default:
      throw new UsageError(`There is no command ${JSON.stringify(command)}`);
  }
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { isRunApplication } = await import('./app/isRunApplication');
  if (isRunApplication(args, env)) {
    const { readRunApplicationOptions, runApplication } = await import('./app/runApplication');
    return runApplication(readRunApplicationOptions(args, env));
  }
  const { readRunOptions } = await import('./run/runOptions');
  const options = readRunOptions(args, env);
  if (options.url.startsWith('embedded:')) {
    throw new UsageError(
      'run --stream: an engine at embedded:// lives in this process, and nobody else could publish to it. ' +
        'Give the --url of a Redis; sandbox serves one that needs no installation',
    );
  }
  return (await import('./run/runWorker')).runWorker(options);
}

function printUsage(command: string | undefined): number {
  process.stdout.write(usageOf(command));
  return 0;
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

// The heartbeat thread of the bus loads this file too, and finds its program in the bus.
if (isMainThread) start();
else void import('../bus');

/** Node quotes an argument that stands by itself, which may be a URL with its password. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isQuoting = 'code' in error && error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL';
  return isQuoting
    ? 'There is an argument without the name of an option before it, which is not shown here'
    : error.message;
}

function start(): void {
  const args = process.argv.slice(2);
  main(args, process.env).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      const isUsage = isUsageError(error);
      const hint = isUsage ? `\n\n${usageOf(args[0])}` : '';
      // Not to stderr by itself: debuggers show what goes through the console.
      console.error(`${messageOf(error)}${hint}`);
      process.exitCode = isUsage ? 2 : 1;
    },
  );
}
