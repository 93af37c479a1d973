import type { StreamId } from './streamId';
import { compareHalves } from './streamId';

const blockSize = 128;

/**
 * Values that carry an id, in id order: appending and removing cost the logarithm of the size plus a move within a block of 128.
 * Holds a group's or a consumer's pending entries. It must not be changed between two steps of an iteration.
 */
export class IdMap<Value extends StreamId> {
  private readonly blocks: Value[][] = [];
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(id: StreamId): Value | undefined {
    const block = this.blocks[this.blockOf(id)];
    if (!block) return undefined;
    const found = block[lowerBound(block, id)];
    return found?.ms === id.ms && found.seq === id.seq ? found : undefined;
  }

  /** Adds a value whose id is not there yet. */
  add(value: Value): void {
    this.count += 1;
    const tail = this.blocks[this.blocks.length - 1];
    const last = tail?.[tail.length - 1];
    if (!tail || (last && compareHalves(value.ms, value.seq, last.ms, last.seq) > 0)) {
      if (tail && tail.length < blockSize) tail.push(value);
      else this.blocks.push([value]);
      return;
    }
    const index = this.blockOf(value);
    const block = this.blocks[index] ?? tail;
    block.splice(lowerBound(block, value), 0, value);
    if (block.length > blockSize) this.blocks.splice(index + 1, 0, block.splice(blockSize / 2));
  }

  /** Removes the value with this id; tells whether it was there. */
  delete(id: StreamId): boolean {
    const index = this.blockOf(id);
    const block = this.blocks[index];
    if (!block) return false;
    const position = lowerBound(block, id);
    const found = block[position];
    if (found?.ms !== id.ms || found.seq !== id.seq) return false;
    this.count -= 1;
    if (block.length === 1) removeAt(this.blocks, index);
    else removeAt(block, position);
    return true;
  }

  first(): Value | undefined {
    return this.blocks[0]?.[0];
  }

  last(): Value | undefined {
    const tail = this.blocks[this.blocks.length - 1];
    return tail?.[tail.length - 1];
  }

  /** The first value whose id is not below this one. */
  atOrAfter(id: StreamId): Value | undefined {
    for (const value of this.from(id)) return value;
    return undefined;
  }

  /** The values from this id on, in order. */
  *from(id: StreamId): Generator<Value, void> {
    let index = this.blockOf(id);
    let block = this.blocks[index];
    let position = block ? lowerBound(block, id) : 0;
    while (block) {
      for (; position < block.length; position++) {
        const value = block[position];
        if (value) yield value;
      }
      index += 1;
      block = this.blocks[index];
      position = 0;
    }
  }

  /** The block that holds the id or would: the last one that starts at or below it. */
  private blockOf(id: StreamId): number {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const first = this.blocks[middle]?.[0];
      if (first && compareHalves(first.ms, first.seq, id.ms, id.seq) <= 0) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : low - 1;
  }
}

function lowerBound<Value extends StreamId>(block: readonly Value[], id: StreamId): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = block[middle];
    if (value && compareHalves(value.ms, value.seq, id.ms, id.seq) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function removeAt(list: unknown[], index: number): void {
  if (index === 0) list.shift();
  else if (index === list.length - 1) list.pop();
  else list.splice(index, 1);
}
