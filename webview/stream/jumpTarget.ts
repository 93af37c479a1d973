/** Reads what was typed into "Jump to id or time". */
import { parseEntryId } from '../entryIds';
import type { Zone } from '../format';

/** Where to jump. `exact` ids were typed whole; the others stand for a time or for the start of a millisecond. */
export type JumpTarget =
  | { readonly kind: 'id'; readonly id: string; readonly exact: boolean }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'end'; readonly end: 'newest' | 'oldest' };

/**
 * An id (`1700000000000-0`, `1700000000000`), a time (`2026-11-29`, `2026-11-29 16:07`, `2026-11-29T16:07:33.123Z`, `16:07` of
 * today), a time ago (`15 min ago`), or `newest` and `oldest`. Times without a zone are in the shown zone. Undefined for anything
 * else.
 */
export function parseJumpTarget(
  input: string,
  now: { readonly ms: number; readonly zone: Zone },
): JumpTarget | undefined {
  const text = input.trim();
  const id = parseEntryId(text);
  if (id !== undefined) return { kind: 'id', id, exact: text.includes('-') };
  const word = text.toLowerCase();
  if (word === 'newest' || word === 'oldest') return { kind: 'end', end: word };
  const ms = agoMs(word, now.ms) ?? clockMs(word, now) ?? dateMs(text, now.zone);
  return ms === undefined || ms < 0 ? undefined : { kind: 'time', ms };
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};

function agoMs(text: string, nowMs: number): number | undefined {
  const match = /^((?:\d+(?:\.\d+)? *[a-z]+ *)+)ago$/.exec(text);
  if (!match) return undefined;
  let total = 0;
  for (const [, amount = '', name = ''] of (match[1] ?? '').matchAll(/(\d+(?:\.\d+)?) *([a-z]+)/g)) {
    const singular = name.length > 2 ? name.replace(/s$/, '') : name;
    const unit = Object.hasOwn(unitMs, singular) ? unitMs[singular] : undefined;
    if (unit === undefined) return undefined;
    total += Number(amount) * unit;
  }
  return Math.round(nowMs - total);
}

function clockMs(text: string, now: { readonly ms: number; readonly zone: Zone }): number | undefined {
  if (!/^\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/.test(text)) return undefined;
  const shifted = now.zone === 'utc' ? now.ms : now.ms - new Date(now.ms).getTimezoneOffset() * 60_000;
  return dateMs(`${new Date(shifted).toISOString().slice(0, 10)} ${text}`, now.zone);
}

const datePattern =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ t]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)? *(z|utc|[+-]\d{2}:?\d{2})?$/i;

function dateMs(text: string, zone: Zone): number | undefined {
  const match = datePattern.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part || 0));
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  const back = new Date(asUtc);
  if (back.getUTCMonth() !== month - 1 || back.getUTCDate() !== day) return undefined;
  const offset = match[8]?.toLowerCase();
  if (offset !== undefined) return asUtc - offsetMinutes(offset) * 60_000;
  return zone === 'utc' ? asUtc : new Date(year, month - 1, day, hour, minute, second, ms).getTime();
}

function offsetMinutes(offset: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(offset);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}
