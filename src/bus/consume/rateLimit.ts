import { systemClock } from '../../base/clock';
import type { Clock } from '../../base/clock';
import { checkOptions, integer, withMethods } from '../options';
import type { Middleware } from './consumerOptions';

/** The options of `rateLimit`. */
export interface RateLimitOptions {
  /** How many handlers may start in a second, in this process. */
  readonly perSecond: number;
  /** How many may start at once after a quiet time. Default: as many as in a second. */
  readonly burst?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Middleware that lets so many handlers start in a second, evenly after a first burst. One that waits occupies its slot, and its time
 * counts towards the handler's timeout.
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  checkOptions('rateLimit', options, {
    perSecond: integer(1),
    burst: integer(1),
    clock: withMethods('now', 'after'),
  });
  const { perSecond, burst = perSecond, clock = systemClock() } = options;
  const everyMs = 1000 / perSecond;
  /** When the next start would be due if starts were spread evenly; it may lie up to a burst in the past. */
  let nextMs = -Infinity;
  return async (_message, { signal }, next) => {
    const now = clock.now();
    const dueMs = Math.max(nextMs, now - (burst - 1) * everyMs);
    nextMs = dueMs + everyMs;
    if (dueMs > now) await wait(clock, dueMs - now, signal);
    await next();
  };
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(signal.reason instanceof Error ? signal.reason : new Error('Aborted'));
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
