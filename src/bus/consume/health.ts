/** How a consumer is doing, by the progress of its loop and not by whether it claims to run. */
export interface ConsumerHealth {
  /**
   * `stalled`: no step of the loop came to an end for longer than two blocks and the longest backoff. `reconnecting`: the link is down
   * and is being tried. `failed`: stopped for good by a failure that no retry mends.
   */
  readonly status:
    'idle' | 'starting' | 'running' | 'paused' | 'reconnecting' | 'stalled' | 'failed' | 'closing' | 'closed';
  /** Since the loop last made progress, milliseconds. */
  readonly lastProgressAgeMs: number;
  /** Entries read and waiting for a slot. */
  readonly queued: number;
  /** Handlers that run, those that were given up included. */
  readonly inFlight: number;
  /** Handlers that run although their time and grace are over: each blocks a slot. */
  readonly stuck: number;
  /** Entries that wait to be acknowledged, retried, released or moved. */
  readonly unsettled: number;
  readonly reconnects: number;
  /** The last failure of the link, also when it is mended. */
  readonly lastError: unknown;
}

/** The longest wait between two tries of the loop. */
export const longestBackoffMs = 5000;

/** Judges a loop that is meant to run by when it last made progress. */
export function loopStatus(loop: {
  readonly isFailing: boolean;
  readonly isWaitingForRoom: boolean;
  readonly lastProgressAgeMs: number;
  readonly blockMs: number;
}): 'running' | 'reconnecting' | 'stalled' {
  if (loop.isFailing) return 'reconnecting';
  const limitMs = 2 * loop.blockMs + longestBackoffMs;
  return !loop.isWaitingForRoom && loop.lastProgressAgeMs > limitMs ? 'stalled' : 'running';
}
