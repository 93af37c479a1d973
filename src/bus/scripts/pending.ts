import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { guardArguments, readRefusal } from './guard';
import type { GuardRefusal, PendingGuard } from './guard';
import { luaGuard, luaNumbers } from './lua';
import { itemsOf, listOf, numberOf } from './reply';
import { defineScript } from './script';

/** A pending entry and what must still be true of it. */
export interface GuardedId {
  readonly id: EntryId;
  readonly guard: PendingGuard;
}

/** What became of an entry that was to be acknowledged. */
export type AcknowledgeResult = { readonly status: 'acknowledged' } | GuardRefusal;

/** What became of an entry that was to be claimed. */
export type ClaimResult =
  | { readonly status: 'claimed' }
  | GuardRefusal
  /** Its message was deleted or trimmed; the server dropped it from the pending entries (7.0 and later). */
  | { readonly status: 'gone' };

/** The pending entries that a guarded script is to change. */
export interface Guarded {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly items: readonly GuardedId[];
}

/** XACK of entries of which the guard still holds; XACK itself checks neither owner nor count. */
export const guardedAcknowledge = defineScript<Guarded, readonly AcknowledgeResult[]>({
  name: 'guardedAcknowledge',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, then for each entry: guard (4), id.
${luaNumbers}${luaGuard}
local results = {}
for at = 2, #ARGV, 5 do
  local id = ARGV[at + 4]
  local result = refusal(pendingRow(ARGV[1], id), at)
  if not result then
    redis.call('XACK', KEYS[1], ARGV[1], id)
    result = {'acknowledged'}
  end
  results[#results + 1] = result
end
return results
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, items }) => [group, ...items.flatMap(({ id, guard }) => [...guardArguments(guard), id])],
  reply: (raw) =>
    itemsOf(raw, (status, [detail]) => (status === 'acknowledged' ? { status } : readRefusal(status, detail))),
});

/**
 * XCLAIM of entries of which the guard still holds. Without `consumer` each stays with its owner, which together with `idleMs` makes
 * it reclaimable at once.
 */
export const guardedClaim = defineScript<
  Guarded & {
    readonly consumer?: ConsumerName;
    readonly count: 'keep' | 'increment' | { readonly set: number };
    /** Sets the idle time; without it the claim resets it to 0. */
    readonly idleMs?: number;
  },
  readonly ClaimResult[]
>({
  name: 'guardedClaim',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer ('*' for the present owner), count ('keep', 'increment' or a number), idle ('*' or ms), then for each: guard (4), id.
${luaNumbers}${luaGuard}
local results = {}
for at = 5, #ARGV, 5 do
  local id = ARGV[at + 4]
  local row = pendingRow(ARGV[1], id)
  local result = refusal(row, at)
  if not result then
    local consumer = ARGV[2] == '*' and row[2] or string.sub(ARGV[2], 2)
    local command = {'XCLAIM', KEYS[1], ARGV[1], consumer, 0, id}
    local function add(...) for _, word in ipairs({...}) do command[#command + 1] = word end end
    if ARGV[4] ~= '*' then add('IDLE', ARGV[4]) end
    if ARGV[3] ~= 'increment' then
      if ARGV[3] ~= 'keep' then add('RETRYCOUNT', ARGV[3]) end
      add('JUSTID')
    end
    result = {#redis.call(unpack(command)) == 0 and 'gone' or 'claimed'}
  end
  results[#results + 1] = result
end
return results
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, count, idleMs, items }) => [
    group,
    consumer === undefined ? '*' : `=${consumer}`,
    typeof count === 'string' ? count : count.set,
    idleMs ?? '*',
    ...items.flatMap(({ id, guard }) => [...guardArguments(guard), id]),
  ],
  reply: (raw) =>
    itemsOf(raw, (status, [detail]) =>
      status === 'claimed' || status === 'gone' ? { status } : readRefusal(status, detail),
    ),
});

/** What a hand-over moved. */
export interface HandOverReply {
  readonly moved: number;
  /** Entries whose message was deleted or trimmed, dropped by the server (7.0 and later). */
  readonly gone: number;
  /** How many were too fresh to be moved among those looked at. */
  readonly kept: number;
  /** The last id looked at, where the next page goes on after; undefined when that was all. */
  readonly scannedTo: string | undefined;
}

/** Gives one consumer's pending entries to another, a page at a time; counts and idle times stay as they are. */
export const handOver = defineScript<
  {
    readonly stream: StreamKey;
    readonly group: GroupName;
    readonly from: ConsumerName;
    readonly to: ConsumerName;
    readonly minIdleMs: number;
    readonly start: EntryId;
    readonly count: number;
  },
  HandOverReply
>({
  name: 'handOver',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, from, to, min idle, first id, count.
${luaNumbers}
local rows = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[5], '+', ARGV[6], ARGV[2])
local moved, gone, kept = 0, 0, 0
for i = 1, #rows do
  local idle = rows[i][3]
  if idle >= 0 and idle < tonumber(ARGV[4]) then kept = kept + 1
  else
    local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[3], 0, rows[i][1], 'IDLE', text(math.max(idle, 0)), 'JUSTID')
    if #claimed == 0 then gone = gone + 1 else moved = moved + 1 end
  end
end
return {moved, gone, kept, #rows < tonumber(ARGV[6]) and '' or rows[#rows][1]}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, from, to, minIdleMs, start, count }) => [group, from, to, minIdleMs, start, count],
  reply: (raw) => {
    const [moved, gone, kept, scanned] = listOf(raw);
    const last = Buffer.isBuffer(scanned) ? scanned.toString() : '';
    return {
      moved: numberOf(moved),
      gone: numberOf(gone),
      kept: numberOf(kept),
      scannedTo: last === '' ? undefined : last,
    };
  },
});

/** What became of a consumer that was to be removed. */
export type ReapResult =
  | { readonly status: 'reaped' }
  | { readonly status: 'missing' }
  | { readonly status: 'has-pending'; readonly pending: number }
  | { readonly status: 'too-fresh'; readonly idleMs: number };

/**
 * Removes a consumer that owns nothing and was idle for long enough, in one step: DELCONSUMER alone would drop entries that came
 * between the check and it. Until 7.0 `idle` is the time since the last success; a live quiet consumer is recreated on delivery.
 */
export const reapConsumer = defineScript<
  {
    readonly stream: StreamKey;
    readonly group: GroupName;
    readonly consumer: ConsumerName;
    readonly minIdleMs: number;
  },
  ReapResult
>({
  name: 'reapConsumer',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, min idle.
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local row = {}
  for i = 1, #consumer, 2 do row[consumer[i]] = consumer[i + 1] end
  if row['name'] == ARGV[2] then
    if row['pending'] > 0 then return {'has-pending', row['pending']} end
    if row['idle'] < tonumber(ARGV[3]) then return {'too-fresh', row['idle']} end
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
    return {'reaped'}
  end
end
return {'missing'}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, minIdleMs }) => [group, consumer, minIdleMs],
  reply: (raw) => {
    const [result] = itemsOf([raw], (status, [detail]): ReapResult | undefined => {
      if (status === 'reaped' || status === 'missing') return { status };
      if (status === 'has-pending') return { status, pending: numberOf(detail) };
      return status === 'too-fresh' ? { status, idleMs: numberOf(detail) } : undefined;
    });
    return result ?? { status: 'missing' };
  },
});
