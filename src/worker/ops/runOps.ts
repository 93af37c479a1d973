/**
 * Operating a stream from the command line: `inspect`, `dlq`, `consumers reap`, `trim`. Thin: the bus does the work, in guarded scripts.
 *
 * With `--json` every line is an object. Its tests are in `test/worker/ops.test.ts`.
 */
import { formatDuration } from '../../base/duration';
import type { ConsumerDescription, Figure, StreamInspection } from '../../bus';
import { UsageError } from '../usageError';
import { runDeadLetters } from './deadLetters';
import { readEntryId, withTarget } from './opsTarget';
import type { OpsTarget } from './opsTarget';
import { endWithReader, printJson, printLine, printTable } from './output';

/** Runs a command; answers the exit code. */
export function runOps(
  command: 'inspect' | 'dlq' | 'consumers' | 'trim',
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  endWithReader();
  switch (command) {
    case 'inspect':
      return withTarget(args, env, {}, inspect);
    case 'dlq':
      return runDeadLetters(args, env);
    case 'consumers': {
      const [verb, ...rest] = args;
      if (verb !== 'reap') throw new UsageError(`consumers: expected reap, got ${JSON.stringify(verb ?? '')}`);
      return withTarget(rest, env, { valued: ['idle-ms'] }, reap);
    }
    case 'trim':
      return withTarget(args, env, { valued: ['max-length', 'min-id'] }, trim, (settings) => {
        const given = [settings.text('max-length'), settings.text('min-id')].filter((value) => value !== undefined);
        if (given.length !== 1) throw new UsageError('trim: give --max-length or --min-id, one of them');
      });
  }
}

async function inspect({ bus, stream, isJson }: OpsTarget): Promise<number> {
  const inspection = await bus.inspect(stream);
  if (isJson) {
    printJson(inspection);
    return 0;
  }
  printInspection(inspection);
  return 0;
}

function printInspection({ key, length, firstId, lastId, groups }: StreamInspection): void {
  printLine(`${key}: ${length} entries${firstId === null ? '' : `, ${firstId} to ${lastId ?? ''}`}`);
  printTable(
    ['GROUP', 'CONSUMER', 'PENDING', 'LAG', 'LAST DELIVERED', 'OLDEST PENDING', 'IDLE'],
    groups.flatMap(({ name, pending, lag, lastDeliveredId, oldestPendingMs, consumers }) => [
      [
        name,
        '',
        String(pending),
        lag === null ? 'unknown' : String(lag),
        lastDeliveredId,
        oldestPendingMs === null ? '' : formatDuration(oldestPendingMs),
        '',
      ],
      ...consumers.map((consumer) => ['', consumer.name, String(consumer.pending), '', '', '', idleOf(consumer)]),
    ]),
  );
}

/** How long since it last got something; servers before 7.2 tell that as idle. */
function idleOf({ sinceSuccessMs }: ConsumerDescription): string {
  if (sinceSuccessMs.kind === 'never') return 'never got anything';
  const figure: Figure = sinceSuccessMs;
  return figure.kind === 'unknown' ? 'unknown' : formatDuration(figure.value);
}

async function reap({ bus, stream, group, isJson, settings }: OpsTarget): Promise<number> {
  const minIdleMs = settings.whole('idle-ms', { default: 3_600_000, min: 0, max: 2 ** 31 - 1 });
  const results = await bus.reap(stream, group, { minIdleMs });
  if (isJson) for (const result of results) printJson(result);
  else
    printTable(
      ['CONSUMER', 'RESULT'],
      results.map(({ consumer, status }) => [consumer, status]),
    );
  return 0;
}

async function trim({ bus, stream, isJson, settings }: OpsTarget): Promise<number> {
  const minId = settings.text('min-id');
  const policy =
    minId === undefined
      ? { maxLength: settings.whole('max-length', { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER }) }
      : { minId: readEntryId(minId, '--min-id') };
  const report = await bus.trim(stream, policy);
  if (isJson) {
    printJson(report);
    return 0;
  }
  const { heldBy } = report;
  const why =
    heldBy === undefined
      ? ''
      : heldBy === 'no-groups'
        ? '; it has no groups, so nobody can say what is still needed'
        : `; group ${heldBy.group} still needs what comes from ${heldBy.from} on`;
  printLine(`Removed ${report.removed} entries${why}`);
  return 0;
}
