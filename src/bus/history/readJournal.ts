import { companionCandidates } from '../companionKeys';
import type { Entry } from '../entries';
import { compareEntryIds, entryId, entryIdTimeMs } from '../ids';
import type { EntryId, StreamKey } from '../ids';
import { outcomeOf } from '../inspect/inspectPort';
import type { StandingPort } from '../inspect/standing';
import type { JournalEvent } from './journalEvent';
import { readJournalEntry } from './readJournalEntry';

/** What a look through the journals of a stream brought. */
export interface JournalReading {
  /** `none`: the stream has no journal. `not-permitted`: there may be one, but this user may not read it. */
  readonly state: 'read' | 'none' | 'not-permitted';
  /** The events of the ids that were asked for, in the order of the journal. */
  readonly events: readonly JournalEvent[];
  /** When the oldest event is from that the journal still has; what was before is not known. */
  readonly recordedSinceMs: number | undefined;
  /** Entries that were looked at and are no events: somebody else's, or of a later version. */
  readonly malformed: number;
  /** The time between which the journal was not looked through, because it has too many events. */
  readonly skipped: { readonly fromMs: number; readonly toMs: number } | undefined;
}

/** How to read. */
export interface JournalQuery {
  /** The entries whose events are wanted: a message and its copies. */
  readonly ids: readonly EntryId[];
  /** How many entries of a journal are looked at at most. Default 2,000. */
  readonly limit?: number;
  /** Keys that are known not to be readable; found ones are added. */
  readonly denied?: Set<StreamKey>;
  readonly signal?: AbortSignal;
}

/** How many entries one read takes. */
const pageSize = 250;

const nothing: JournalReading = {
  state: 'none',
  events: [],
  recordedSinceMs: undefined,
  malformed: 0,
  skipped: undefined,
};

/**
 * Looks through the journals of a stream for the events of some entries: from the time of the oldest of these on, and the newest ones;
 * in between as far as the limit goes. Reads only (XRANGE, XREVRANGE), in pages.
 */
export async function readJournal(port: StandingPort, stream: StreamKey, query: JournalQuery): Promise<JournalReading> {
  const { denied = new Set<StreamKey>() } = query;
  const candidates = companionCandidates(stream, 'journal');
  const look = async (key: StreamKey): ReturnType<typeof readOne> =>
    denied.has(key) ? 'denied' : readOne(port, key, query);
  const readings = await Promise.all(candidates.map(look));
  const [first, ...others] = readings.filter((reading) => typeof reading === 'object');
  readings.forEach((reading, index) => {
    const key = candidates[index];
    if (reading === 'denied' && key !== undefined) denied.add(key);
  });
  if (!first) return { ...nothing, state: readings.includes('denied') ? 'not-permitted' : 'none' };
  return others.reduce(joined, first);
}

async function readOne(
  port: StandingPort,
  key: StreamKey,
  query: JournalQuery,
): Promise<JournalReading | 'denied' | undefined> {
  const { ids, limit = 2000, signal } = query;
  const wanted = new Set(ids);
  const from = startOf(ids);
  const begin = await outcomeOf(
    Promise.all([
      port.range(key, { from: 'min', to: 'max', count: 1 }),
      port.range(key, { from, to: 'max', count: pageSize }),
      port.range(key, { from, to: 'max', count: pageSize, reverse: true }),
    ]),
  );
  if (begin.state !== 'read') return begin.state === 'gone' ? undefined : 'denied';
  const [[oldest], forward, backward] = begin.value;
  if (!oldest) return undefined;
  const newest = backward.toReversed();
  const found = new Map(forward.map((entry) => [entry.id, entry]));
  const [end] = newest;
  let last = forward.at(-1);
  let isWhole = forward.length < pageSize;
  while (!isWhole && last && end && isBefore(last, end) && found.size + newest.length < limit) {
    signal?.throwIfAborted();
    const page = await port.range(key, { from: { after: last.id }, to: 'max', count: pageSize });
    for (const entry of page) found.set(entry.id, entry);
    last = page.at(-1) ?? last;
    isWhole = page.length < pageSize;
  }
  const skipped =
    !isWhole && last && end && isBefore(last, end) ? { fromMs: idTime(last), toMs: idTime(end) } : undefined;
  for (const entry of newest) found.set(entry.id, entry);
  const events: JournalEvent[] = [];
  let malformed = 0;
  for (const entry of found.values()) {
    const read = readJournalEntry(entry);
    if (read) events.push(...read.filter(({ id }) => wanted.has(id)));
    else malformed += 1;
  }
  return {
    state: 'read',
    events,
    recordedSinceMs: entryIdTimeMs(oldest.id),
    malformed,
    skipped,
  };
}

/** Nothing happens to an entry before it is added: where its id is a time, that is where to begin. */
function startOf(ids: readonly EntryId[]): EntryId | 'min' {
  const times = ids.map(entryIdTimeMs);
  const known = times.filter((ms) => ms !== undefined);
  return known.length < times.length || known.length === 0 ? 'min' : entryId(`${Math.min(...known)}-0`);
}

function isBefore(a: Entry, b: Entry): boolean {
  return compareEntryIds(a.id, b.id) < 0;
}

function idTime({ id }: Entry): number {
  return entryIdTimeMs(id) ?? 0;
}

/** On a cluster and off it a journal has two names; a stream that was moved may have both. */
function joined(a: JournalReading, b: JournalReading): JournalReading {
  const since = [a.recordedSinceMs, b.recordedSinceMs].filter((ms) => ms !== undefined);
  return {
    state: 'read',
    events: [...a.events, ...b.events],
    recordedSinceMs: since.length === 0 ? undefined : Math.min(...since),
    malformed: a.malformed + b.malformed,
    skipped: a.skipped ?? b.skipped,
  };
}
