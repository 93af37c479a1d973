import type { GroupInfo, StreamInfo } from '../entries';
import { compareEntryIds } from '../ids';
import type { EntryId, StreamKey } from '../ids';
import { atLeast, exact, unknown } from './figures';
import type { Figure } from './figures';
import type { InspectPort } from './inspectPort';

/**
 * How many entries a group has still to read. Where the ids alone decide it (all read, or nothing of what is left), that is exact,
 * whatever the server counts. Otherwise the server's lag, when it tells one that can be true: it tells null after deletions and
 * after XGROUP SETID, and too many after a trim past the group (Redis before 8.0, Valkey).
 */
export function lagOf(group: GroupInfo, stream: StreamInfo): Figure {
  const { firstEntry, lastEntry, length } = stream;
  if (firstEntry === null || lastEntry === null || length === 0) return exact(0, 'XLEN');
  if (compareEntryIds(group.lastDeliveredId, lastEntry.id) >= 0)
    return exact(0, 'ids of XINFO STREAM and XINFO GROUPS');
  if (compareEntryIds(group.lastDeliveredId, firstEntry.id) < 0)
    return exact(length, 'XLEN, as nothing of it was read');
  const { lag } = group;
  if (lag === undefined)
    return unknown('not-told-by-this-server', 'Servers before Redis 7.0 do not count the lag of a group.');
  if (lag === null) return unknown(...whyNull(group, stream));
  if (lag < 0 || lag > length)
    return unknown(
      'miscounted-after-trim',
      `The server counts ${lag}, which cannot be: the stream was trimmed past what the group had read, or its count was set wrongly.`,
    );
  return exact(lag, 'XINFO GROUPS');
}

/**
 * How many entries were removed before the group had read them, at least; 0 when there is no sign of any. Needs Redis 7.0 and a
 * group whose reads the server could count.
 */
export function removedUnread(group: GroupInfo, stream: StreamInfo): Figure {
  if (stream.entriesAdded === undefined || group.entriesRead === undefined)
    return unknown('not-told-by-this-server', 'Servers before Redis 7.0 do not count what was added and read.');
  if (group.entriesRead === null) return unknown(...whyNull(group, stream));
  const removed = stream.entriesAdded - stream.length;
  return atLeast(Math.max(0, removed - group.entriesRead), 'entries-added - length - entries-read');
}

/** Counts what a group has still to read, by reading at most `cap` entries after its last-delivered id. One round trip. */
export async function countUnread(
  port: InspectPort,
  key: StreamKey,
  lastDeliveredId: EntryId,
  options: { readonly cap: number } = { cap: 1000 },
): Promise<Figure> {
  const entries = await port.range(key, { from: { after: lastDeliveredId }, to: 'max', count: options.cap + 1 });
  return entries.length > options.cap ? atLeast(options.cap, 'XRANGE') : exact(entries.length, 'XRANGE');
}

function whyNull({ lastDeliveredId }: GroupInfo, { maxDeletedId }: StreamInfo): Parameters<typeof unknown> {
  const isDeletedAfter = maxDeletedId !== undefined && compareEntryIds(maxDeletedId, lastDeliveredId) >= 0;
  return isDeletedAfter
    ? [
        'entries-deleted',
        `Entries were deleted at or after ${lastDeliveredId}, so the server does not know how many are left.`,
      ]
    : [
        'group-set-to-other-id',
        `The group was created at or set to ${lastDeliveredId} without a count, or this is a replica: the server does not know how many entries come before.`,
      ];
}
