// A clock that stands still until a test moves it. Tested by the tests that use it: their timers would never run otherwise.
import type { Clock } from '../../src/base/clock';

/** Time in a test's hands. */
export interface ManualClock extends Clock {
  /** Moves time on and runs what became due, in order. */
  advance(ms: number): void;
  /** How many timers wait. */
  readonly waiting: number;
}

/** Makes a clock that starts at `nowMs`. */
export function manualClock(nowMs = 1_700_000_000_000): ManualClock {
  const timers = new Map<symbol, { readonly dueMs: number; readonly run: () => void }>();
  return {
    now: () => nowMs,
    after: (delayMs, run) => {
      const id = Symbol('timer');
      timers.set(id, { dueMs: nowMs + delayMs, run });
      return () => {
        timers.delete(id);
      };
    },
    advance: (ms) => {
      const end = nowMs + ms;
      for (;;) {
        const due = [...timers].filter(([, { dueMs }]) => dueMs <= end).sort(([, a], [, b]) => a.dueMs - b.dueMs);
        const [next] = due;
        if (!next) break;
        timers.delete(next[0]);
        nowMs = Math.max(nowMs, next[1].dueMs);
        next[1].run();
      }
      nowMs = end;
    },
    get waiting() {
      return timers.size;
    },
  };
}
