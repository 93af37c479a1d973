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
  /** True when the keyspace is so large that scanning it again and again would be felt. */
  readonly isCostly: boolean;
}

/** How far to scan. */
export interface ListOptions {
  readonly match: string;
  /** How many streams are wanted. */
  readonly count: number;
  /** How many pages that is: each may pass as many keys as the first. */
  readonly pages: number;
}

/** What a stream's children are made of. */
export interface StreamChildren {
  readonly groups: readonly GroupFacts[];
  readonly deadLetters: readonly DeadLettersFacts[];
}

/** Where an entry was found. */
export interface FoundEntry {
  readonly keys: readonly StreamKey[];
  /** How many streams the user may not read. */
  readonly unreadable: number;
  /** False when the search was stopped before it had looked everywhere. */
  readonly isComplete: boolean;
}

/** Reads of one connection. */
export interface TreeReads {
  /**
   * Scans for streams and describes them: all that there are in a small keyspace, else the first that are found. One round trip
   * describes them, and one is a step of the scan.
   */
  listStreams(options: ListOptions): Promise<ListedStreams>;
  /** Describes streams that are known, without a scan; those that are gone are left out. */
  describeStreams(keys: readonly StreamKey[]): Promise<readonly StreamFacts[]>;
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
