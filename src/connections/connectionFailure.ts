import type { BusErrorReason } from '../bus';
import type { CommandId } from '../manifest/commands';

/** What offers help after a failure: a command of the extension as a button. */
export interface NextStep {
  readonly title: string;
  readonly command: CommandId;
}

/** What kind of failure it is: the bus's own reasons, and what goes wrong before the bus is asked. */
export type FailureReason =
  | BusErrorReason
  | 'bad-url'
  | 'missing-variable'
  | 'disconnected'
  | 'cancelled'
  | 'read-only'
  | 'not-logged'
  | 'unexpected';

/** Why something could not be done on a connection, ready to be shown. Holds no secret and no payload. */
export interface ConnectionFailure {
  readonly reason: FailureReason;
  /** One sentence: what failed, on what, why, and what to do. */
  readonly message: string;
  readonly retriable: boolean;
  readonly nextStep?: NextStep;
}

/** Thrown when a connection cannot be made or is not there. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  constructor(
    readonly failure: ConnectionFailure,
    options: { readonly cause?: unknown } = {},
  ) {
    super(failure.message, options);
  }

  get reason(): FailureReason {
    return this.failure.reason;
  }

  get retriable(): boolean {
    return this.failure.retriable;
  }

  /** Tells whether a thrown value is a `ConnectionError`, of the given reason when one is given. */
  static is(error: unknown, reason?: FailureReason): error is ConnectionError {
    return error instanceof ConnectionError && (reason === undefined || error.reason === reason);
  }
}
