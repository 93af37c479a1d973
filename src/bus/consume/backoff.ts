/** How long to wait before another try: `attempt` is 1 for the first, the answer is milliseconds. */
export type Backoff = (attempt: number) => number;

/** The options of `exponential`. */
export interface ExponentialOptions {
  /** The first delay. Default 500. */
  readonly baseMs?: number;
  /** The longest delay. Default 30,000. */
  readonly maxMs?: number;
  /** What part of the delay is left to chance, 0 to 1, so that those who failed together do not return together. Default 0.2. */
  readonly jitter?: number;
  /** A source of numbers from 0 to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Doubles the delay with each attempt, up to a maximum; the last part of it, as much as `jitter` says, is random. */
export function exponential(options: ExponentialOptions = {}): Backoff {
  const { baseMs = 500, maxMs = 30_000, jitter = 0.2, random = Math.random } = options;
  return (attempt) => {
    const delay = Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(0, attempt - 1), 50));
    return Math.round(delay * (1 - jitter + jitter * random()));
  };
}

/** The longest delay that timers can count. */
const maxDelayMs = 2 ** 31 - 1;

/** A backoff of a user's own: when it throws, or answers no number from 0 on, the delay is as by default, so that the retry comes. */
export function checkedBackoff(backoff: Backoff): Backoff {
  const otherwise = exponential();
  return (attempt) => {
    try {
      const delayMs: unknown = backoff(attempt);
      return typeof delayMs === 'number' && delayMs >= 0 ? Math.min(delayMs, maxDelayMs) : otherwise(attempt);
    } catch {
      return otherwise(attempt);
    }
  };
}
