import type { BusErrorReason } from '../bus';

/** What offers help after a failure: a command of the extension as a button. */
export interface NextStep {
  readonly title: string;
  readonly command: string;
}

/** Why a connection could not be made or was lost, ready to be shown. Holds no secret. */
export interface ConnectionFailure {
  readonly reason:
    BusErrorReason | 'bad-url' | 'missing-variable' | 'not-permitted' | 'disconnected' | 'secret-in-setting';
  /** One sentence: what failed, on what, why, and what to do. */
  readonly message: string;
  readonly retriable: boolean;
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

  get reason(): ConnectionFailure['reason'] {
    return this.failure.reason;
  }

  get retriable(): boolean {
    return this.failure.retriable;
  }

  /** Tells whether a thrown value is a `ConnectionError`, of the given reason when one is given. */
  static is(error: unknown, reason?: ConnectionFailure['reason']): error is ConnectionError {
    return error instanceof ConnectionError && (reason === undefined || error.reason === reason);
  }
}
