import type { Entry } from '../entries';
import type { StreamKey } from '../ids';
import type { InspectPort } from '../inspect/inspectPort';
import type { RangeBound } from '../port';

/** What one look may weigh altogether, and one read of it, going by the entries before. */
const maxBytes = 16 * 1024 * 1024;
const maxReadBytes = 4 * 1024 * 1024;

/** The first read is small: it tells how large the entries are. */
const firstRead = 20;

/** Reads up to `count` entries of a range, in pieces so that large payloads are never asked for by the hundred; it may end early. */
export async function boundedRange(
  port: Pick<InspectPort, 'range'>,
  key: StreamKey,
  query: {
    readonly from: RangeBound;
    readonly to: RangeBound;
    readonly count: number;
    readonly reverse?: boolean;
    readonly signal?: AbortSignal;
  },
): Promise<readonly Entry[]> {
  const { count, reverse = false, signal } = query;
  const entries: Entry[] = [];
  let { from, to } = query;
  let bytes = 0;
  let step = Math.min(firstRead, count);
  while (step > 0 && bytes < maxBytes) {
    signal?.throwIfAborted();
    const read = await port.range(key, { from, to, count: step, reverse });
    for (const entry of read) bytes += entry.fields.reduce((sum, { length }) => sum + length, 0);
    entries.push(...read);
    const last = read.at(-1);
    if (!last || read.length < step) break;
    if (reverse) to = { before: last.id };
    else from = { after: last.id };
    step = Math.max(
      1,
      Math.min(count - entries.length, Math.floor(maxReadBytes / Math.max(1, bytes / entries.length))),
    );
    if (entries.length >= count) break;
  }
  return entries;
}
