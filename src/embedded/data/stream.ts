/**
 * A stream: its entries, counters and groups, as Redis 7.0 keeps them.
 *
 * Entries are in nodes that hold exactly what a node of Redis's radix tree would, because approximate trims and XINFO STREAM show
 * the difference. Appending is constant, finding an id costs the logarithm of the number of nodes, and removing from the start
 * drops whole nodes.
 */
import type { Args } from '../args';
import type { Group } from './group';
import type { Int } from './int64';
import { addInt64 } from './int64';
import { countRadixTreeNodes } from './radixTree';
import type { FieldBytes } from './streamNode';
import { StreamNode } from './streamNode';
import type { StreamId } from './streamId';
import { compareIds, maxStreamId, minStreamId } from './streamId';

const firstSlabBytes = 512;
const fullSlabBytes = 65536;

/** What XADD and XTRIM remove: `limit` 0 removes without limit. */
export interface TrimOptions {
  readonly strategy: { readonly maxLength: Int } | { readonly minId: StreamId };
  readonly approximate: boolean;
  readonly limit: Int;
}

/** A stored entry: its id and where its fields are. */
export interface StoredEntry {
  readonly id: StreamId;
  readonly fields: FieldBytes;
}

export class Stream {
  readonly type = 'stream';
  length = 0;
  lastId: StreamId = minStreamId;
  /** The first entry that is not deleted, `0-0` when there is none. */
  firstId: StreamId = minStreamId;
  maxDeletedId: StreamId = minStreamId;
  entriesAdded: Int = 0;
  readonly groups = new Map<string, Group>();
  private readonly nodes: (StreamNode | undefined)[] = [];
  private head = 0;
  private slab: Buffer | undefined;
  private slabUsed = 0;

  get nodeCount(): number {
    return this.nodes.length - this.head;
  }

  /** Computed when asked: its cost grows with the number of nodes. */
  get radixTreeNodes(): number {
    return countRadixTreeNodes(this.nodes.slice(this.head).map((node) => node?.idAt(0) ?? minStreamId));
  }

  /** About how many bytes the entries take. */
  get storedBytes(): number {
    let bytes = 0;
    for (let i = this.head; i < this.nodes.length; i++) {
      const node = this.nodes[i];
      if (node) bytes += node.end - node.fieldsAt(0).start + node.count * 24;
    }
    return bytes;
  }

  /** Adds an entry with an id above the last one; its fields and values are the arguments from `firstField` on. */
  append(id: StreamId, args: Args, firstField: number): void {
    const header = `*${args.count - firstField}\r\n`;
    const source = args.head(firstField);
    const sourceEnd = args.end(args.count - 1) + 2;
    let payload = 0;
    for (let i = firstField; i < args.count; i++) payload += args.end(i) - args.start(i);
    let node = this.nodes.length > this.head ? this.nodes[this.nodes.length - 1] : undefined;
    const previous = node;
    if (node?.isFull(payload)) {
      node.seal();
      node = undefined;
    }
    const size = header.length + sourceEnd - source;
    const slab = this.slabFor(size, node);
    if (!node) {
      node = new StreamNode(slab, this.slabUsed, args, firstField, previous);
      this.nodes.push(node);
    }
    for (let i = 0; i < header.length; i++) slab[this.slabUsed + i] = header.charCodeAt(i);
    args.buffer.copy(slab, this.slabUsed + header.length, source, sourceEnd);
    this.slabUsed += size;
    node.push(id, this.slabUsed, args, firstField);
    this.length += 1;
    this.entriesAdded = addInt64(this.entriesAdded, 1);
    this.lastId = id;
    if (this.length === 1) this.firstId = id;
  }

  /** The entry with this id, unless it is deleted. */
  get(id: StreamId): StoredEntry | undefined {
    let found: StoredEntry | undefined;
    this.visit(id, id, false, (entry) => {
      found = entry;
      return false;
    });
    return found;
  }

  has(id: StreamId): boolean {
    return this.get(id) !== undefined;
  }

  first(): StoredEntry | undefined {
    return this.edge(false);
  }

  last(): StoredEntry | undefined {
    return this.edge(true);
  }

  /** Calls `visit` for the entries between two ids, both included, until it answers false. */
  visit(from: StreamId, to: StreamId, reverse: boolean, visit: (entry: StoredEntry) => boolean): void {
    if (compareIds(from, to) > 0) return;
    let index = this.nodeOf(reverse ? to : from);
    const step = reverse ? -1 : 1;
    for (; index >= this.head && index < this.nodes.length; index += step) {
      const node = this.nodes[index];
      if (!node) return;
      let position = reverse ? this.upperBound(node, to) - 1 : node.lowerBound(from);
      for (; position >= 0 && position < node.count; position += step) {
        if (reverse ? node.compareAt(position, from) < 0 : node.compareAt(position, to) > 0) return;
        if (node.isDeleted(position)) continue;
        if (!visit({ id: node.idAt(position), fields: node.fieldsAt(position) })) return;
      }
    }
  }

  /** Deletes one entry; the caller settles `firstId` and `maxDeletedId`. */
  delete(id: StreamId): boolean {
    const index = this.nodeOf(id);
    const node = this.nodes[index];
    if (!node) return false;
    const position = node.lowerBound(id);
    if (position >= node.count || node.compareAt(position, id) !== 0 || node.isDeleted(position)) return false;
    if (node.live === 1) this.removeNode(index);
    else node.markDeleted(position);
    this.length -= 1;
    return true;
  }

  /** Removes entries from the start; answers how many. */
  trim(options: TrimOptions): number {
    let removed = 0;
    const { strategy, limit } = options;
    const maxLength = 'maxLength' in strategy ? strategy.maxLength : undefined;
    const minId = 'minId' in strategy ? strategy.minId : maxStreamId;
    for (let node = this.nodes[this.head]; node; node = this.nodes[this.head]) {
      if (maxLength !== undefined && this.length <= maxLength) break;
      if (limit !== 0 && removed + node.live > limit) break;
      const isWhole =
        maxLength !== undefined ? this.length - node.live >= maxLength : node.compareAt(node.count - 1, minId) < 0;
      if (isWhole) {
        this.length -= node.live;
        removed += node.live;
        this.removeNode(this.head);
        continue;
      }
      if (!options.approximate) removed += this.trimWithin(node, maxLength, minId);
      break;
    }
    if (removed > 0 || this.length === 0) this.settleFirstId();
    return removed;
  }

  /** Sets `firstId` to what is first now. */
  settleFirstId(): void {
    this.firstId = this.length === 0 ? minStreamId : (this.first()?.id ?? minStreamId);
  }

  private trimWithin(node: StreamNode, maxLength: Int | undefined, minId: StreamId): number {
    let removed = 0;
    for (let position = 0; position < node.count; position++) {
      if (maxLength !== undefined ? this.length <= maxLength : node.compareAt(position, minId) >= 0) break;
      if (node.isDeleted(position)) continue;
      node.markDeleted(position);
      this.length -= 1;
      removed += 1;
    }
    return removed;
  }

  private edge(reverse: boolean): StoredEntry | undefined {
    let found: StoredEntry | undefined;
    this.visit(minStreamId, maxStreamId, reverse, (entry) => {
      found = entry;
      return false;
    });
    return found;
  }

  private removeNode(index: number): void {
    if (index === this.head) {
      this.nodes[index] = undefined;
      this.head += 1;
      const isMostlyGone = this.head >= 1024 && this.head * 2 >= this.nodes.length;
      if (isMostlyGone || this.head === this.nodes.length) {
        this.nodes.splice(0, this.head);
        this.head = 0;
      }
    } else {
      this.nodes.splice(index, 1);
    }
  }

  /** The last node that starts at or below the id, or the first node. */
  private nodeOf(id: StreamId): number {
    let low = this.head;
    let high = this.nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const node = this.nodes[middle];
      if (node && node.compareAt(0, id) <= 0) low = middle + 1;
      else high = middle;
    }
    return low === this.head ? this.head : low - 1;
  }

  private upperBound(node: StreamNode, id: StreamId): number {
    const position = node.lowerBound(id);
    return position < node.count && node.compareAt(position, id) === 0 ? position + 1 : position;
  }

  /** A slab with room for `size` bytes at `slabUsed`, right behind the bytes of the node that they are to join. */
  private slabFor(size: number, node: StreamNode | undefined): Buffer {
    const isJoined = !node || (node.bytes === this.slab && node.end === this.slabUsed);
    const moved = isJoined ? 0 : node.end - node.fieldsAt(0).start;
    if (!this.slab || this.slab.length - this.slabUsed < moved + size) return this.newSlab(size, node);
    if (!isJoined) {
      node.moveTo(this.slab, this.slabUsed);
      this.slabUsed = node.end;
    }
    return this.slab;
  }

  private newSlab(size: number, node: StreamNode | undefined): Buffer {
    const kept = node ? node.end - node.fieldsAt(0).start : 0;
    const grown = Math.min(fullSlabBytes, Math.max(firstSlabBytes, (this.slab?.length ?? 0) * 2));
    this.slab = Buffer.allocUnsafeSlow(Math.max(grown, kept + size));
    node?.moveTo(this.slab, 0);
    this.slabUsed = kept;
    return this.slab;
  }
}
