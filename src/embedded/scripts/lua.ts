/** The shared pieces of the bus's scripts, as `bus/scripts/lua.ts` has them. Names and order are those of the Lua text. */
import { ReplyError, Status } from '../reply';
import type { LuaValue, TwinWorld } from './twin';

/** A table that must be a list. */
export function list(value: LuaValue | undefined): readonly LuaValue[] {
  if (Array.isArray(value)) return value as readonly LuaValue[];
  throw new ReplyError('ERR attempt to index a value that is no table');
}

/** A value used as a string. */
export function string(value: LuaValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new ReplyError('ERR attempt to use a value as a string that is none');
}

/** Lua's tonumber of what must be a number. */
export function number(value: LuaValue | undefined): number {
  const result = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof result === 'number' && !Number.isNaN(result)) return result;
  throw new ReplyError('ERR attempt to use a value as a number that is none');
}

/** `text(n)`: a double as plain decimal digits. */
export function text(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(Math.round(value)).toString();
}

/** `now()`: the server's clock in milliseconds. */
export function now(world: TwinWorld): number {
  const time = list(world.call('TIME'));
  return number(time[0]) * 1000 + Math.floor(number(time[1]) / 1000);
}

/** `iso(ms)`. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** One row of XPENDING. */
export interface PendingRow {
  readonly id: string;
  readonly owner: string;
  readonly idle: number;
  readonly count: number;
}

/** Reads rows of XPENDING. */
export function pendingRows(reply: LuaValue): PendingRow[] {
  return list(reply).map((row) => {
    const [id, owner, idle, count] = list(row);
    return { id: string(id), owner: string(owner), idle: number(idle), count: number(count) };
  });
}

/** `pendingRow(group, id)` of KEYS[1], or of another key. */
export function pendingRow(
  { call, keys }: TwinWorld,
  group: string,
  id: string,
  key = keys[0] ?? '',
): PendingRow | undefined {
  return pendingRows(call('XPENDING', key, group, id, id, 1))[0];
}

/** `refusal(row, at)`: why the guard at ARGV[at] (from 0) forbids a change. */
export function refusal(world: TwinWorld, row: PendingRow | undefined, at: number): LuaValue | undefined {
  if (!row) return ['not-pending'];
  const { owner, idle, count } = row;
  const [wantedOwner = '', minIdle, deliveries = '', latest] = world.argv.slice(at, at + 4);
  if (wantedOwner !== '*' && wantedOwner !== `=${owner}`) return ['owner-changed', owner];
  if (idle >= 0 && idle < number(minIdle)) return ['too-fresh', text(idle)];
  const wanted = deliveries.slice(1);
  if (deliveries.startsWith('=') && count !== number(wanted)) return ['deliveries-changed', text(count)];
  if (deliveries.startsWith('>') && count >= 0 && count < number(wanted)) return ['too-few-deliveries', text(count)];
  if (latest !== '*' && idle >= 0) {
    const delivered = now(world) - idle;
    if (delivered > number(latest)) return ['delivered-later', text(delivered)];
  }
  return undefined;
}

/** `typeOf(key)`. */
export function typeOf({ call }: TwinWorld, key: string): string {
  const reply = call('TYPE', key);
  return reply instanceof Status ? reply.text : string(reply);
}

/** The fields of one entry, undefined when it is not there. */
export function fieldsOf({ call }: TwinWorld, key: string, id: string): string[] | undefined {
  const entry = list(call('XRANGE', key, id, id))[0];
  return entry === undefined ? undefined : list(list(entry)[1]).map(string);
}

/** `isBefore(a, b)`: compares entry ids as text. */
export function isBefore(a: string, b: string): boolean {
  const [aMs = '', aSeq = ''] = a.split('-');
  const [bMs = '', bSeq = ''] = b.split('-');
  return aMs === bMs ? isLess(aSeq, bSeq) : isLess(aMs, bMs);
}

/** `record(flat)`. */
export function record(flat: LuaValue): ReadonlyMap<string, LuaValue> {
  const values = list(flat);
  const found = new Map<string, LuaValue>();
  for (let i = 0; i + 1 < values.length; i += 2) found.set(string(values[i]), values[i + 1] ?? false);
  return found;
}

/** The groups of a stream, each as a record. */
export function groupRecords({ call }: TwinWorld, key: string): ReadonlyMap<string, LuaValue>[] {
  return list(call('XINFO', 'GROUPS', key)).map(record);
}

/** What `take` answered. */
export type Taken =
  | { readonly state: 'taken' | 'over'; readonly value: readonly LuaValue[] }
  | { readonly state: 'gone'; readonly value: string };

/** `take(group, consumer, row, maxDeliveries)`. */
export function take(world: TwinWorld, group: string, consumer: string, row: PendingRow, maxDeliveries: number): Taken {
  const { call, keys } = world;
  const key = keys[0] ?? '';
  const { id, owner, idle, count } = row;
  const fields = fieldsOf(world, key, id);
  if (!fields) {
    call('XACK', key, group, id);
    return { state: 'gone', value: id };
  }
  if (count >= maxDeliveries) {
    call('XCLAIM', key, group, consumer, 0, id, 'JUSTID');
    return { state: 'over', value: [id, text(count), text(idle), owner] };
  }
  if (count < 0) call('XCLAIM', key, group, consumer, 0, id, 'RETRYCOUNT', 1, 'JUSTID');
  else call('XCLAIM', key, group, consumer, 0, id);
  return { state: 'taken', value: [id, text(count < 0 ? 1 : count + 1), text(idle), owner, fields] };
}

function isLess(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
