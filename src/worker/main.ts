/**
 * The worker's command line, built as `dist/worker.js`. It knows the bus and nothing of VS Code; its tests are in `test/worker`.
 */
import { parseArgs } from 'node:util';
import { runSample } from './sample/runSample';

const usage = `Usage: node worker.js <command> [options]

Commands
  sample --url <redis://…>   fill an empty Redis with sample streams and keep them moving

Exit codes
  0  ended as asked
  1  failed; the last line says why
  2  the command line is wrong
`;

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'sample': {
      const { values } = parseArgs({ args: rest, options: { url: { type: 'string' } } });
      if (values.url === undefined) throw new UsageError('sample needs --url');
      return runSample(values.url);
    }
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

class UsageError extends Error {}

function isUsageError(error: unknown): boolean {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
  );
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const isUsage = isUsageError(error);
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}` : ''}`);
    process.exitCode = isUsage ? 2 : 1;
  },
);
