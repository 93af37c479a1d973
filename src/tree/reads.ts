/** What the nodes read, level by level; each call is at most two round trips. `inspectReads.ts` is the real one. */
import type { ConsumerName, EntryFields, EntryId, GroupName, StreamKey } from '../bus';
import type { ConsumerFacts, DeadLetterFacts, DeadLettersFacts, GroupFacts, PendingFacts, StreamFacts } from './facts';

/** Some of a list, and whether there is more. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/** The streams that a scan found first. */
export interface ListedStreams {
  readonly streams: readonly StreamFacts[];
  /** False when the keyspace was scanned to its end. */
  readonly hasMore: boolean;
  /** About how many keys the scan has passed. */
  readonly scannedKeys: number;
}

/** What a stream's children are made of. */
export interface StreamChildren {
  readonly groups: readonly GroupFacts[];
  readonly deadLetters: readonly DeadLettersFacts[];
}

/** Where an entry was found. */
export interface FoundEntry {
  readonly keys: readonly StreamKey[];
  /** False when the search was stopped before it had looked everywhere. */
  readonly isComplete: boolean;
}

/** Reads of one connection. */
export interface TreeReads {
  /** Scans for the first `count` streams and describes them. */
  listStreams(match: string, count: number): Promise<ListedStreams>;
  streamChildren(key: StreamKey): Promise<StreamChildren>;
  consumers(key: StreamKey, group: GroupName): Promise<readonly ConsumerFacts[]>;
  /** The first `count` pending entries of a consumer, lowest id first. */
  pending(key: StreamKey, group: GroupName, consumer: ConsumerName, count: number): Promise<Page<PendingFacts>>;
  /** The newest `count` dead letters. */
  deadLetters(key: StreamKey, count: number): Promise<Page<DeadLetterFacts>>;
  /** The fields of an entry; undefined when it is gone. */
  payload(key: StreamKey, id: EntryId): Promise<EntryFields | undefined>;
  /** The streams that have an entry with this id. */
  findEntry(id: EntryId, signal: AbortSignal): Promise<FoundEntry>;
}
