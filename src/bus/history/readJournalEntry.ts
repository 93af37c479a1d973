import { bytesToText } from '../../base/byteText';
import { shortened } from '../../base/shortText';
import type { Entry } from '../entries';
import { consumerName, entryIdTimeMs, groupName, parseEntryId } from '../ids';
import type { EntryId } from '../ids';
import { journalEventNames } from './journalEvent';
import type { JournalEvent, JournalEventName } from './journalEvent';

/** How many ids one entry of a journal may name; what has more was not written by anybody who follows the format. */
const maxIds = 1000;

/** How much of a text is read; our own are far shorter. */
const maxNameChars = 1024;
const maxMessageChars = 4096;
const maxStackChars = 16_384;

/** Reads an entry of a journal: an event for each id that it names. Undefined when it is no event that is known here. */
export function readJournalEntry({ id: journalId, fields }: Entry): readonly JournalEvent[] | undefined {
  const values = new Map<string, Buffer>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index];
    const value = fields[index + 1];
    if (name && value && name.length <= longestName) values.set(bytesToText(name), value);
  }
  const textOf = (name: string, maxChars = maxNameChars): string => {
    const bytes = values.get(name);
    return bytes === undefined ? '' : shortened(bytesToText(bytes.subarray(0, 4 * maxChars)), maxChars);
  };
  const event = eventNames.get(textOf('event'));
  const ids: readonly (EntryId | undefined)[] = listOf(values.get('id')).map(parseEntryId);
  const atMs = timeOf(textOf('at')) ?? entryIdTimeMs(journalId);
  if (event === undefined || atMs === undefined || !areIds(ids)) return undefined;
  const attempts = listOf(values.get('attempt'));
  const durations = listOf(values.get('durationMs'));
  const [group, consumer, host, pid, version] = ['group', 'consumer', 'host', 'pid', 'version'].map((name) =>
    textOf(name),
  );
  const [type, message, stack] = [
    textOf('error.type'),
    textOf('error.message', maxMessageChars),
    textOf('error.stack', maxStackChars),
  ];
  return ids.map((id, index) => ({
    journalId,
    event,
    id,
    atMs,
    ...known('attempt', nth(attempts, index, ids.length)),
    ...known('durationMs', nth(durations, index, ids.length)),
    ...(group ? { group: groupName(group) } : {}),
    ...(consumer ? { consumer: consumerName(consumer) } : {}),
    ...(type || message || stack ? { error: { type, message, ...(stack ? { stack } : {}) } } : {}),
    ...(host ? { host } : {}),
    ...(pid ? { pid } : {}),
    ...(version ? { version } : {}),
  }));
}

const eventNames: ReadonlyMap<string, JournalEventName> = new Map(journalEventNames.map((name) => [name, name]));
const longestName = 'error.message'.length;

function listOf(bytes: Buffer | undefined): readonly string[] {
  return bytes === undefined || bytes.length === 0 ? [] : bytesToText(bytes).split(',', maxIds + 1);
}

function areIds(ids: readonly (EntryId | undefined)[]): ids is readonly EntryId[] {
  return ids.length > 0 && ids.length <= maxIds && ids.every((id) => id !== undefined);
}

/** One value stands for all ids; a list must have one for each. */
function nth(values: readonly string[], index: number, count: number): number | undefined {
  const value = values.length === 1 ? values[0] : values.length === count ? values[index] : undefined;
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function known<Name extends string>(name: Name, value: number | undefined): Partial<Record<Name, number>> {
  const found: Partial<Record<Name, number>> = {};
  if (value !== undefined) found[name] = value;
  return found;
}

/** ISO 8601, or milliseconds since the epoch. */
function timeOf(text: string): number | undefined {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
