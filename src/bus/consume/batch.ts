import type { Clock } from '../../base/clock';
import type { Backoff } from './backoff';

/** What a batch needs to know. */
export interface BatchOptions<Item> {
  readonly clock: Clock;
  readonly maxItems: number;
  readonly backoff: Backoff;
  /** Sends items; `attempt` is 1 unless these items were tried before. */
  send(items: readonly Item[], attempt: number): Promise<void>;
  /** Says after a failure whether to try these items again. */
  failed(error: unknown, items: readonly Item[]): 'retry' | 'drop';
}

/**
 * Collects items over a tick of the event loop and sends them together, one batch at a time: the busier the link, the larger the
 * batches. What fails is kept and tried again after a backoff.
 */
export class Batch<Item> {
  private waiting: Item[] = [];
  private isSending = false;
  private isScheduled = false;
  private attempt = 1;
  private cancelRetry: (() => void) | undefined;
  private idleWaiters: (() => void)[] = [];
  private isStopped = false;

  constructor(private readonly options: BatchOptions<Item>) {}

  /** How many items have not been sent with success. */
  get size(): number {
    return this.waiting.length + this.sendingCount;
  }

  push(item: Item): void {
    this.waiting.push(item);
    if (this.isScheduled || this.isSending || this.cancelRetry) return;
    this.isScheduled = true;
    setImmediate(this.flush);
  }

  /** Sends what waits without waiting for a backoff to pass; resolves when nothing is left, or at once after `stop`. */
  idle(): Promise<void> {
    if (this.size === 0 || this.isStopped) return Promise.resolve();
    this.cancelRetry?.();
    this.cancelRetry = undefined;
    if (!this.isSending) this.flush();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** Gives up what has not been sent and returns it. */
  stop(): readonly Item[] {
    this.isStopped = true;
    this.cancelRetry?.();
    this.cancelRetry = undefined;
    const left = this.waiting;
    this.waiting = [];
    this.resolveIdle();
    return left;
  }

  private sendingCount = 0;

  private readonly flush = (): void => {
    this.isScheduled = false;
    if (this.isSending || this.waiting.length === 0) return;
    const { maxItems } = this.options;
    let items = this.waiting;
    if (items.length <= maxItems) this.waiting = [];
    else {
      this.waiting = items.slice(maxItems);
      items = items.slice(0, maxItems);
    }
    this.isSending = true;
    this.sendingCount = items.length;
    this.options.send(items, this.attempt).then(
      () => {
        this.attempt = 1;
        this.sent();
      },
      (error: unknown) => this.failed(error, items),
    );
  };

  private sent(): void {
    this.isSending = false;
    this.sendingCount = 0;
    if (this.waiting.length > 0) this.flush();
    else this.resolveIdle();
  }

  private failed(error: unknown, items: readonly Item[]): void {
    if (this.options.failed(error, items) === 'drop' || this.isStopped) {
      this.attempt = 1;
      this.sent();
      return;
    }
    this.isSending = false;
    this.sendingCount = 0;
    this.waiting = [...items, ...this.waiting];
    const delayMs = this.options.backoff(this.attempt);
    this.attempt += 1;
    this.cancelRetry = this.options.clock.after(delayMs, () => {
      this.cancelRetry = undefined;
      this.flush();
    });
  }

  private resolveIdle(): void {
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
