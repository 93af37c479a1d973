/**
 * What kind of failure a `BusError` is.
 *
 * Of those that do not speak for themselves: `closed` is our own doing; `moved` covers every redirection of a cluster that was
 * not followed; `loading` is a server that cannot serve now (loading, busy with a script, cluster down); `writes-refused` is
 * MISCONF or too few replicas; `id-not-greater` an XADD with an id that is not above the last one; `protocol` a reply that has not
 * the expected shape; `server` any other error reply.
 */
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
  | 'id-not-greater'
  | 'writes-refused'
  | 'invalid-argument'
  | 'server'
  | 'protocol';

/** What is known of a failure besides its kind. None of it ever holds payload bytes or secrets. */
export interface BusErrorDetails {
  /** The Redis command or script that failed. */
  readonly command?: string;
  /** True when the command may have been carried out although no reply came. */
  readonly ambiguous?: boolean;
  /** Where a cluster says that the key is, with reason `moved`; `ask` is for this one command only. */
  readonly redirect?: {
    readonly kind: 'moved' | 'ask';
    readonly slot: number;
    readonly host: string;
    readonly port: number;
  };
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
  'writes-refused',
  'unblocked',
  'moved',
  'loading',
]);
