import type { StreamId } from './streamId';
import type { Int } from './int64';

const keyLength = 16;

/**
 * How many nodes Redis's radix tree has for these keys, which must be in order: XINFO STREAM tells it.
 *
 * Keys are ids as 16 big-endian bytes. The tree is a trie in which each chain of nodes with one child is one node; it is the same
 * however it came to be, so its size follows from how many leading bytes neighbouring keys share.
 */
export function countRadixTreeNodes(ids: readonly StreamId[]): number {
  if (ids.length === 0) return 1;
  let nodes = ids.length;
  const branches: number[] = [];
  const close = (parentOfTop: number): void => {
    const depth = branches.pop() ?? 0;
    nodes += 1 + chain(Math.max(parentOfTop, branches[branches.length - 1] ?? -1), depth);
  };
  let left = -1;
  for (const [index, id] of ids.entries()) {
    const next = ids[index + 1];
    const right = next ? sharedBytes(id, next) : -1;
    nodes += chain(Math.max(left, right), keyLength);
    while ((branches[branches.length - 1] ?? -1) > right) close(right);
    if (right >= 0 && (branches[branches.length - 1] ?? -1) < right) branches.push(right);
    left = right;
  }
  return nodes;
}

/** The nodes between a branch and its child: a branch holds the first byte of each child itself, the root holds none. */
function chain(parentDepth: number, depth: number): number {
  return parentDepth < 0 ? (depth > 0 ? 1 : 0) : depth - parentDepth - 1 > 0 ? 1 : 0;
}

function sharedBytes(a: StreamId, b: StreamId): number {
  const half = sharedBytesOfHalves(a.ms, b.ms);
  return half < 8 ? half : 8 + sharedBytesOfHalves(a.seq, b.seq);
}

function sharedBytesOfHalves(a: Int, b: Int): number {
  if (a === b) return 8;
  const high = (value: Int): number =>
    typeof value === 'number' ? Math.floor(value / 0x1_0000_0000) : Number(value >> 32n);
  const low = (value: Int): number => (typeof value === 'number' ? value >>> 0 : Number(value & 0xffff_ffffn));
  const highBits = (high(a) ^ high(b)) >>> 0;
  if (highBits !== 0) return Math.clz32(highBits) >>> 3;
  return 4 + (Math.clz32((low(a) ^ low(b)) >>> 0) >>> 3);
}
