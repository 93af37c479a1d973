/**
 * How many bytes Redis's listpack encoding would take.
 *
 * Approximate trims remove whole radix tree nodes, and a node is full at 100 entries or 4096 listpack bytes: to trim exactly what
 * Redis trims, the engine's nodes count the same bytes, although they do not store them that way.
 */
import type { Int } from './int64';

/** The bytes of an empty listpack. */
export const emptyListpackSize = 7;

/** The size of an integer element. */
export function integerElementSize(value: Int): number {
  const size = integerSize(value);
  return size + 1;
}

/** The size of a string element; strings that are canonical integers are kept as such. */
export function stringElementSize(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const asInteger = length > 0 && length < 21 ? integerAt(bytes, start, end) : undefined;
  if (asInteger !== undefined) return integerSize(asInteger) + 1;
  const size = length < 64 ? 1 + length : length < 4096 ? 2 + length : 5 + length;
  return size + backLengthSize(size);
}

function integerSize(value: Int): number {
  if (value >= 0 && value <= 127) return 1;
  if (value >= -4096 && value <= 4095) return 2;
  if (value >= -32768 && value <= 32767) return 3;
  if (value >= -8388608 && value <= 8388607) return 4;
  if (value >= -2147483648 && value <= 2147483647) return 5;
  return 9;
}

function backLengthSize(size: number): number {
  if (size <= 127) return 1;
  if (size < 16383) return 2;
  if (size < 2097151) return 3;
  return size < 268435455 ? 4 : 5;
}

/** A canonical int64, approximately: only its magnitude matters for sizes. */
function integerAt(bytes: Uint8Array, start: number, end: number): number | undefined {
  const first = bytes[start] ?? 0;
  if (first === 0x30) return end - start === 1 ? 0 : undefined;
  const isNegative = first === 0x2d;
  let position = isNegative ? start + 1 : start;
  const lead = bytes[position] ?? 0;
  if (position >= end || lead < 0x31 || lead > 0x39) return undefined;
  const digits = end - position;
  if (digits > 19) return undefined;
  let value = 0;
  for (; position < end; position++) {
    const digit = (bytes[position] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  if (digits === 19 && isBeyondInt64(bytes, end - 19, isNegative)) return undefined;
  return isNegative ? -value : value;
}

function isBeyondInt64(bytes: Uint8Array, start: number, isNegative: boolean): boolean {
  const limit = isNegative ? '9223372036854775808' : '9223372036854775807';
  let text = '';
  for (let i = 0; i < 19; i++) text += String.fromCharCode(bytes[start + i] ?? 0);
  return text > limit;
}
