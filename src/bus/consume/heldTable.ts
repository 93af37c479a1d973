import { entryIdOf, entryIdParts } from '../ids';
import type { EntryId } from '../ids';

const headerWords = 3;
const closingWord = 1;
const markedWord = 2;
/** Before the ids of the slots: when the last beat began, and the two halves of the id that was read last. */
const headerHalves = 3;
const empty = 0;
const writing = 1;
const held = 2;
const lost = 3;
const kinds = 4;
const maxState = 2 ** 30;

/** An id in the table, and the state of its slot at that moment. */
export interface HeldSlot {
  readonly id: EntryId;
  readonly slot: number;
  readonly state: number;
}

/**
 * The ids that a consumer holds, in memory that its heartbeat thread shares: the thread must know them also while the main thread is
 * busy or paused at a breakpoint, when no message could be passed. Both sides use the same class over the same buffer.
 *
 * Each slot is one state word and two 64-bit halves of an id. The state is a kind and a generation that counts the ids that the slot
 * has held: the reader takes an id only when the state was the same before and after, and marks it only while it still is.
 */
export class HeldTable {
  /**
   * Word 0 counts beats begun and ended, so that it is odd while one is under way; word 1 tells that the owner is closing, word 2
   * that it has told what it has read; after the header a state for each slot.
   */
  private readonly words: Int32Array;
  private readonly halves: BigUint64Array;
  private readonly free: number[] = [];

  constructor(
    readonly buffer: SharedArrayBuffer,
    readonly capacity: number,
  ) {
    this.words = new Int32Array(buffer, 0, headerWords + capacity);
    this.halves = new BigUint64Array(buffer, halvesOffset(capacity), headerHalves + 2 * capacity);
    for (let slot = capacity - 1; slot >= 0; slot -= 1) this.free.push(slot);
  }

  static make(capacity: number): HeldTable {
    return new HeldTable(new SharedArrayBuffer(halvesOffset(capacity) + 8 * (headerHalves + 2 * capacity)), capacity);
  }

  /** Owner's side: adds an id and tells its slot, -1 when the table is full (the owner bounds what it holds below that). */
  add(id: EntryId): number {
    const slot = this.free.pop();
    if (slot === undefined) return -1;
    const generation = (this.state(slot) - (this.state(slot) % kinds) + kinds) % maxState;
    this.setState(slot, generation + writing);
    this.setId(headerHalves + 2 * slot, id);
    this.setState(slot, generation + held);
    return slot;
  }

  /** Owner's side. */
  remove(slot: number): void {
    const state = this.state(slot);
    this.setState(slot, state - (state % kinds) + empty);
    this.free.push(slot);
  }

  /** Owner's side: whether the thread found that the entry in the slot belongs to somebody else. */
  isLost(slot: number): boolean {
    return slot >= 0 && this.state(slot) % kinds === lost;
  }

  /** How many times a beat began or ended: odd while one is under way. */
  get beatCount(): number {
    return Atomics.load(this.words, 0);
  }

  /** When the last beat that succeeded began, milliseconds since the epoch; 0 before the first. */
  get lastBeatMs(): number {
    return Number(Atomics.load(this.halves, 0));
  }

  /** Owner's side: from now on it settles what is held by itself, or dies trying. */
  markClosing(): void {
    Atomics.store(this.words, closingWord, 1);
  }

  /**
   * Owner's side: new entries up to this id have arrived. What the server delivered after it is in a reply that was not read yet.
   */
  markRead(id: EntryId): void {
    this.setId(1, id);
    Atomics.store(this.words, markedWord, 1);
  }

  /** Thread's side: the id given to `markRead`; undefined before the first. Only to be asked while the owner does not run. */
  get readTo(): EntryId | undefined {
    return Atomics.load(this.words, markedWord) === 1 ? this.idAt(1) : undefined;
  }

  /** Thread's side: whether the owner has begun to close. */
  get isClosing(): boolean {
    return Atomics.load(this.words, closingWord) === 1;
  }

  /** Thread's side. */
  beginBeat(): void {
    Atomics.add(this.words, 0, 1);
  }

  /** Thread's side: `beganAtMs` only for a beat that succeeded. */
  endBeat(beganAtMs: number | undefined): void {
    if (beganAtMs !== undefined) Atomics.store(this.halves, 0, BigInt(beganAtMs));
    Atomics.add(this.words, 0, 1);
  }

  /** Thread's side: the ids held now. */
  snapshot(): HeldSlot[] {
    const found: HeldSlot[] = [];
    for (let slot = 0; slot < this.capacity; slot += 1) {
      const state = this.state(slot);
      if (state % kinds !== held) continue;
      const id = this.idAt(headerHalves + 2 * slot);
      if (this.state(slot) === state) found.push({ id, slot, state });
    }
    return found;
  }

  /** Thread's side: marks an entry that is not ours any more, unless its slot was given to another id meanwhile. */
  markLost({ slot, state }: HeldSlot): void {
    Atomics.compareExchange(this.words, headerWords + slot, state, state - (state % kinds) + lost);
  }

  private setId(at: number, id: EntryId): void {
    const { ms, seq } = entryIdParts(id);
    this.halves[at] = ms;
    this.halves[at + 1] = seq;
  }

  private idAt(at: number): EntryId {
    return entryIdOf({ ms: this.halves[at] ?? 0n, seq: this.halves[at + 1] ?? 0n });
  }

  private state(slot: number): number {
    return Atomics.load(this.words, headerWords + slot);
  }

  private setState(slot: number, state: number): void {
    Atomics.store(this.words, headerWords + slot, state);
  }
}

function halvesOffset(capacity: number): number {
  return Math.ceil((4 * (headerWords + capacity)) / 8) * 8;
}
