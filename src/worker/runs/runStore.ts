/**
 * Runs and where they are kept: what the reference application is about.
 *
 * A run is a person's input and, once a worker has executed it, a reply. The gateway persists it before it publishes it, so the store
 * is the truth and the stream only says that there is work. Two implementations, in memory and PostgreSQL, pass one contract suite:
 * `test/worker/runStore.contract.ts`.
 */
import type { EntryId } from '../../bus';

/** How far a run is: not executed yet, executed, or given up. */
export type RunStatus = 'pending' | 'done' | 'failed';

/** Why a run was given up: what its dead letter says. */
export interface RunFailure {
  /** The reason of the dead letter, such as `handler-error` or `delivery-limit`. */
  readonly reason: string;
  /** The message of the last error, without secrets; empty when no handler lived to tell one. */
  readonly message: string;
}

/** A run as somebody submits it. */
export interface NewRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly idempotencyKey: string;
  readonly input: string;
}

/** A run as it stands. */
export interface Run extends NewRun {
  readonly status: RunStatus;
  /** The entry that carries it; undefined while the store has not been told of one. */
  readonly streamId: EntryId | undefined;
  readonly reply: string | undefined;
  readonly failure: RunFailure | undefined;
  /** By the store's clock. */
  readonly createdAtMs: number;
}

/** Where a page of pending runs ended; give it back for the next. */
export interface PendingCursor {
  readonly createdAt: string;
  readonly runId: string;
}

/** A page of pending runs, oldest first. */
export interface PendingRuns {
  readonly runs: readonly Run[];
  /** Undefined when this was the last page. */
  readonly next: PendingCursor | undefined;
}

/** The database of a store cannot be used; the message says why, without its URL. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** The store did not answer, and may do so later; what was asked of it may have been done. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/**
 * Keeps runs. Every method is one atomic step, and doing it twice is the same as doing it once. They reject with a
 * `StoreUnavailableError` when asking again may help.
 */
export interface RunStore {
  readonly kind: 'memory' | 'postgres';
  /** Inserts a run, unless one has its idempotency key already: then that one is answered and nothing is inserted. */
  create(run: NewRun): Promise<{ readonly run: Run; readonly isNew: boolean }>;
  get(runId: string): Promise<Run | undefined>;
  /** Notes which entry carries a run; one that is not pending keeps the entry that it has. */
  published(runId: string, streamId: EntryId): Promise<void>;
  /**
   * Writes the reply and marks the run done, both or neither. False when it was done already, whose reply then stays. `streamId` is the
   * entry that was executed: who published it may note that later, or never.
   */
  complete(runId: string, reply: string, streamId?: EntryId): Promise<boolean>;
  /** Marks a pending run failed. False when it is not pending: a reply is never taken back. */
  fail(runId: string, failure: RunFailure): Promise<boolean>;
  /** Makes a failed run pending again because an entry carries it once more, as after a replay. */
  reopen(runId: string, streamId: EntryId): Promise<boolean>;
  /** Pending runs that are at least so old. */
  listPending(query: {
    readonly olderThanMs: number;
    readonly limit: number;
    readonly after?: PendingCursor;
  }): Promise<PendingRuns>;
  /** How many replies are written for a run: 0 or 1, whatever crashed. */
  countReplies(runId: string): Promise<number>;
  /** Removes the runs of a session and their replies; how many runs there were. */
  forgetSession(sessionId: string): Promise<number>;
  close(): Promise<void>;
}
