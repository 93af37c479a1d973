/**
 * The branded types of the bus, and arithmetic on entry ids.
 *
 * An entry id is two unsigned 64-bit integers, `milliseconds-sequence`; it is kept as text and compared as bigints, never as
 * numbers. Names are text that holds any bytes without loss (`base/byteText`).
 */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A complete entry id in Redis's canonical form, such as `1700000000000-0`. */
export type EntryId = Branded<'EntryId'>;
/** The key of a stream. */
export type StreamKey = Branded<'StreamKey'>;
/** The name of a consumer group. */
export type GroupName = Branded<'GroupName'>;
/** The name of a consumer within its group. */
export type ConsumerName = Branded<'ConsumerName'>;

/** The two halves of an entry id. */
export interface EntryIdParts {
  readonly ms: bigint;
  readonly seq: bigint;
}

/** The largest value of either half of an entry id, 2^64 - 1. */
export const maxIdPart = 0xffff_ffff_ffff_ffffn;

/** The smallest and the largest entry id; `0-0` never names an entry and stands for the start of a stream. */
export const minEntryId = '0-0' as EntryId;
export const maxEntryId = `${maxIdPart}-${maxIdPart}` as EntryId;

/** Names a key, group or consumer; any text is allowed, the empty one included. */
export const streamKey = (text: string): StreamKey => text as StreamKey;
export const groupName = (text: string): GroupName => text as GroupName;
export const consumerName = (text: string): ConsumerName => text as ConsumerName;

/**
 * Reads an entry id as Redis does: `5` means `5-0`, leading zeros are dropped. Returns undefined for anything that Redis
 * refuses: signs, hexadecimal, an empty half, a half above 2^64 - 1.
 */
export function parseEntryId(text: string): EntryId | undefined {
  const match = /^(\d{1,40})(?:-(\d{1,40}))?$/.exec(text);
  if (!match) return undefined;
  const ms = BigInt(match[1] ?? '');
  const seq = BigInt(match[2] ?? '0');
  return ms > maxIdPart || seq > maxIdPart ? undefined : entryIdOf({ ms, seq });
}

/** Reads an entry id that is known to be one, such as a server's reply; throws a RangeError when it is not. */
export function entryId(text: string): EntryId {
  const id = parseEntryId(text);
  if (id === undefined) throw new RangeError('Not an entry id: expected two unsigned 64-bit integers joined by "-"');
  return id;
}

/** Tells whether the text is an entry id in canonical form, as servers reply it. */
export function isEntryId(text: string): text is EntryId {
  return /^(?:0|[1-9]\d{0,19})-(?:0|[1-9]\d{0,19})$/.test(text);
}

/** Splits an entry id into its two halves. */
export function entryIdParts(id: EntryId): EntryIdParts {
  const dash = id.indexOf('-');
  return { ms: BigInt(id.slice(0, dash)), seq: BigInt(id.slice(dash + 1)) };
}

/** Joins two halves to an entry id. */
export function entryIdOf(parts: EntryIdParts): EntryId {
  return `${parts.ms}-${parts.seq}` as EntryId;
}

/** Orders entry ids: negative when `a` comes before `b`, positive when after, 0 when they are the same. */
export function compareEntryIds(a: EntryId, b: EntryId): number {
  if (a === b) return 0;
  const left = entryIdParts(a);
  const right = entryIdParts(b);
  if (left.ms !== right.ms) return left.ms < right.ms ? -1 : 1;
  return left.seq < right.seq ? -1 : 1;
}

/** The id right after this one, or undefined after the largest. Pages start here on servers without exclusive ranges. */
export function nextEntryId(id: EntryId): EntryId | undefined {
  const { ms, seq } = entryIdParts(id);
  if (seq < maxIdPart) return entryIdOf({ ms, seq: seq + 1n });
  return ms < maxIdPart ? entryIdOf({ ms: ms + 1n, seq: 0n }) : undefined;
}

/** The id right before this one, or undefined before `0-0`. */
export function previousEntryId(id: EntryId): EntryId | undefined {
  const { ms, seq } = entryIdParts(id);
  if (seq > 0n) return entryIdOf({ ms, seq: seq - 1n });
  return ms > 0n ? entryIdOf({ ms: ms - 1n, seq: maxIdPart }) : undefined;
}

const firstPlausibleMs = Date.UTC(2010, 0, 1);
const lastPlausibleMs = Date.UTC(2100, 0, 1);

/**
 * The time that the id's first half tells, in milliseconds since the epoch, or undefined when it cannot be a time: ids may be
 * chosen by the producer, and only halves between the years 2010 and 2100 are read as times.
 */
export function entryIdTimeMs(id: EntryId): number | undefined {
  const ms = Number(id.slice(0, id.indexOf('-')));
  return ms >= firstPlausibleMs && ms < lastPlausibleMs ? ms : undefined;
}
