/** Pages of entries, newest first, read in pieces so that large payloads are never asked for by the hundred. */
import type { Entry, EntryId, StreamKey } from '../bus';
import type { Inspector } from '../connections/inspector';
import type { EntriesQuery } from '../protocol/streamPanel';
import { entryIdOf } from './entryIds';
import type { EntriesFacts } from './streamReader';
import { sizeOf } from './values';

/** What one page may weigh; it ends early, saying that there is more, when its entries are larger. */
const maxPageBytes = 16 * 1024 * 1024;

/** What one read may weigh, going by the entries before it. */
const maxReadBytes = 4 * 1024 * 1024;

/** The first read of a page is small: it tells how large the entries are. */
const firstRead = 20;

type Bound = Parameters<Inspector['range']>[1]['from'];
interface Side {
  readonly entries: readonly Entry[];
  readonly hasMore: boolean;
}

/** Reads a page. An id that is none gives an empty page. */
export async function readEntries(
  inspect: Inspector,
  key: StreamKey,
  { at, count }: EntriesQuery,
  signal: AbortSignal,
): Promise<EntriesFacts> {
  const older = (from: Bound, wanted: number): Promise<Side> => readSide(inspect, key, from, wanted, true, signal);
  const newer = (from: Bound, wanted: number): Promise<Side> => readSide(inspect, key, from, wanted, false, signal);
  if (at.kind === 'newest') return downFrom(await older('max', count), false);
  if (at.kind === 'oldest') return upFrom(await newer('min', count), false);
  const id = entryIdOf(at.id);
  if (id === null) return { entries: [], hasOlder: false, hasNewer: false };
  if (at.kind === 'olderThan') return downFrom(await older({ before: id }, count), true);
  if (at.kind === 'newerThan') return upFrom(await newer({ after: id }, count), true);
  return around(older, newer, id, count);
}

async function around(
  older: (from: Bound, wanted: number) => Promise<Side>,
  newer: (from: Bound, wanted: number) => Promise<Side>,
  id: EntryId,
  count: number,
): Promise<EntriesFacts> {
  const half = Math.ceil(count / 2);
  const [below, above] = await Promise.all([older({ before: id }, half), newer(id, half)]);
  // Near an end the other side fills the page.
  const missing = count - below.entries.length - above.entries.length;
  const lastBelow = below.entries.at(-1);
  const lastAbove = above.entries.at(-1);
  const moreBelow =
    missing > 0 && below.hasMore && lastBelow ? await older({ before: lastBelow.id }, missing) : undefined;
  const moreAbove =
    missing > 0 && above.hasMore && lastAbove ? await newer({ after: lastAbove.id }, missing) : undefined;
  const ascending = [...above.entries, ...(moreAbove?.entries ?? [])];
  return {
    entries: [...ascending.reverse(), ...below.entries, ...(moreBelow?.entries ?? [])],
    hasOlder: (moreBelow ?? below).hasMore,
    hasNewer: (moreAbove ?? above).hasMore,
  };
}

function downFrom({ entries, hasMore }: Side, hasNewer: boolean): EntriesFacts {
  return { entries, hasOlder: hasMore, hasNewer };
}

function upFrom({ entries, hasMore }: Side, hasOlder: boolean): EntriesFacts {
  return { entries: [...entries].reverse(), hasOlder, hasNewer: hasMore };
}

/** Up to `wanted` entries from a bound downwards or upwards, in that order, and whether there are more. */
async function readSide(
  inspect: Inspector,
  key: StreamKey,
  start: Bound,
  wanted: number,
  down: boolean,
  signal: AbortSignal,
): Promise<Side> {
  const entries: Entry[] = [];
  let from = start;
  let bytes = 0;
  let step = Math.min(firstRead, wanted + 1);
  for (;;) {
    signal.throwIfAborted();
    const range = down ? ({ from: 'min', to: from, reverse: true } as const) : ({ from, to: 'max' } as const);
    const read = await inspect.range(key, { ...range, count: step });
    entries.push(...read);
    bytes += read.reduce((sum, { fields }) => sum + sizeOf(fields), 0);
    const last = read.at(-1);
    if (entries.length > wanted) return { entries: entries.slice(0, wanted), hasMore: true };
    if (!last || read.length < step) return { entries, hasMore: false };
    if (bytes >= maxPageBytes) return { entries, hasMore: true };
    from = down ? { before: last.id } : { after: last.id };
    const fitting = Math.floor(maxReadBytes / Math.max(1, bytes / entries.length));
    step = Math.max(1, Math.min(wanted + 1 - entries.length, fitting));
  }
}
