/** What a panel must know of entry ids: two unsigned 64-bit integers, compared as bigints and never as numbers. */

const largestPart = 0xffff_ffff_ffff_ffffn;

/** Reads what Redis takes as an id, `5` being `5-0`, into its canonical form; undefined for anything else. */
export function parseEntryId(text: string): string | undefined {
  const match = /^(\d{1,40})(?:-(\d{1,40}))?$/.exec(text);
  if (!match) return undefined;
  const ms = BigInt(match[1] ?? '');
  const sequence = BigInt(match[2] ?? '0');
  return ms > largestPart || sequence > largestPart ? undefined : `${ms}-${sequence}`;
}

/** Negative when `a` comes before `b`, positive when after, 0 when they are the same. Both are ids in canonical form. */
export function compareEntryIds(a: string, b: string): number {
  if (a === b) return 0;
  const [leftMs, leftSequence] = parts(a);
  const [rightMs, rightSequence] = parts(b);
  if (leftMs !== rightMs) return leftMs < rightMs ? -1 : 1;
  return leftSequence < rightSequence ? -1 : leftSequence > rightSequence ? 1 : 0;
}

function parts(id: string): readonly [bigint, bigint] {
  const dash = id.indexOf('-');
  return dash < 0 ? [BigInt(id), 0n] : [BigInt(id.slice(0, dash)), BigInt(id.slice(dash + 1))];
}
