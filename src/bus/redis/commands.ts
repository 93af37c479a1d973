/** How the port's arguments are spelled as commands. Pure: tested by the contract suite on real servers. */
import { textToBytes } from '../../base/byteText';
import type { EntryFields } from '../entries';
import { maxEntryId, minEntryId, nextEntryId, previousEntryId } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { AddOptions, ClaimOptions, PendingQuery, RangeBound, RangeQuery, TrimPolicy } from '../port';
import type { Call } from './link';

/** Text as the bytes that it stands for; ordinary text stays a string, which is cheaper to write. */
export function wire(text: string): string | Buffer {
  return /[\ud800-\udfff]/.test(text) ? textToBytes(text) : text;
}

export function addCall(key: StreamKey, fields: EntryFields, { id, trim, makeStream = true }: AddOptions): Call {
  const trimArgs = trim === undefined ? [] : trimArguments(trim);
  return {
    command: 'XADD',
    key,
    args: [wire(key), ...(makeStream ? [] : ['NOMKSTREAM']), ...trimArgs, id ?? '*', ...fields],
  };
}

/** XRANGE or XREVRANGE; undefined when the query cannot match anything. */
export function rangeCall(key: StreamKey, { from, to, count, reverse = false }: RangeQuery): Call | undefined {
  const interval = resolveInterval(from, to, count);
  if (interval === undefined) return undefined;
  const [first, last] = interval;
  const limit = ['COUNT', String(count)];
  return reverse
    ? { command: 'XREVRANGE', key, args: [wire(key), last, first, ...limit] }
    : { command: 'XRANGE', key, args: [wire(key), first, last, ...limit] };
}

export function trimCall(key: StreamKey, policy: TrimPolicy): Call {
  return { command: 'XTRIM', key, args: [wire(key), ...trimArguments(policy)] };
}

/** XPENDING, extended form; undefined when the query cannot match anything. */
export function pendingCall(key: StreamKey, group: GroupName, query: PendingQuery): Call | undefined {
  const interval = resolveInterval(query.from, query.to, query.count);
  if (interval === undefined) return undefined;
  const idle = query.minIdleMs === undefined ? [] : ['IDLE', String(query.minIdleMs)];
  const consumer = query.consumer === undefined ? [] : [wire(query.consumer)];
  return {
    command: 'XPENDING',
    key,
    args: [wire(key), wire(group), ...idle, ...interval, String(query.count), ...consumer],
  };
}

export function readGroupCall(
  key: StreamKey,
  group: GroupName,
  consumer: ConsumerName,
  options: { readonly count: number; readonly blockMs?: number; readonly claimMinIdleMs?: number },
): Call {
  const { count, blockMs = 0, claimMinIdleMs } = options;
  return {
    command: 'XREADGROUP',
    key,
    args: [
      'GROUP',
      wire(group),
      wire(consumer),
      'COUNT',
      String(count),
      ...blockArguments(blockMs),
      ...(claimMinIdleMs === undefined ? [] : ['CLAIM', String(claimMinIdleMs)]),
      'STREAMS',
      wire(key),
      '>',
    ],
  };
}

export function readCall(
  key: StreamKey,
  after: EntryId,
  { count, blockMs }: { readonly count: number; readonly blockMs: number },
): Call {
  return {
    command: 'XREAD',
    key,
    args: ['COUNT', String(count), ...blockArguments(blockMs), 'STREAMS', wire(key), after],
  };
}

/** XCLAIM. JUSTID keeps the count and the bodies away; without it the server adds one to the count and sends the bodies. */
export function claimCall(
  key: StreamKey,
  group: GroupName,
  consumer: ConsumerName,
  ids: readonly EntryId[],
  { minIdleMs, count, idleMs, force = false }: ClaimOptions,
): Call {
  return {
    command: 'XCLAIM',
    key,
    args: [
      wire(key),
      wire(group),
      wire(consumer),
      String(minIdleMs),
      ...ids,
      ...(idleMs === undefined ? [] : ['IDLE', String(idleMs)]),
      ...(typeof count === 'object' ? ['RETRYCOUNT', String(count.set)] : []),
      ...(force ? ['FORCE'] : []),
      ...(count === 'increment' ? [] : ['JUSTID']),
    ],
  };
}

function trimArguments({ maxLength, minId, approximate }: TrimPolicy): string[] {
  const threshold = minId === undefined ? ['MAXLEN', String(maxLength)] : ['MINID', minId];
  return [threshold[0] ?? '', approximate ? '~' : '=', threshold[1] ?? ''];
}

/** BLOCK 0 would wait for ever; here 0 means not to wait. */
function blockArguments(blockMs: number): string[] {
  return blockMs > 0 ? ['BLOCK', String(blockMs)] : [];
}

/**
 * Both ends as ids, exclusive ones moved by one, which is the same on every server and needs no `(`. Undefined when nothing lies
 * between them.
 */
function resolveInterval(from: RangeBound, to: RangeBound, count: number): [string, string] | undefined {
  const first = resolveBound(from);
  const last = resolveBound(to);
  return first === undefined || last === undefined || count < 1 ? undefined : [first, last];
}

function resolveBound(bound: RangeBound): string | undefined {
  if (bound === 'min') return minEntryId;
  if (bound === 'max') return maxEntryId;
  if (typeof bound === 'string') return bound;
  return 'after' in bound ? nextEntryId(bound.after) : previousEntryId(bound.before);
}
