/** What kind of failure a `BusError` is. */
export type BusErrorReason =
  | 'connection-refused'
  | 'connection-lost'
  | 'timeout'
  | 'closed'
  | 'tls'
  | 'not-redis'
  | 'authentication'
  | 'no-permission'
  | 'no-key'
  | 'no-group'
  | 'group-exists'
  | 'wrong-type'
  | 'out-of-memory'
  | 'read-only-replica'
  | 'unblocked'
  | 'cross-slot'
  | 'moved'
  | 'loading'
  | 'unknown-command'
  | 'unknown-script'
  | 'exhausted-ids'
  | 'server'
  | 'protocol';

/** What is known of a failure besides its kind. None of it ever holds payload bytes or secrets. */
export interface BusErrorDetails {
  /** The Redis command or script that failed. */
  readonly command?: string;
  /** True when the command may have been carried out although no reply came. */
  readonly ambiguous?: boolean;
}

/** A failure of the bus or of the server behind it. `retriable` says whether the same call may succeed later unchanged. */
export class BusError extends Error {
  override readonly name = 'BusError';

  constructor(
    readonly reason: BusErrorReason,
    message: string,
    readonly details: BusErrorDetails = {},
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }

  get retriable(): boolean {
    return retriableReasons.has(this.reason);
  }

  /** Tells whether a thrown value is a `BusError`, of the given reason when one is given. */
  static is(error: unknown, reason?: BusErrorReason): error is BusError {
    return error instanceof BusError && (reason === undefined || error.reason === reason);
  }
}

const retriableReasons: ReadonlySet<BusErrorReason> = new Set<BusErrorReason>([
  'connection-refused',
  'connection-lost',
  'timeout',
  'out-of-memory',
  'read-only-replica',
  'unblocked',
  'moved',
  'loading',
]);
