import { bytesToText } from '../../base/byteText';
import type { DeadLetter, DeadLetters, DeadLetterSelection, EntryId } from '../../bus';
import type { Settings } from '../app/settings';
import { UsageError } from '../usageError';
import { readEntryId, withTarget } from './opsTarget';
import type { OpsTarget } from './opsTarget';
import { oneLine, printJson, printLine, printTable } from './output';

const most = Number.MAX_SAFE_INTEGER;

/** `dlq list|show|replay|discard`. */
export function runDeadLetters(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [verb, ...rest] = args;
  const selecting = { valued: ['reason', 'limit', 'rate'], plain: ['all', 'dry-run'], words: true };
  switch (verb) {
    case 'list':
      return withTarget(rest, env, { valued: ['reason', 'limit', 'after'] }, list);
    case 'show':
      return withTarget(rest, env, { words: true }, show, ({ words }) => readEntryId(words[0], 'dlq show'));
    case 'replay':
      return withTarget(rest, env, selecting, replay, readSelection);
    case 'discard':
      return withTarget(rest, env, selecting, discard, readSelection);
    default:
      throw new UsageError(`dlq: expected list, show, replay or discard, got ${JSON.stringify(verb ?? '')}`);
  }
}

async function list({ bus, stream, settings, isJson }: OpsTarget): Promise<number> {
  const reason = settings.text('reason');
  const after = settings.text('after');
  const letters = await bus.deadLetters(stream).list({
    limit: settings.whole('limit', { default: 100, min: 1, max: most }),
    ...(reason === undefined ? {} : { reason }),
    ...(after === undefined ? {} : { after: readEntryId(after, '--after') }),
  });
  if (isJson) {
    for (const letter of letters) printJson(summary(letter));
    return 0;
  }
  printTable(
    ['DEAD LETTER', 'ENTRY', 'REASON', 'DELIVERIES', 'REPLAYS', 'ERROR'],
    letters.map(({ deadId, failure }) => [
      deadId,
      failure.entry ?? '',
      failure.reason ?? '',
      String(failure.deliveries ?? ''),
      String(failure.replays ?? ''),
      [failure.errorType, failure.errorMessage].filter(Boolean).join(': '),
    ]),
  );
  return 0;
}

async function show({ bus, stream, settings, isJson }: OpsTarget): Promise<number> {
  const id = readEntryId(settings.words[0], 'dlq show');
  const letter = await bus.deadLetters(stream).get(id);
  if (!letter) {
    printProblem(`There is no dead letter ${id}`, isJson);
    return 1;
  }
  const fields = pairsOf(letter);
  if (isJson) {
    printJson({ ...summary(letter), fields });
    return 0;
  }
  const facts = Object.entries(summary(letter)).filter(([, value]) => value !== undefined && value !== '');
  for (const [name, value] of facts) printLine(`${name.padEnd(14)}${oneLine(String(value))}`);
  printLine('fields');
  for (const [name, value] of fields) printLine(`  ${oneLine(name)}  ${oneLine(value)}`);
  return 0;
}

async function replay({ bus, stream, settings, isJson }: OpsTarget): Promise<number> {
  const rate = settings.optionalWhole('rate', { min: 1, max: 1_000_000 });
  const results = await bus.deadLetters(stream).replay(readSelection(settings), {
    dryRun: settings.has('dry-run'),
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
  });
  if (isJson) for (const result of results) printJson(result);
  else
    printTable(
      ['DEAD LETTER', 'RESULT', 'NEW ENTRY'],
      results.map((result) => [result.deadId, result.status, 'id' in result ? result.id : '']),
    );
  return results.every(({ status }) => status === 'replayed' || status === 'would-replay') ? 0 : 1;
}

async function discard({ bus, stream, settings, isJson }: OpsTarget): Promise<number> {
  const deadLetters = bus.deadLetters(stream);
  const ids = await selectedIds(deadLetters, readSelection(settings));
  const isDry = settings.has('dry-run');
  const found = isDry ? (await Promise.all(ids.map((id) => deadLetters.get(id)))).filter(Boolean).length : undefined;
  const discarded = found ?? (await deadLetters.discard(ids));
  if (isJson) printJson({ [isDry ? 'wouldDiscard' : 'discarded']: discarded, asked: ids.length });
  else printLine(`${isDry ? 'Would discard' : 'Discarded'} ${discarded} of ${ids.length} dead letters`);
  return discarded === ids.length ? 0 : 1;
}

async function selectedIds(deadLetters: DeadLetters, selection: DeadLetterSelection): Promise<readonly EntryId[]> {
  if ('ids' in selection) return selection.ids;
  const letters = await deadLetters.list({ ...selection.where, limit: selection.limit ?? most });
  return letters.map(({ deadId }) => deadId);
}

/** Ids, or `--all` with what narrows it; never everything by leaving something out. */
function readSelection(settings: Settings): DeadLetterSelection {
  const { words } = settings;
  const reason = settings.text('reason');
  const limit = settings.optionalWhole('limit', { min: 1, max: most });
  if (words.length > 0) {
    if (settings.has('all') || reason !== undefined || limit !== undefined)
      throw new UsageError('dlq: give ids, or --all with --reason and --limit, not both');
    return { ids: words.map((word) => readEntryId(word, 'dlq')) };
  }
  if (!settings.has('all')) throw new UsageError('dlq: which? Give ids, or --all');
  return { where: reason === undefined ? {} : { reason }, ...(limit === undefined ? {} : { limit }) };
}

/** What a dead letter says of its end, without the message. */
function summary({ deadId, form, failure }: DeadLetter): Record<string, unknown> {
  const { id, entry, stream, group, consumer, reason, errorType, errorMessage, deliveries, atMs, replays } = failure;
  const at = atMs === undefined ? undefined : new Date(atMs).toISOString();
  return { deadId, id, entry, stream, group, consumer, reason, errorType, errorMessage, deliveries, at, replays, form };
}

function pairsOf({ fields }: DeadLetter): readonly (readonly [name: string, value: string])[] {
  return fields.flatMap((name, index) => {
    const value = fields[index + 1];
    return index % 2 === 0 && value ? [[bytesToText(name), bytesToText(value)] as const] : [];
  });
}

function printProblem(message: string, isJson: boolean): void {
  if (isJson) printJson({ error: message });
  else console.error(message);
}
