import type { Delivery } from './delivery';

/** Whom the slots tell. */
export interface SlotsOptions {
  readonly concurrency: number;
  start(delivery: Delivery): void;
}

/**
 * The queue of entries that were read and the slots that their handlers run in. No batch barrier: a slot that becomes free takes the
 * next entry at once. Entries with the same order key run one after another, in the order in which they came.
 */
export class Slots {
  private queue: Delivery[] = [];
  private head = 0;
  private occupied = 0;
  private isPumping = false;
  private isOpen = true;
  private readonly busyKeys = new Map<string, Delivery[]>();
  private behindKeys = 0;

  constructor(private readonly options: SlotsOptions) {}

  /** How many entries wait for a slot or for their key. */
  get queued(): number {
    return this.queue.length - this.head + this.behindKeys;
  }

  get running(): number {
    return this.occupied;
  }

  enqueue(delivery: Delivery): void {
    const { orderKey } = delivery;
    if (orderKey !== undefined) {
      const behind = this.busyKeys.get(orderKey);
      if (behind) {
        behind.push(delivery);
        this.behindKeys += 1;
        return;
      }
      this.busyKeys.set(orderKey, []);
    }
    this.queue.push(delivery);
  }

  /** Starts as many as there are free slots. */
  pump(): void {
    if (this.isPumping) return;
    this.isPumping = true;
    while (this.isOpen && this.occupied < this.options.concurrency && this.head < this.queue.length) {
      const delivery = this.queue[this.head];
      this.head += 1;
      if (this.head > 512 && this.head * 2 > this.queue.length) {
        this.queue = this.queue.slice(this.head);
        this.head = 0;
      }
      if (!delivery) continue;
      this.occupied += 1;
      this.options.start(delivery);
    }
    if (this.head === this.queue.length && this.head > 0) {
      this.queue = [];
      this.head = 0;
    }
    this.isPumping = false;
  }

  /** Frees the slot of an entry whose handler ended, or that was not started after all. */
  free(delivery: Delivery): void {
    this.occupied -= 1;
    this.nextOfKey(delivery);
  }

  /** Takes an entry out that has not been started; false when it is not waiting. */
  remove(delivery: Delivery): boolean {
    const at = this.queue.indexOf(delivery, this.head);
    if (at >= 0) {
      this.queue.splice(at, 1);
      this.nextOfKey(delivery);
      return true;
    }
    const behind = delivery.orderKey === undefined ? undefined : this.busyKeys.get(delivery.orderKey);
    const position = behind?.indexOf(delivery) ?? -1;
    if (!behind || position < 0) return false;
    behind.splice(position, 1);
    this.behindKeys -= 1;
    return true;
  }

  /** Starts nothing until `open`. */
  hold(): void {
    this.isOpen = false;
  }

  open(): void {
    this.isOpen = true;
    this.pump();
  }

  /** Empties the queue and returns what was in it. */
  takeQueued(): readonly Delivery[] {
    const taken = [...this.queue.slice(this.head), ...[...this.busyKeys.values()].flat()];
    this.queue = [];
    this.head = 0;
    this.behindKeys = 0;
    this.busyKeys.clear();
    return taken;
  }

  private nextOfKey({ orderKey }: Delivery): void {
    if (orderKey === undefined) return;
    const next = this.busyKeys.get(orderKey)?.shift();
    if (next === undefined) {
      this.busyKeys.delete(orderKey);
      return;
    }
    this.behindKeys -= 1;
    this.queue.push(next);
  }
}
