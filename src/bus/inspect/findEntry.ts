import type { Entry } from '../entries';
import type { EntryId, StreamKey } from '../ids';
import { outcomeOf } from './inspectPort';
import type { InspectPort } from './inspectPort';

/** One step of a search through all streams. */
export interface FoundEntries {
  readonly found: readonly { readonly key: StreamKey; readonly entry: Entry }[];
  /** Where to go on; `0` when every stream was looked at. */
  readonly cursor: string;
  /** How many streams this step looked at, and how many of them may not be read. */
  readonly streams: number;
  readonly unreadable: number;
}

/**
 * Looks for an entry id in the streams of one scan step. Two round trips; go on with the cursor until it is `0`. The same id may
 * be in several streams, since each stream makes its own.
 */
export async function findEntry(
  port: InspectPort,
  id: EntryId,
  options: { readonly cursor?: string; readonly match?: string; readonly count?: number } = {},
): Promise<FoundEntries> {
  const { cursor: start = '0', match, count = 1000 } = options;
  const { cursor, keys } = await port.scanStreams(start, { count, ...(match === undefined ? {} : { match }) });
  const unique = [...new Set(keys)];
  const outcomes = await Promise.all(unique.map((key) => outcomeOf(port.range(key, { from: id, to: id, count: 1 }))));
  return {
    cursor,
    found: unique.flatMap((key, index) => {
      const outcome = outcomes[index];
      const entry = outcome?.state === 'read' ? outcome.value[0] : undefined;
      return entry === undefined ? [] : [{ key, entry }];
    }),
    streams: unique.length,
    unreadable: outcomes.filter(({ state }) => state === 'not-permitted').length,
  };
}
