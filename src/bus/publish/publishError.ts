import type { StreamKey } from '../ids';

/** Why a message was not, or may not have been, published. */
export type PublishErrorReason =
  'timeout' | 'aborted' | 'connection' | 'out-of-memory' | 'too-wide' | 'refused' | 'middleware';

/** A message was not published or, when `ambiguous`, may or may not have been: the link broke or time was up after it was sent. */
export class PublishError extends Error {
  override readonly name = 'PublishError';

  constructor(
    readonly reason: PublishErrorReason,
    readonly stream: StreamKey,
    /** True when the entry may be in the stream. Publishing again may then make a second one, unless there is a `dedupeKey`. */
    readonly ambiguous: boolean,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }

  static is(error: unknown, reason?: PublishErrorReason): error is PublishError {
    return error instanceof PublishError && (reason === undefined || error.reason === reason);
  }
}
