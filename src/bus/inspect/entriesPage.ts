import type { Entry } from '../entries';
import type { EntryId, StreamKey } from '../ids';
import type { InspectPort } from './inspectPort';

/** Where a page lies: at an end, beside an id (without it), or around an id (with it, when it is there). */
export type EntriesPosition =
  'oldest' | 'newest' | { readonly after: EntryId } | { readonly before: EntryId } | { readonly around: EntryId };

/** Some neighbouring entries of a stream. */
export interface EntriesPage {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

/** A page of at most `count` entries, in one round trip; empty for a missing stream. */
export async function entriesPage(
  port: InspectPort,
  key: StreamKey,
  at: EntriesPosition,
  count: number,
): Promise<EntriesPage> {
  const newer = (from: EntryId | { after: EntryId } | 'min', limit: number): Promise<readonly Entry[]> =>
    port.range(key, { from, to: 'max', count: limit });
  const older = async (to: EntryId | { before: EntryId } | 'max', limit: number): Promise<readonly Entry[]> =>
    (await port.range(key, { from: 'min', to, count: limit, reverse: true })).toReversed();
  if (at === 'oldest') return page([], await newer('min', count + 1), 0, count);
  if (at === 'newest') return page(await older('max', count + 1), [], count, 0);
  if ('after' in at) return page(...(await Promise.all([older(at.after, 1), newer(at, count + 1)])), 0, count);
  if ('before' in at) return page(...(await Promise.all([older(at, count + 1), newer(at.before, 1)])), count, 0);
  const half = Math.floor(count / 2);
  const both = await Promise.all([older({ before: at.around }, count + 1), newer(at.around, count + 1)]);
  // Near an end the other side fills the page.
  const wantedNewer = Math.max(count - half, count - both[0].length);
  const wantedOlder = count - Math.min(wantedNewer, both[1].length);
  return page(...both, wantedOlder, count - wantedOlder);
}

/** The entry with this id; null when there is none (any more). */
export async function entryById(port: InspectPort, key: StreamKey, id: EntryId): Promise<Entry | null> {
  const [entry] = await port.range(key, { from: id, to: id, count: 1 });
  return entry ?? null;
}

/** Keeps the last of the older and the first of the newer ones; what is left over tells that there is more. */
function page(older: readonly Entry[], newer: readonly Entry[], countOlder: number, countNewer: number): EntriesPage {
  return {
    entries: [...older.slice(Math.max(0, older.length - countOlder)), ...newer.slice(0, countNewer)],
    hasOlder: older.length > countOlder,
    hasNewer: newer.length > countNewer,
  };
}
