import type { EntryId } from '../ids';

/** What became of everything that a consumer held when it was closed. */
export interface CloseReport {
  /** Handlers that came to an end after `close` was called and were settled. */
  readonly completed: number;
  /** Handlers that were asked to stop because the time was up. */
  readonly aborted: number;
  /** Entries given back without their delivery being counted. */
  readonly released: number;
  /** Acknowledgements that were sent during the close. */
  readonly acknowledged: number;
  /** Entries that could be neither acknowledged nor given back; another consumer gets them after the minimum idle time. */
  readonly leftPending: readonly EntryId[];
  /** Handlers that still run: they ignored their abort signal. */
  readonly stillRunning: readonly EntryId[];
  /** True when the consumer, owning nothing any more, is not in the group any more. */
  readonly removed: boolean;
  readonly durationMs: number;
}
