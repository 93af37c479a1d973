import type { Stream } from './stream';

/** A value of type string. */
export interface StringValue {
  readonly type: 'string';
  readonly bytes: Buffer;
}

/** What a key can hold. */
export type Value = Stream | StringValue;

/** A key with its value; `serial` is larger than that of every key made before. */
export interface KeyEntry {
  readonly key: string;
  readonly serial: number;
  value: Value;
  /** Milliseconds since the epoch, undefined when it does not expire. */
  expiresMs: number | undefined;
}

/**
 * The keys of one database.
 *
 * SCAN walks from the newest key to the oldest: a key that exists from the scan's start to its end is seen exactly once, keys made
 * meanwhile are not seen, and a scan always ends.
 */
export class Keyspace {
  private readonly entries = new Map<string, KeyEntry>();
  private readonly expiring = new Set<KeyEntry>();
  private order: (KeyEntry | undefined)[] = [];
  private orderSerials: number[] = [];
  private holes = 0;
  private nextSerial = 1;

  get size(): number {
    return this.entries.size;
  }

  get expiringCount(): number {
    return this.expiring.size;
  }

  get(key: string): KeyEntry | undefined {
    return this.entries.get(key);
  }

  keys(): IterableIterator<string> {
    return this.entries.keys();
  }

  /** Makes a key that is not there. */
  add(key: string, value: Value): KeyEntry {
    const entry: KeyEntry = { key, serial: this.nextSerial, value, expiresMs: undefined };
    this.nextSerial += 1;
    this.entries.set(key, entry);
    this.order.push(entry);
    this.orderSerials.push(entry.serial);
    return entry;
  }

  delete(entry: KeyEntry): void {
    this.entries.delete(entry.key);
    this.expiring.delete(entry);
    this.order[this.positionOf(entry.serial)] = undefined;
    this.holes += 1;
    if (this.holes > 64 && this.holes * 2 > this.order.length) this.compact();
  }

  setExpiry(entry: KeyEntry, expiresMs: number | undefined): void {
    entry.expiresMs = expiresMs;
    if (expiresMs === undefined) this.expiring.delete(entry);
    else this.expiring.add(entry);
  }

  clear(): void {
    this.entries.clear();
    this.expiring.clear();
    this.order = [];
    this.orderSerials = [];
    this.holes = 0;
  }

  /** Some keys whose time is over; a bounded piece of work, so that expired keys do not pile up. */
  expired(nowMs: number, limit: number): KeyEntry[] {
    const found: KeyEntry[] = [];
    let looked = 0;
    for (const entry of this.expiring) {
      looked += 1;
      if (looked > limit) break;
      if (entry.expiresMs !== undefined && nowMs > entry.expiresMs) found.push(entry);
      else if (this.expiring.size > limit) {
        this.expiring.delete(entry);
        this.expiring.add(entry);
      }
    }
    return found;
  }

  /** One step of a scan below a serial (0 starts): the next keys, and where to go on (0 at the end). */
  scan(below: number, count: number): { readonly next: number; readonly entries: readonly KeyEntry[] } {
    let position = below === 0 ? this.order.length : this.positionOf(below);
    const entries: KeyEntry[] = [];
    while (position > 0 && entries.length < count) {
      position -= 1;
      const entry = this.order[position];
      if (entry) entries.push(entry);
    }
    while (position > 0 && this.order[position - 1] === undefined) position -= 1;
    const last = entries[entries.length - 1];
    return { next: position === 0 || !last ? 0 : last.serial, entries };
  }

  /** The first position whose serial is not below this one. */
  private positionOf(serial: number): number {
    let low = 0;
    let high = this.orderSerials.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.orderSerials[middle] ?? 0) < serial) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private compact(): void {
    this.order = this.order.filter((entry) => entry !== undefined);
    this.orderSerials = this.order.map((entry) => entry?.serial ?? 0);
    this.holes = 0;
  }
}
