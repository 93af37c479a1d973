import type { Consumer, Group } from './data/group';
import { addInt64 } from './data/int64';
import type { Stream } from './data/stream';
import type { StreamId } from './data/streamId';
import { compareIds, maxStreamId } from './data/streamId';
import type { Reply } from './reply';
import { EntryReply, nullArray } from './reply';

/** The entries between two ids, at most `count` unless that is 0. */
export function readEntries(
  stream: Stream,
  from: StreamId,
  to: StreamId,
  count: number,
  reverse = false,
): EntryReply[] {
  const entries: EntryReply[] = [];
  stream.visit(from, to, reverse, ({ id, fields }) => {
    entries.push(new EntryReply(id, fields));
    return entries.length !== count;
  });
  return entries;
}

/** Delivers entries from an id on to a consumer: the group moves on, and unless `noAck` they become pending. */
export function deliverNew(
  stream: Stream,
  group: Group,
  consumer: Consumer,
  from: StreamId,
  count: number,
  noAck: boolean,
  nowMs: number,
): EntryReply[] {
  const entries: EntryReply[] = [];
  stream.visit(from, maxStreamId, false, ({ id, fields }) => {
    if (compareIds(id, group.lastId) > 0) group.advanceTo(stream, id);
    if (!noAck) group.deliver(id, consumer, nowMs);
    entries.push(new EntryReply(id, fields));
    return entries.length !== count;
  });
  return entries;
}

/** A consumer's own pending entries from an id on: each read counts as a delivery, unless its message is gone. */
export function deliverHistory(
  stream: Stream,
  consumer: Consumer,
  from: StreamId,
  count: number,
  nowMs: number,
): Reply[] {
  const rows: Reply[] = [];
  for (const pending of consumer.pending.from(from)) {
    if (count !== 0 && rows.length >= count) break;
    const entry = stream.get(pending);
    if (entry) {
      pending.deliveredMs = nowMs;
      pending.deliveryCount = addInt64(pending.deliveryCount, 1);
      rows.push(new EntryReply(entry.id, entry.fields));
    } else {
      rows.push([`${pending.ms}-${pending.seq}`, nullArray]);
    }
  }
  return rows;
}
