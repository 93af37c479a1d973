import type { GroupInfo, StreamInfo } from '../bus';
import type { Figure } from '../protocol/streamPanel';
import { isAtOrBefore } from './entryIds';

/**
 * What a group has still to read. Where ids alone decide it that is exact; a nil lag is unknown, and so is one that cannot be true:
 * servers miscount after a trim past what the group had read.
 */
export function lagFigure(group: GroupInfo, stream: StreamInfo): Figure {
  const { lag, lastDeliveredId } = group;
  const { firstEntry, lastEntry, length, maxDeletedId } = stream;
  if (!firstEntry || !lastEntry) return { kind: 'exact', value: 0, source: 'XLEN: the stream is empty' };
  if (isAtOrBefore(lastEntry.id, lastDeliveredId)) {
    return { kind: 'exact', value: 0, source: 'XINFO GROUPS: the last entry was delivered' };
  }
  if (!isAtOrBefore(firstEntry.id, lastDeliveredId)) {
    return { kind: 'exact', value: length, source: 'XLEN: nothing of what is left was delivered' };
  }
  if (lag === undefined) return unknown('servers before Redis 7.0 do not tell the lag');
  if (lag === null) {
    const wasDeleted = maxDeletedId !== undefined && isAtOrBefore(lastDeliveredId, maxDeletedId);
    return unknown(
      wasDeleted
        ? `entries were deleted at or after ${lastDeliveredId}`
        : `the group was created at or set to ${lastDeliveredId} without a count, or this is a replica`,
    );
  }
  if (lag < 0 || lag > length) return unknown('the server counts entries that were trimmed away');
  return { kind: 'exact', value: lag, source: 'XINFO GROUPS' };
}

function unknown(reason: string): Figure {
  return { kind: 'unknown', reason };
}
