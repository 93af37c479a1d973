import { IdMap } from './idMap';
import type { Int } from './int64';
import { addInt64, subtractInt64 } from './int64';
import type { Stream } from './stream';
import type { StreamId } from './streamId';
import { compareIds, isZeroId, maxStreamId } from './streamId';

/** A consumer of a group. */
export interface Consumer {
  readonly name: string;
  readonly pending: IdMap<Pending>;
  /** When it last received or claimed something, milliseconds since the epoch (Redis 7.0: not each attempt). */
  seenMs: number;
}

/** One pending entry; it is in its group's list and in its consumer's. */
export interface Pending extends StreamId {
  consumer: Consumer;
  deliveredMs: number;
  deliveryCount: Int;
}

/** A consumer group. `entriesRead` is null when it is not known. */
export class Group {
  readonly pending = new IdMap<Pending>();
  readonly consumers = new Map<string, Consumer>();
  private sorted: readonly Consumer[] | undefined;

  constructor(
    readonly name: string,
    public lastId: StreamId,
    public entriesRead: Int | null,
  ) {}

  /** The consumers in the order of their names' bytes. */
  sortedConsumers(): readonly Consumer[] {
    this.sorted ??= sortByName(this.consumers.values());
    return this.sorted;
  }

  createConsumer(name: string, nowMs: number): Consumer {
    const consumer: Consumer = { name, pending: new IdMap(), seenMs: nowMs };
    this.consumers.set(name, consumer);
    this.sorted = undefined;
    return consumer;
  }

  /** The consumer, made when missing, seen now. */
  seenConsumer(name: string, nowMs: number): Consumer {
    const consumer = this.consumers.get(name);
    if (!consumer) return this.createConsumer(name, nowMs);
    consumer.seenMs = nowMs;
    return consumer;
  }

  /** Removes a consumer with all it had pending; answers how many that were. */
  deleteConsumer(consumer: Consumer): number {
    for (const pending of consumer.pending.from(zero)) this.pending.delete(pending);
    this.consumers.delete(consumer.name);
    this.sorted = undefined;
    return consumer.pending.size;
  }

  /** Makes the entry pending for the consumer, delivered once, whoever had it before. */
  deliver(id: StreamId, consumer: Consumer, nowMs: number): void {
    const existing = this.pending.get(id);
    if (existing) {
      this.moveTo(existing, consumer);
      existing.deliveredMs = nowMs;
      existing.deliveryCount = 1;
      return;
    }
    this.addPending({ ms: id.ms, seq: id.seq, consumer, deliveredMs: nowMs, deliveryCount: 1 });
  }

  addPending(pending: Pending): void {
    this.pending.add(pending);
    pending.consumer.pending.add(pending);
  }

  moveTo(pending: Pending, consumer: Consumer): void {
    if (pending.consumer === consumer) return;
    pending.consumer.pending.delete(pending);
    pending.consumer = consumer;
    consumer.pending.add(pending);
  }

  /** Removes a pending entry; tells whether there was one. */
  release(id: StreamId): boolean {
    const pending = this.pending.get(id);
    if (!pending) return false;
    this.pending.delete(pending);
    pending.consumer.pending.delete(pending);
    return true;
  }

  /** Moves the group's last-delivered id on to an entry that is being delivered, and its read counter with it. */
  advanceTo(stream: Stream, id: StreamId): void {
    if (this.entriesRead !== null && !hasTombstones(stream, id)) this.entriesRead = addInt64(this.entriesRead, 1);
    else if (stream.entriesAdded !== 0) this.entriesRead = estimateEntriesRead(stream, id);
    this.lastId = id;
  }

  /** The lag as Redis 7.0 tells it, null where it cannot. */
  lag(stream: Stream): Int | null {
    if (stream.entriesAdded === 0) return 0;
    if (this.entriesRead !== null && !hasTombstones(stream, this.lastId))
      return subtractInt64(stream.entriesAdded, this.entriesRead);
    const read = estimateEntriesRead(stream, this.lastId);
    return read === null ? null : subtractInt64(stream.entriesAdded, read);
  }
}

const zero: StreamId = { ms: 0, seq: 0 };

/** Orders things by the bytes of their names, which are binary text. */
export function sortByName<Named extends { readonly name: string }>(named: Iterable<Named>): Named[] {
  return [...named].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Whether the largest deleted id lies between `start` and the end of the stream, so that counting from there is not possible. */
function hasTombstones(stream: Stream, start: StreamId): boolean {
  if (stream.length === 0 || isZeroId(stream.maxDeletedId)) return false;
  if (compareIds(stream.firstId, stream.maxDeletedId) > 0) return false;
  return compareIds(start, stream.maxDeletedId) <= 0 && compareIds(stream.maxDeletedId, maxStreamId) <= 0;
}

/** How many entries were ever added up to this id, null when that cannot be told. */
function estimateEntriesRead(stream: Stream, id: StreamId): Int | null {
  if (stream.entriesAdded === 0) return 0;
  const toLast = compareIds(id, stream.lastId);
  if (stream.length === 0 && toLast < 1) return stream.entriesAdded;
  if (toLast === 0) return stream.entriesAdded;
  if (toLast > 0) return null;
  if (isZeroId(stream.maxDeletedId) || compareIds(stream.maxDeletedId, stream.firstId) < 0) {
    const toFirst = compareIds(id, stream.firstId);
    if (toFirst < 0) return subtractInt64(stream.entriesAdded, stream.length);
    if (toFirst === 0) return addInt64(subtractInt64(stream.entriesAdded, stream.length), 1);
  }
  return null;
}
