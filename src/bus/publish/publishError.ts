import { displayText } from '../../base/byteText';
import { BusError } from '../errors';
import type { StreamKey } from '../ids';

/** Why a message was not, or may not have been, published; `invalid`: it does not fit its topic's schema or codec. */
export type PublishErrorReason =
  'timeout' | 'aborted' | 'connection' | 'out-of-memory' | 'too-wide' | 'invalid' | 'refused' | 'middleware';

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

/** What went wrong on the way to the server, as publishing tells it; anything but a `BusError` is left as it is. */
export function publishError(stream: StreamKey, error: unknown, wasAmbiguous = false): unknown {
  if (!BusError.is(error)) return error;
  const ambiguous = wasAmbiguous || error.details.ambiguous === true;
  const reason =
    error.reason === 'out-of-memory'
      ? 'out-of-memory'
      : error.reason === 'connection-lost' || error.reason === 'connection-refused' || error.reason === 'timeout'
        ? 'connection'
        : 'refused';
  const doubt = ambiguous ? '; it may have been published' : '';
  return new PublishError(
    reason,
    stream,
    ambiguous,
    `Cannot publish to ${displayText(stream)}: ${error.message}${doubt}`,
    {
      cause: error,
    },
  );
}

/** The caller's signal was aborted. */
export function aborted(stream: StreamKey, ambiguous: boolean, signal: AbortSignal | undefined): PublishError {
  const doubt = ambiguous ? '; it may have been published' : '';
  return new PublishError('aborted', stream, ambiguous, `Publishing to ${displayText(stream)} was aborted${doubt}`, {
    cause: signal?.reason,
  });
}
