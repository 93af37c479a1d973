/** A source of time and timers that can be replaced by a virtual one. Times are milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Runs the callback once after the delay; the returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The process's own clock. Its timers keep the process alive only while `keepAlive` is true. */
export function systemClock(options: { keepAlive: boolean } = { keepAlive: true }): Clock {
  return {
    now: () => Date.now(),
    after(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      if (!options.keepAlive) timer.unref();
      return () => {
        clearTimeout(timer);
      };
    },
  };
}
