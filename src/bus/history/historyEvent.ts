import type { ConsumerName, EntryId, GroupName } from '../ids';
import type { JournalEventName } from './journalEvent';

/**
 * Where an event is known from. `recorded`: a journal. `observed`: sampled by who watched. `derived`: dead letters and replays that
 * carry the id. `server`: what the server tells now.
 */
export type HistorySource = 'recorded' | 'observed' | 'derived' | 'server';

/** One event in the life of a message, from whoever knows of it. What is left out is not known. */
export interface HistoryEvent {
  /**
   * `added`: the message's first entry. `pending`: its last delivery, which is not acknowledged. `settled`: it was seen to be not
   * pending any more, and how that came is not known.
   */
  readonly kind: JournalEventName | 'added' | 'pending' | 'settled';
  /** Never empty; several when they agree. */
  readonly sources: readonly HistorySource[];
  /** By the server's clock; undefined when no source tells. */
  readonly atMs: number | undefined;
  /** Of `settled`: when it was seen to be pending before. */
  readonly sinceMs?: number;
  /** The entry that it happened to: the one that was asked for, or another copy of the message. Of `replayed` the first. */
  readonly id: EntryId;
  readonly group?: GroupName;
  readonly consumer?: ConsumerName;
  /** The delivery count; of `replayed` how often the message was replayed by then. */
  readonly attempt?: number;
  /** How long the handler ran; of `retry-scheduled` the delay. */
  readonly durationMs?: number;
  readonly error?: { readonly type: string; readonly message: string; readonly stack?: string };
  /** Why it is a dead letter. */
  readonly reason?: string;
  /** The entry that a replay made. */
  readonly copy?: EntryId;
  /** Of `pending`: its message was deleted or trimmed, or it was released and nobody owns it. */
  readonly state?: 'gone' | 'released';
  /** Of `pending`, and of a delivery that is the one that is pending now. */
  readonly isPending?: boolean;
  readonly host?: string;
  readonly pid?: string;
  readonly version?: string;
}
