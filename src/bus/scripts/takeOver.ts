import type { EntryFields } from '../entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { consumerName } from '../ids';
import { luaNumbers, luaTake } from './lua';
import { fieldsOf, idOf, listOf, numberOf, textOf } from './reply';
import { defineScript } from './script';
import type { RawReply } from './script';

/** A pending entry that this consumer now owns. `deliveries` includes the delivery that taking it over counted. */
export interface TakenEntry {
  readonly id: EntryId;
  readonly deliveries: number;
  /** How long it had been idle, and with whom. */
  readonly idleMs: number;
  readonly previousOwner: ConsumerName;
  readonly fields: EntryFields;
}

/** A pending entry whose deliveries are used up; this consumer owns it now, so that it can dead-letter it. */
export type SpentEntry = Omit<TakenEntry, 'fields'>;

/** What a look through the pending entries brought. */
export interface TakeOver {
  readonly taken: readonly TakenEntry[];
  readonly spent: readonly SpentEntry[];
  /** Entries whose message was deleted or trimmed while they were pending; no longer pending. */
  readonly gone: readonly EntryId[];
}

/** A take-over that goes through the list: where to go on after, undefined when its end was reached. */
export interface TakeOverPage extends TakeOver {
  readonly scannedTo: EntryId | undefined;
}

/** Who takes entries over, and how many deliveries an entry may have. */
export interface Taker {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly maxDeliveries: number;
}

/** Which part of the pending entries a take-over looks at. */
export interface Page {
  /** The first id to look at. */
  readonly from: EntryId;
  /** How many pending entries to look at, and how many to take at most. */
  readonly scan: number;
  readonly limit: number;
  /** Entries that this consumer is busy with: never taken again, however idle they look. */
  readonly busy: readonly EntryId[];
}

const luaTakeAll = `
local taken, spent, gone = {}, {}, {}
local function takeInto(group, consumer, row, maxDeliveries)
  local state, value = take(group, consumer, row, maxDeliveries)
  if state == 'taken' then taken[#taken + 1] = value
  elseif state == 'over' then spent[#spent + 1] = value
  else gone[#gone + 1] = value end
end
`;

/**
 * Takes over what others let lie: pending entries idle for at least `minIdleMs`, a page at a time. XAUTOCLAIM would also claim what
 * this consumer is busy with, and tells neither delivery counts nor former owners; this does its work in one step, on any version.
 */
export const reclaim = defineScript<Taker & Page & { readonly minIdleMs: number }, TakeOverPage>({
  name: 'reclaim',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, max deliveries, min idle, from, scan, limit, then busy ids.
${luaNumbers}${luaTake}${luaTakeAll}
local maxDeliveries, minIdle, scan, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6]), tonumber(ARGV[7])
local busy = {}
for at = 8, #ARGV do busy[ARGV[at]] = true end
local rows = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[5], '+', scan)
local scanned = ''
local done = 0
for i = 1, #rows do
  if done >= limit then break end
  local row = rows[i]
  scanned = row[1]
  if (row[3] < 0 or row[3] >= minIdle) and not busy[row[1]] then
    takeInto(ARGV[1], ARGV[2], row, maxDeliveries)
    done = done + 1
  end
end
if #rows < scan and (#rows == 0 or scanned == rows[#rows][1]) then scanned = '' end
return {scanned, taken, spent, gone}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, maxDeliveries, minIdleMs, from, scan, limit, busy }) => [
    group,
    consumer,
    maxDeliveries,
    minIdleMs,
    from,
    scan,
    limit,
    ...busy,
  ],
  reply: readPage,
});

/** Takes over named entries whose retry is due; those that are not idle enough or not pending are left out of the reply. */
export const claimDue = defineScript<
  Taker & { readonly minIdleMs: number; readonly ids: readonly EntryId[] },
  TakeOver
>({
  name: 'claimDue',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, max deliveries, min idle, then ids.
${luaNumbers}${luaTake}${luaTakeAll}
local maxDeliveries, minIdle = tonumber(ARGV[3]), tonumber(ARGV[4])
for at = 5, #ARGV do
  local row = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[at], ARGV[at], 1)[1]
  if row and (row[3] < 0 or row[3] >= minIdle) then takeInto(ARGV[1], ARGV[2], row, maxDeliveries) end
end
return {taken, spent, gone}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, maxDeliveries, minIdleMs, ids }) => [group, consumer, maxDeliveries, minIdleMs, ...ids],
  reply: (raw) => {
    const [taken, spent, gone] = listOf(raw);
    return readTakeOver(taken, spent, gone);
  },
});

/**
 * Finds what this consumer owns and does not know of: delivered by a read whose reply was lost, or by a former life of the same name.
 * `countDelivery` is for the latter: a message that kills its process must use up its deliveries. What has been idle for `minIdleMs`
 * is counted always: it was to be taken over, and a retry whose claim may or may not have been heard is told apart by that.
 */
export const recoverOwn = defineScript<
  Taker & Page & { readonly countDelivery: boolean; readonly minIdleMs: number },
  TakeOverPage
>({
  name: 'recoverOwn',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, max deliveries, count delivery (0 or 1), from, scan, limit, min idle, then busy ids.
${luaNumbers}${luaTake}${luaTakeAll}
local maxDeliveries, scan, limit, minIdle = tonumber(ARGV[3]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local busy = {}
for at = 9, #ARGV do busy[ARGV[at]] = true end
local rows = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[5], '+', scan, ARGV[2])
local scanned = ''
local done = 0
for i = 1, #rows do
  if done >= limit then break end
  local row = rows[i]
  scanned = row[1]
  if not busy[row[1]] then
    done = done + 1
    if ARGV[4] == '1' or row[3] >= minIdle then
      takeInto(ARGV[1], ARGV[2], row, maxDeliveries)
    else
      local entry = redis.call('XRANGE', KEYS[1], row[1], row[1])[1]
      if not entry then
        redis.call('XACK', KEYS[1], ARGV[1], row[1])
        gone[#gone + 1] = row[1]
      else
        redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, row[1], 'JUSTID')
        local value = {row[1], text(row[4]), text(row[3]), row[2], entry[2]}
        if row[4] > maxDeliveries then spent[#spent + 1] = value else taken[#taken + 1] = value end
      end
    end
  end
end
if #rows < scan and (#rows == 0 or scanned == rows[#rows][1]) then scanned = '' end
return {scanned, taken, spent, gone}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, maxDeliveries, countDelivery, from, scan, limit, minIdleMs, busy }) => [
    group,
    consumer,
    maxDeliveries,
    countDelivery ? 1 : 0,
    from,
    scan,
    limit,
    minIdleMs,
    ...busy,
  ],
  reply: readPage,
});

function readPage(raw: RawReply): TakeOverPage {
  const [scanned, taken, spent, gone] = listOf(raw);
  return {
    scannedTo: textOf(scanned) === '' ? undefined : idOf(scanned),
    ...readTakeOver(taken, spent, gone),
  };
}

function readTakeOver(taken: RawReply | undefined, spent: RawReply | undefined, gone: RawReply | undefined): TakeOver {
  return {
    taken: listOf(taken).map((row) => ({ ...readRow(row), fields: fieldsOf(listOf(row)[4]) })),
    spent: listOf(spent).map(readRow),
    gone: listOf(gone).map(idOf),
  };
}

function readRow(raw: RawReply): SpentEntry {
  const [id, deliveries, idle, owner] = listOf(raw);
  return {
    id: idOf(id),
    deliveries: numberOf(deliveries),
    idleMs: numberOf(idle),
    previousOwner: consumerName(textOf(owner)),
  };
}
