import type { ConsumerName, EntryId, GroupName } from '../ids';

/** What happened to a message at one time, as a journal tells it. */
export type JournalEventName = (typeof journalEventNames)[number];

/** Every event that a journal may hold. */
export const journalEventNames = [
  'delivered',
  'claimed',
  'acknowledged',
  'failed',
  'timed-out',
  'retry-scheduled',
  'dead-lettered',
  'replayed',
  'released',
  'ownership-lost',
] as const;

/** One entry of a delivery journal; docs/formats.md has the format. Everything but the event, the id and the time may be missing. */
export interface JournalEvent {
  /** Its own id in the journal. */
  readonly journalId: EntryId;
  readonly event: JournalEventName;
  /** The entry that it is about. */
  readonly id: EntryId;
  readonly atMs: number;
  readonly group?: GroupName;
  readonly consumer?: ConsumerName;
  /** The delivery count at that time; of `replayed` how often the message has been replayed. */
  readonly attempt?: number;
  /** How long the handler ran; of `retry-scheduled` the delay. */
  readonly durationMs?: number;
  readonly error?: { readonly type: string; readonly message: string; readonly stack?: string };
  readonly host?: string;
  readonly pid?: string;
  readonly version?: string;
}
