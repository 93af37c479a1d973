import type { DeliveredEntry } from '../entries';
import { previousEntryId } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { AutoClaimReply, StreamPort } from '../port';

/** XAUTOCLAIM looks at up to ten pending entries for each one that it may claim. */
const scannedPerClaimed = 10;

/**
 * Before Redis 7.0, XAUTOCLAIM claims pending entries whose message is gone and answers null for them, without their ids. This
 * finds them: what the consumer now owns in the part of the list that the step scanned, was not answered, and has no body.
 */
export async function findTombstones(
  port: Pick<StreamPort, 'pending' | 'range'>,
  key: StreamKey,
  group: GroupName,
  consumer: ConsumerName,
  step: { readonly from: EntryId; readonly reply: AutoClaimReply; readonly count: number },
): Promise<readonly DeliveredEntry[]> {
  const { cursor, entries } = step.reply;
  const end = cursor === '0-0' ? 'max' : previousEntryId(cursor);
  if (end === undefined) return [];
  const owned = await port.pending(key, group, {
    from: step.from,
    to: end,
    count: step.count * scannedPerClaimed,
    consumer,
  });
  const answered = new Set(entries.map(({ id }) => id));
  const ids = owned.map(({ id }) => id).filter((id) => !answered.has(id));
  const bodies = await Promise.all(ids.map((id) => port.range(key, { from: id, to: id, count: 1 })));
  return ids.filter((_, index) => bodies[index]?.length === 0).map((id) => ({ id, fields: null }));
}
