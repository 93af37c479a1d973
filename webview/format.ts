/** Figures, sizes, durations and times as every panel writes them (`ux.md` Words). Times are milliseconds since the epoch. */
import type { Figure } from '../src/protocol/streamPanel';
import { currentLocale, t } from './l10n';

/** A number with its thousands grouped as the locale does. */
export function formatNumber(value: number): string {
  return value.toLocaleString(currentLocale());
}

/** `one` for exactly one, else `many`; `{0}` is the number. */
export function formatCount(value: number, one: string, many: string): string {
  return t(value === 1 ? one : many, formatNumber(value));
}

/** A figure's number: `1,204`, `≥ 12,001`, or null when it is unknown. */
export function figureNumber(figure: Figure): string | null {
  if (figure.kind === 'unknown') return null;
  return figure.kind === 'atLeast' ? `≥ ${formatNumber(figure.value)}` : formatNumber(figure.value);
}

/** What a figure's tooltip says: where it is from, or why it is unknown. */
export function figureOrigin(figure: Figure): string {
  return figure.kind === 'unknown' ? figure.reason : figure.source;
}

/** A size in bytes, with one decimal from KB on. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return t('{0} B', formatNumber(bytes));
  const [unit, size] = bytes < 1024 ** 2 ? ['KB', bytes / 1024] : ['MB', bytes / 1024 ** 2];
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${size.toLocaleString(currentLocale(), digits)} ${unit}`;
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** A duration in at most two units: `41 s`, `3 h 12 min`, `2 d 4 h`; `850 ms` below a second. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const first = units.findIndex(([, size]) => ms >= size);
  const [unit, size] = units[first] ?? ['s', 1000];
  const whole = Math.floor(ms / size);
  const [nextUnit, nextSize] = units[first + 1] ?? ['', 0];
  const rest = nextSize === 0 ? 0 : Math.floor((ms % size) / nextSize);
  const shown = unit === 's' && ms < 10_000 ? (Math.floor(ms / 100) / 10).toString() : formatNumber(whole);
  return rest === 0 ? `${shown} ${unit}` : `${shown} ${unit} ${rest} ${nextUnit}`;
}

/** How times are shown: in this machine's zone or in UTC. */
export type Zone = 'local' | 'utc';

/** A time to the millisecond, without its date when that is today's: `16:07:33.123`, `2026-11-28 16:07:33.123`. */
export function formatTime(ms: number, zone: Zone, nowMs: number = Date.now()): string {
  const { date, time } = partsOf(ms, zone);
  return date === partsOf(nowMs, zone).date ? time : `${date} ${time}`;
}

/** A time with date and zone, for tooltips. */
export function formatFullTime(ms: number, zone: Zone): string {
  const { date, time, offset } = partsOf(ms, zone);
  return `${date} ${time} ${offset}`;
}

function partsOf(ms: number, zone: Zone): { date: string; time: string; offset: string } {
  const offsetMinutes = zone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset();
  const iso = new Date(ms + offsetMinutes * 60_000).toISOString();
  const dateEnd = iso.indexOf('T');
  return {
    date: iso.slice(0, dateEnd),
    time: iso.slice(dateEnd + 1, -1),
    offset: zone === 'utc' ? 'UTC' : offsetText(offsetMinutes),
  };
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const pad = (value: number): string => String(value).padStart(2, '0');
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${name} (UTC${minutes < 0 ? '−' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)})`;
}
