import type { Clock } from '../../base/clock';
import { HandlerTimeoutError } from './abortReasons';
import { DeliveryContext } from './delivery';
import type { ContextSource, Delivery } from './delivery';
import { readable } from './failureText';
import type { OpenSpan } from '../telemetry/tracing';
import type { Handler, Message } from './handler';

/** How a handler ended, or that it was given up. */
export type Outcome =
  { readonly kind: 'completed' } | { readonly kind: 'failed'; readonly error: unknown; readonly timedOut: boolean };

/** What running handlers needs, and whom it tells. */
export interface HandlerRunsOptions extends Omit<ContextSource, 'extend'> {
  readonly clock: Clock;
  readonly handler: Handler;
  /** 0 for none. */
  readonly timeoutMs: number;
  readonly graceMs: number;
  messageOf(delivery: Delivery): Message;
  /** Before the handler is called; it is called in the context of the span, if there is one. */
  begun(delivery: Delivery): OpenSpan | undefined;
  timedOut(delivery: Delivery): void;
  /** Exactly once for each run: the handler ended, or its grace ended without it. */
  outcome(delivery: Delivery, outcome: Outcome): void;
  /** Exactly once for each run: the handler's promise settled; until then it occupies its slot. `late` when it had been given up. */
  ended(delivery: Delivery, late: boolean): void;
}

const completed: Outcome = { kind: 'completed' };

/** Runs handlers and watches their time. One timer serves all of them. */
export class HandlerRuns {
  readonly running = new Set<Delivery>();
  private readonly source: ContextSource;
  private readonly endWatchers = new Set<(ended: Delivery) => boolean>();
  private cancelTimer: (() => void) | undefined;
  private timerAtMs = Infinity;

  constructor(private readonly options: HandlerRunsOptions) {
    this.source = {
      group: options.group,
      consumer: options.consumer,
      log: options.log,
      extend: (delivery, ms) => {
        this.extend(delivery, ms);
      },
    };
  }

  /** How many were given up but still run. */
  get stuck(): number {
    let count = 0;
    for (const delivery of this.running) if (delivery.isSettled) count += 1;
    return count;
  }

  start(delivery: Delivery): void {
    const { handler, timeoutMs } = this.options;
    delivery.isRunning = true;
    delivery.startedAtMs = this.options.clock.now();
    if (timeoutMs > 0) delivery.deadlineMs = delivery.startedAtMs + timeoutMs;
    this.running.add(delivery);
    let result: unknown;
    try {
      const span = this.options.begun(delivery);
      const message = this.options.messageOf(delivery);
      const context = new DeliveryContext(this.source, delivery);
      result = span ? span.run(() => handler(message, context)) : handler(message, context);
    } catch (error) {
      this.failed(delivery, error);
      return;
    }
    if (!isThenable(result)) {
      this.ended(delivery, completed);
      return;
    }
    if (timeoutMs > 0) this.watch(delivery.deadlineMs);
    result.then(
      () => {
        this.ended(delivery, completed);
      },
      (error: unknown) => {
        this.failed(delivery, error);
      },
    );
  }

  /** Resolves when the handlers of all these have ended. */
  whenEnded(deliveries: Iterable<Delivery>): Promise<void> {
    const left = new Set([...deliveries].filter(({ isRunning }) => isRunning));
    if (left.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.endWatchers.add((delivery) => {
        left.delete(delivery);
        if (left.size > 0) return false;
        resolve();
        return true;
      });
    });
  }

  /** Stops the timer; handlers that run are no longer watched. */
  dispose(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
  }

  private failed(delivery: Delivery, error: unknown): void {
    this.ended(delivery, { kind: 'failed', error: readable(error), timedOut: delivery.abortKind === 'timeout' });
  }

  private ended(delivery: Delivery, outcome: Outcome): void {
    this.running.delete(delivery);
    delivery.isRunning = false;
    delivery.deadlineMs = Infinity;
    const late = delivery.isSettled;
    if (!late) this.options.outcome(delivery, outcome);
    this.options.ended(delivery, late);
    for (const watcher of this.endWatchers) if (watcher(delivery)) this.endWatchers.delete(watcher);
  }

  private extend(delivery: Delivery, ms: number): void {
    if (!(ms > 0) || delivery.abortKind !== undefined || delivery.deadlineMs === Infinity) return;
    delivery.deadlineMs = Math.max(delivery.deadlineMs, this.options.clock.now() + ms);
  }

  private watch(deadlineMs: number): void {
    if (deadlineMs >= this.timerAtMs) return;
    this.cancelTimer?.();
    this.timerAtMs = deadlineMs;
    const { clock } = this.options;
    this.cancelTimer = clock.after(Math.max(0, deadlineMs - clock.now()), () => {
      this.cancelTimer = undefined;
      this.timerAtMs = Infinity;
      this.checkDeadlines();
    });
  }

  private checkDeadlines(): void {
    const now = this.options.clock.now();
    let next = Infinity;
    for (const delivery of [...this.running]) {
      if (delivery.deadlineMs <= now) this.overdue(delivery, now);
      if (delivery.isRunning && delivery.deadlineMs < next) next = delivery.deadlineMs;
    }
    if (next < Infinity) this.watch(next);
  }

  private overdue(delivery: Delivery, now: number): void {
    const { timeoutMs, graceMs } = this.options;
    if (delivery.abortKind === undefined) {
      delivery.deadlineMs = now + graceMs;
      this.options.timedOut(delivery);
      delivery.abort('timeout', new HandlerTimeoutError(timeoutMs));
      return;
    }
    delivery.deadlineMs = Infinity;
    if (delivery.isSettled || delivery.abortKind !== 'timeout') return;
    this.options.outcome(delivery, { kind: 'failed', error: new HandlerTimeoutError(timeoutMs), timedOut: true });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
