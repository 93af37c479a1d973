/** What the tree knows of each thing that it shows, as it was read. Times are milliseconds by the server's clock. */
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../bus';
import type { Figure } from '../protocol/streamPanel';

/** When something was read: by the server's clock. */
export interface ReadAt {
  readonly serverTimeMs: number;
}

/** A stream in a list of streams. */
export interface StreamFacts extends ReadAt {
  readonly key: StreamKey;
  /** Undefined when its key is listed but the user may not read it. */
  readonly figures: StreamFigures | undefined;
  /** The listed stream that it is a companion of, holding its dead letters or its journal: it stands beside it, in no folder of its own. */
  readonly companionOf?: StreamKey;
  /** The stream whose delivery journal it is, going by its name and by nobody consuming it. */
  readonly journalOf?: StreamKey;
}

/** What a stream's row says of it. */
export interface StreamFigures {
  readonly length: number;
  readonly groups: number;
  /** Of all its groups together. */
  readonly pending: number;
}

/** A group of a stream. `oldestPending` is null when nothing is pending. */
export interface GroupFacts extends ReadAt {
  readonly name: GroupName;
  readonly consumers: number;
  readonly pending: number;
  readonly lag: Figure;
  readonly lastDeliveredId: EntryId;
  /** The lowest id pending, with its age when ids of this stream are times. */
  readonly oldestPending: { readonly id: EntryId; readonly age: Figure } | null;
}

/** A consumer of a group. */
export interface ConsumerFacts extends ReadAt {
  readonly name: ConsumerName;
  readonly pending: number;
  readonly idleMs: number;
  readonly inactiveMs?: number | undefined;
}

/** A pending entry. */
export interface PendingFacts extends ReadAt {
  readonly id: EntryId;
  readonly consumer: ConsumerName;
  /** -1 when it was released without an owner. */
  readonly idleMs: number;
  readonly deliveryCount: number;
  /** When it was added, if its id is a time in the past. */
  readonly addedAtMs: number | undefined;
  /** Its message is not in the stream any more. */
  readonly isGone: boolean;
}

/** The dead letters of a stream. */
export interface DeadLettersFacts extends ReadAt {
  readonly key: StreamKey;
  readonly length: number;
  /** When the newest was added, if its id is a time in the past. */
  readonly newestAtMs: number | undefined;
}

/** One dead letter. What its entry does not tell is undefined. */
export interface DeadLetterFacts extends ReadAt {
  readonly id: EntryId;
  readonly originalId?: EntryId | undefined;
  readonly group?: GroupName | undefined;
  readonly consumer?: ConsumerName | undefined;
  readonly reason?: string | undefined;
  readonly errorType?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly deliveries?: number | undefined;
  readonly replays?: number | undefined;
}
