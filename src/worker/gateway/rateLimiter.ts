import type { Clock } from '../../base/clock';

/** How often a session may submit. */
export interface RateLimiterOptions {
  /** So many a minute, all of which may come at once. */
  readonly perMinute: number;
  /** How many sessions are remembered at most. Default 10,000. */
  readonly maxSessions?: number;
  readonly clock: Clock;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * Limits how often a session may submit, by a bucket of tokens that fills evenly. It counts in this process: behind a load balancer
 * every gateway grants as much.
 */
export class RateLimiter {
  /** The one used last is last. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly options: RateLimiterOptions) {}

  /** Takes a token; answers 0, or after how many milliseconds there is one again. */
  take(session: string): number {
    const { perMinute, maxSessions = 10_000, clock } = this.options;
    const now = clock.now();
    const msPerToken = 60_000 / perMinute;
    const found = this.buckets.get(session) ?? { tokens: perMinute, atMs: now };
    const tokens = Math.min(perMinute, found.tokens + Math.max(0, now - found.atMs) / msPerToken);
    const isGranted = tokens >= 1;
    this.buckets.delete(session);
    this.buckets.set(session, { tokens: isGranted ? tokens - 1 : tokens, atMs: now });
    const oldest = this.buckets.keys().next();
    if (this.buckets.size > maxSessions && oldest.done !== true) this.buckets.delete(oldest.value);
    return isGranted ? 0 : Math.ceil((1 - tokens) * msPerToken);
  }
}
