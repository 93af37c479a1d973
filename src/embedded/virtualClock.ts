import type { Clock } from '../base/clock';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until it is told to advance: for tests in virtual time. */
export class VirtualClock implements Clock {
  private readonly timers = new Set<Timer>();
  private nextOrder = 0;

  constructor(private nowMs = 1_700_000_000_000) {}

  now(): number {
    return this.nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.nowMs + Math.max(0, Math.ceil(delayMs)), order: this.nextOrder, run };
    this.nextOrder += 1;
    this.timers.add(timer);
    return () => {
      this.timers.delete(timer);
    };
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.timers.size;
  }

  /**
   * Moves time on, running what becomes due in order. Before each timer and at the end, everything that waits for promises only
   * gets to run; what waits for real time or I/O does not.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (;;) {
      await settle();
      const next = this.nextDue(endMs);
      if (!next) break;
      this.timers.delete(next);
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.run();
    }
    this.nowMs = endMs;
    await settle();
  }

  private nextDue(endMs: number): Timer | undefined {
    let found: Timer | undefined;
    for (const timer of this.timers) {
      if (timer.dueMs > endMs) continue;
      const isEarlier =
        !found || timer.dueMs < found.dueMs || (timer.dueMs === found.dueMs && timer.order < found.order);
      if (isEarlier) found = timer;
    }
    return found;
  }
}

/** Lets promises that are settled or settle each other run to their end. */
async function settle(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
