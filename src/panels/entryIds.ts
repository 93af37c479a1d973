/** Arithmetic on entry ids for the panels, which may know only the bus's types. */
import type { EntryId } from '../bus';

/** Reads a complete or half id as Redis does, `5` being `5-0`; null when the text is none. */
export function entryIdOf(text: string): EntryId | null {
  const match = /^(\d{1,40})(?:-(\d{1,40}))?$/.exec(text);
  if (!match) return null;
  const ms = BigInt(match[1] ?? '');
  const sequence = BigInt(match[2] ?? '0');
  return ms > largestPart || sequence > largestPart ? null : (`${ms}-${sequence}` as EntryId);
}

const largestPart = 0xffff_ffff_ffff_ffffn;

/** The time that an id tells, in milliseconds since the epoch; null when its producer chose something that is no time. */
export function idTimeMs(id: string): number | null {
  const ms = Number(id.slice(0, id.indexOf('-')));
  return ms >= firstPlausibleMs && ms < lastPlausibleMs ? ms : null;
}

const firstPlausibleMs = Date.UTC(2010, 0, 1);
const lastPlausibleMs = Date.UTC(2100, 0, 1);
