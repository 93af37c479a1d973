/**
 * 64-bit integers without a bigint on the hot path.
 *
 * An `Int` is a number while it is a safe integer and a bigint beyond, never the other way round: equal values are equal under
 * `===`, and `<` compares the mixed kinds exactly. Serves signed counters (wrapping as int64) and unsigned halves of ids.
 */
export type Int = number | bigint;

/** Brings a bigint into the canonical form. */
export function toInt(value: bigint): Int {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

/** Adds two signed 64-bit integers, wrapping as C does. */
export function addInt64(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return toInt(BigInt.asIntN(64, BigInt(a) + BigInt(b)));
}

/** Subtracts two signed 64-bit integers, wrapping as C does. */
export function subtractInt64(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return toInt(BigInt.asIntN(64, BigInt(a) - BigInt(b)));
}

const maxInt64 = 0x7fff_ffff_ffff_ffffn;
const maxUint64 = 0xffff_ffff_ffff_ffffn;

/** Reads a signed 64-bit integer as Redis reads a numeric argument: no blanks, no plus sign, no leading zeros. */
export function parseInt64(text: string): Int | undefined {
  if (text === '0') return 0;
  if (!/^-?[1-9][0-9]{0,18}$/.test(text)) return undefined;
  if (text.length <= 15) return Number(text);
  const value = BigInt(text);
  return value > maxInt64 || value < -maxInt64 - 1n ? undefined : toInt(value);
}

/**
 * Reads an unsigned 64-bit integer as Redis reads half of an id: what `parseInt64` takes when it is not negative, else what C's
 * strtoull takes in base 10, with its leading blanks, sign and zeros; a minus sign that only strtoull sees wraps around.
 */
export function parseUint64(text: string): Int | undefined {
  const plain = parseInt64(text);
  if (plain !== undefined) return plain < 0 ? undefined : plain;
  const match = /^[ \t\n\v\f\r]*([+-]?)([0-9]+)$/.exec(text);
  if (!match) return undefined;
  const value = BigInt(match[2] ?? '0');
  if (value > maxUint64) return undefined;
  return toInt(match[1] === '-' ? BigInt.asUintN(64, -value) : value);
}
