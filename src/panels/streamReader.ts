/** What the stream panel reads, as facts; `inspectReader.ts` reads them over a live connection. Times are the server's clock. */
import type { ConsumerName, Entry, EntryId, GroupName, HistoryEvent, MessageHistory, StreamKey } from '../bus';
import type { Standing } from '../bus/inspect/standing';
import type { LiveConnection } from '../connections/liveConnection';
import type { EntriesQuery, Figure } from '../protocol/streamPanel';

/** A group of the stream. */
export interface GroupFacts {
  readonly name: GroupName;
  readonly consumers: number;
  readonly pending: number;
  readonly lag: Figure;
  readonly lastDeliveredId: EntryId;
}

/** The stream as a whole. */
export interface StreamFacts {
  readonly length: number;
  readonly firstId: EntryId | null;
  readonly lastId: EntryId | null;
  readonly groups: readonly GroupFacts[];
  readonly deadLetters: { readonly key: StreamKey; readonly length: number } | null;
  /** An estimate of the server. */
  readonly memoryBytes: Figure;
  /** Until the key expires; null when it does not. */
  readonly timeToLiveMs: number | null;
  readonly serverTimeMs: number;
}

/** A page of entries, newest first. */
export interface EntriesFacts {
  readonly entries: readonly Entry[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

/** What a dead letter tells of the message that died; of foreign formats only what they hold. */
export interface DeadLetterFacts {
  readonly originalId?: EntryId | undefined;
  readonly diedId?: EntryId | undefined;
  readonly stream?: StreamKey | undefined;
  readonly group?: GroupName | undefined;
  readonly consumer?: ConsumerName | undefined;
  readonly reason?: string | undefined;
  readonly errorType?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly deliveries?: number | undefined;
  readonly atMs?: number | undefined;
  readonly replays?: number | undefined;
  readonly format: 'own' | 'foreign';
}

/** All that is known about one entry. */
export interface EntryFacts {
  readonly id: EntryId;
  /** Null when the stream holds no entry with this id. */
  readonly entry: Entry | null;
  readonly standings: readonly Standing[];
  /** What the entry says of itself when it is a dead letter. */
  readonly deadLetter: DeadLetterFacts | null;
  /** All that anybody knows of it and of its copies, oldest first. */
  readonly history: readonly HistoryEvent[];
  readonly journal: MessageHistory['journal'];
  /** Groups that are past it and of which nobody knows how it ended. */
  readonly unknownEndings: readonly GroupName[];
  readonly serverTimeMs: number;
}

/** Reads one stream. Every method rejects with what `describeReadFailure` understands. */
export interface StreamReader {
  overview(signal: AbortSignal): Promise<StreamFacts>;
  entries(query: EntriesQuery, signal: AbortSignal): Promise<EntriesFacts>;
  /** Null when the text is no entry id. */
  entry(id: string, signal: AbortSignal): Promise<EntryFacts | null>;
  /** The entry alone, for copying and opening its values; null when the stream holds none with this id. */
  fields(id: string, signal: AbortSignal): Promise<Entry | null>;
}

/** Makes the reader of a stream over a live connection. */
export type ReaderOf = (connection: LiveConnection, stream: StreamKey) => StreamReader;
