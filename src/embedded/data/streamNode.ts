import type { Args } from '../args';
import type { Int } from './int64';
import { subtractInt64 } from './int64';
import { emptyListpackSize, integerElementSize, stringElementSize } from './listpackSize';
import type { StreamId } from './streamId';
import { compareHalves } from './streamId';

const maxNodeEntries = 100;
const maxNodeBytes = 4096;

/** Where the bytes of an entry's fields are: a RESP array of bulk strings, `*2\r\n$5\r\nfield\r\n$5\r\nvalue\r\n`. */
export interface FieldBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * A run of entries that Redis would keep in one node of its radix tree.
 *
 * The bytes of all its entries are consecutive in `bytes`, a slab that neighbouring nodes share. They are never changed once
 * written, so that a reply may refer to them. A deleted entry stays as a tombstone until its whole node goes.
 */
export class StreamNode {
  private ms: Int[] = [];
  private seq: Int[] = [];
  private ends: number[] = [];
  private tombstones: Uint8Array | undefined;
  /** How many entries are not deleted. */
  live = 0;
  private listpackBytes: number;
  private readonly masterFields: readonly Buffer[];

  constructor(
    public bytes: Buffer,
    private begin: number,
    args: Args,
    firstField: number,
    previous: StreamNode | undefined,
  ) {
    const shared = previous?.hasMasterFields(args, firstField, (args.count - firstField) / 2);
    const fields: Buffer[] = [];
    let size = emptyListpackSize + 2 + 2 + 2;
    for (let i = firstField; i < args.count; i += 2) {
      if (shared !== true) fields.push(args.bytes(i));
      size += stringElementSize(args.buffer, args.start(i), args.end(i));
    }
    // Neighbours mostly have the same fields: one copy of their names serves them all.
    this.masterFields = shared === true && previous ? previous.masterFields : fields;
    this.listpackBytes = size + integerElementSize(this.masterFields.length);
  }

  /** How many entries there are, tombstones included. */
  get count(): number {
    return this.ends.length;
  }

  /** Where the next entry's bytes belong. */
  get end(): number {
    return this.ends[this.ends.length - 1] ?? this.begin;
  }

  /** Tells whether Redis would start a new node for an entry with these many bytes of fields and values. */
  isFull(addedBytes: number): boolean {
    return this.listpackBytes + addedBytes >= maxNodeBytes || this.count >= maxNodeEntries;
  }

  /** Notes an entry whose bytes were written at `end` up to `newEnd`. */
  push(id: StreamId, newEnd: number, args: Args, firstField: number): void {
    this.listpackBytes += this.entrySize(id, args, firstField);
    this.ms.push(id.ms);
    this.seq.push(id.seq);
    this.ends.push(newEnd);
    this.live += 1;
  }

  /** Gives back the room that the lists keep for growing; no entry is added any more. */
  seal(): void {
    this.ms = this.ms.slice();
    this.seq = this.seq.slice();
    this.ends = this.ends.slice();
  }

  /** Moves the bytes to another place, where more can follow. */
  moveTo(slab: Buffer, offset: number): void {
    this.bytes.copy(slab, offset, this.begin, this.end);
    const shift = offset - this.begin;
    for (let i = 0; i < this.ends.length; i++) this.ends[i] = (this.ends[i] ?? 0) + shift;
    this.bytes = slab;
    this.begin = offset;
  }

  idAt(index: number): StreamId {
    return { ms: this.ms[index] ?? 0, seq: this.seq[index] ?? 0 };
  }

  /** Orders the entry against an id. */
  compareAt(index: number, id: StreamId): number {
    return compareHalves(this.ms[index] ?? 0, this.seq[index] ?? 0, id.ms, id.seq);
  }

  fieldsAt(index: number): FieldBytes {
    const start = index === 0 ? this.begin : (this.ends[index - 1] ?? 0);
    return { bytes: this.bytes, start, end: this.ends[index] ?? 0 };
  }

  isDeleted(index: number): boolean {
    return this.tombstones?.[index] === 1;
  }

  markDeleted(index: number): void {
    this.tombstones ??= new Uint8Array(maxNodeEntries);
    this.tombstones[index] = 1;
    this.live -= 1;
  }

  /** The first entry, deleted or not, that is not below the id. */
  lowerBound(id: StreamId): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareAt(middle, id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private entrySize(id: StreamId, args: Args, firstField: number): number {
    const fieldCount = (args.count - firstField) / 2;
    const isSame = this.hasMasterFields(args, firstField, fieldCount);
    const first = this.count === 0 ? id : this.idAt(0);
    let size = 2;
    size += integerElementSize(subtractInt64(id.ms, first.ms)) + integerElementSize(subtractInt64(id.seq, first.seq));
    if (!isSame) size += integerElementSize(fieldCount);
    for (let i = firstField; i < args.count; i += 2) {
      if (!isSame) size += stringElementSize(args.buffer, args.start(i), args.end(i));
      size += stringElementSize(args.buffer, args.start(i + 1), args.end(i + 1));
    }
    return size + integerElementSize(isSame ? fieldCount + 3 : 2 * fieldCount + 4);
  }

  private hasMasterFields(args: Args, firstField: number, fieldCount: number): boolean {
    if (fieldCount !== this.masterFields.length) return false;
    for (let i = 0; i < fieldCount; i++) {
      const master = this.masterFields[i];
      const start = args.start(firstField + 2 * i);
      if (master?.length !== args.end(firstField + 2 * i) - start) return false;
      for (let k = 0; k < master.length; k++) if (master[k] !== args.buffer[start + k]) return false;
    }
    return true;
  }
}
