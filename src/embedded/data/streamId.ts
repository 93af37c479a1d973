import type { Int } from './int64';
import { parseUint64, toInt } from './int64';

/** An entry id as the engine keeps it: two unsigned 64-bit halves in the canonical form of `Int`. */
export interface StreamId {
  readonly ms: Int;
  readonly seq: Int;
}

/** The largest value of either half. */
export const maxHalf = 0xffff_ffff_ffff_ffffn;
/** The id below every entry. */
export const minStreamId: StreamId = { ms: 0, seq: 0 };
/** The largest id. */
export const maxStreamId: StreamId = { ms: maxHalf, seq: maxHalf };

/** Orders ids: negative, zero or positive. */
export function compareIds(a: StreamId, b: StreamId): number {
  return compareHalves(a.ms, a.seq, b.ms, b.seq);
}

/** Orders ids given by their halves. */
export function compareHalves(aMs: Int, aSeq: Int, bMs: Int, bSeq: Int): number {
  if (aMs < bMs) return -1;
  if (aMs > bMs) return 1;
  return aSeq < bSeq ? -1 : aSeq > bSeq ? 1 : 0;
}

/** Tells whether the id is `0-0`. */
export function isZeroId(id: StreamId): boolean {
  return id.ms === 0 && id.seq === 0;
}

/** The text of an id, `ms-seq`. */
export function formatId(id: StreamId): string {
  return `${id.ms}-${id.seq}`;
}

/** The id right after, or undefined after the largest. */
export function nextId(id: StreamId): StreamId | undefined {
  if (id.seq === maxHalf) return id.ms === maxHalf ? undefined : { ms: increment(id.ms), seq: 0 };
  return { ms: id.ms, seq: increment(id.seq) };
}

/** The id right before, or undefined before `0-0`. */
export function previousId(id: StreamId): StreamId | undefined {
  if (id.seq === 0) return id.ms === 0 ? undefined : { ms: decrement(id.ms), seq: maxHalf };
  return { ms: id.ms, seq: decrement(id.seq) };
}

/** Adds one to a half that is below its maximum. */
export function increment(half: Int): Int {
  return typeof half === 'number' && half < Number.MAX_SAFE_INTEGER ? half + 1 : toInt(BigInt(half) + 1n);
}

/** What the text of an id said: `hasSeq` is false for the form `ms-*`. */
export interface ParsedId extends StreamId {
  readonly hasSeq: boolean;
}

/** How an id argument may be written. */
export interface IdSyntax {
  /** The sequence of an id given without one. */
  readonly missingSeq: Int;
  /** Accepts `-` and `+` as the smallest and largest id. */
  readonly edges?: boolean;
  /** Accepts `ms-*`. */
  readonly autoSeq?: boolean;
}

/** Reads an id as Redis does; undefined when Redis refuses it. */
export function parseStreamId(text: string, syntax: IdSyntax): ParsedId | undefined {
  if (text.length > 127) return undefined;
  const end = text.indexOf('\0');
  const visible = end < 0 ? text : text.slice(0, end);
  if (visible === '-' || visible === '+') {
    if (syntax.edges !== true) return undefined;
    return { ...(visible === '-' ? minStreamId : maxStreamId), hasSeq: true };
  }
  const dash = visible.indexOf('-');
  const ms = parseUint64(dash < 0 ? visible : visible.slice(0, dash));
  if (ms === undefined) return undefined;
  if (dash < 0) return { ms, seq: syntax.missingSeq, hasSeq: true };
  const tail = visible.slice(dash + 1);
  if (syntax.autoSeq === true && tail === '*') return { ms, seq: 0, hasSeq: false };
  const seq = parseUint64(tail);
  return seq === undefined ? undefined : { ms, seq, hasSeq: true };
}

function decrement(half: Int): Int {
  return typeof half === 'number' ? half - 1 : toInt(half - 1n);
}
