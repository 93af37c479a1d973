/** Reads all about one entry: itself, where it stands in the groups, what it says of itself, and its dead letters. */
import { bytesToText } from '../base/byteText';
import { shortened } from '../base/shortText';
import type { Entry, EntryId, StreamKey } from '../bus';
import { reasonOf } from '../connections/describeFailure';
import type { Inspector } from '../connections/inspector';
import { entryIdOf } from './entryIds';
import { readEntries } from './entryPages';
import type { DeadLetterFacts, EntryFacts, FoundDeadLetter } from './streamReader';

/** How many dead letters after the entry's own time are looked through for those of this entry. */
const searchedDeadLetters = 200;

/** Reads an entry: two round trips, and one or two more when the stream has dead letters. */
export async function readEntry(
  inspect: Inspector,
  place: { readonly key: StreamKey; readonly id: EntryId; readonly deadKeys: readonly StreamKey[] },
  signal: AbortSignal,
): Promise<EntryFacts> {
  const { key, id, deadKeys } = place;
  const { entry, standings, serverTimeMs } = await inspect.standingOf(key, id);
  const replayOf = entry && replayOrigin(entry);
  const deadLetters = await findDeadLetters(inspect, deadKeys, [id, ...(replayOf ? [replayOf.id] : [])], signal);
  return {
    id,
    entry,
    standings,
    deadLetter: entry && ownDeadLetter(inspect, key, entry),
    replayOf,
    deadLetters,
    serverTimeMs,
  };
}

/** A complete block at the end is ours anywhere; other forms are believed only in a stream named like dead letters. */
function ownDeadLetter(inspect: Inspector, key: StreamKey, entry: Entry): DeadLetterFacts | null {
  const { form, failure } = inspect.readDeadLetter(entry);
  if (form === 'block') return deadLetterFacts('own', failure);
  if (form === 'unknown' || !isDeadLetterKey(inspect, key)) return null;
  return deadLetterFacts('foreign', failure);
}

function deadLetterFacts(
  format: DeadLetterFacts['format'],
  failure: ReturnType<Inspector['readDeadLetter']>['failure'],
): DeadLetterFacts {
  const { id, entry, reason, errorType, errorMessage, ...rest } = failure;
  return {
    ...rest,
    reason: bounded(reason, 300),
    errorType: bounded(errorType, 300),
    errorMessage: bounded(errorMessage, 4096),
    originalId: id,
    diedId: entry,
    format,
  };
}

/** What others wrote as dead letters may hold megabytes, and one of them must not keep the entry that it is about from being shown. */
function bounded(text: string | undefined, maxChars: number): string | undefined {
  return text === undefined ? undefined : shortened(text, maxChars);
}

/** Whether the key ends as the dead letters of some stream do. */
function isDeadLetterKey(inspect: Inspector, key: StreamKey): boolean {
  const probe = 'x' as StreamKey;
  return inspect
    .companionCandidates(probe, 'dlq')
    .filter((candidate) => candidate.startsWith(probe))
    .some((candidate) => key.endsWith(candidate.slice(probe.length)) && key.length >= candidate.length);
}

/** Dead letters of a message are younger than it is: they are looked for from its time on, the first two hundred. */
async function findDeadLetters(
  inspect: Inspector,
  deadKeys: readonly StreamKey[],
  ids: readonly EntryId[],
  signal: AbortSignal,
): Promise<readonly FoundDeadLetter[]> {
  const [first] = ids;
  if (first === undefined) return [];
  const start = entryIdOf(`${first.slice(0, first.indexOf('-'))}-0`);
  if (start === null) return [];
  const pages = await Promise.all(
    deadKeys.map((deadKey) =>
      unlessGone(
        readEntries(inspect, deadKey, { at: { kind: 'newerThan', id: start }, count: searchedDeadLetters }, signal),
      ),
    ),
  );
  return pages.flatMap((page) =>
    (page?.entries ?? []).flatMap((entry): FoundDeadLetter[] => {
      const { form, failure } = inspect.readDeadLetter(entry);
      const isOfThis = [failure.id, failure.entry].some((id) => id !== undefined && ids.includes(id));
      return isOfThis ? [{ ...deadLetterFacts(form === 'block' ? 'own' : 'foreign', failure), id: entry.id }] : [];
    }),
  );
}

/** The two pairs that a replay appends, when the entry ends with them. */
function replayOrigin({ fields }: Entry): EntryFacts['replayOf'] {
  const [idName, id, countName, count] = fields.slice(-4).map((bytes) => bytesToText(bytes.subarray(0, 64)));
  if (idName !== 'dl.id' || countName !== 'dl.replays' || !/^[1-9]\d{0,8}$/.test(count ?? '')) return null;
  const original = entryIdOf(id ?? '');
  return original === null ? null : { id: original, replays: Number(count) };
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['no-key', 'no-group', 'wrong-type', 'no-permission'].includes(reasonOf(error))) return undefined;
    throw error;
  }
}
