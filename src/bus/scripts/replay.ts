import type { EntryFields } from '../entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { consumerName, streamKey } from '../ids';
import { luaIds, luaRecord, luaType } from './lua';
import { idOf, itemsOf, listOf, textOf } from './reply';
import { defineScript } from './script';
import type { RawReply } from './script';

/** One dead letter to publish again. */
export interface ReplayItem {
  readonly deadId: EntryId;
  /**
   * The complete fields to publish (`replayFields`). Without them the script takes the entry's own: without its trailing block, and
   * with `dl.id` and `dl.replays` appended. Give them for entries of a foreign form and for edited ones.
   */
  readonly fields?: EntryFields;
}

/** What became of one dead letter. */
export type ReplayResult =
  | { readonly status: 'replayed'; readonly id: EntryId }
  /** Somebody, or this call's lost first attempt, replayed it before; known for as long as the marker lives. */
  | { readonly status: 'already-replayed'; readonly id: EntryId }
  | { readonly status: 'gone' }
  | { readonly status: 'too-wide' };

/** The results in the order of the items, or why none was even tried. */
export type ReplayReply =
  | { readonly status: 'done'; readonly results: readonly ReplayResult[] }
  | { readonly status: 'bad-target'; readonly type: string }
  | { readonly status: 'no-stream' };

/** How long a replay is remembered: longer than any retry of a lost reply, short enough to leave nothing behind. */
export const replayMemoryMs = 24 * 60 * 60 * 1000;

/** The most items for one call. */
export const maxReplayItems = 100;

/**
 * Where a replay is remembered: a string key beside the dead letters, in their slot, that expires by itself. One key for each replay
 * needs no cleaning and no bound, unlike one hash for all.
 */
export function replayMarkerKey(deadLetters: StreamKey, deadId: EntryId): StreamKey {
  return streamKey(`${deadLetters}:replayed:${deadId}`);
}

/**
 * Replays dead letters: XADD to the target, remember the new id, XDEL the dead letter (and XACK it in groups of the dead-letter
 * stream, which would otherwise keep it pending). Of racing replays of one entry exactly one publishes. Never trims.
 */
export const replay = defineScript<
  {
    readonly deadLetters: StreamKey;
    readonly target: StreamKey;
    /** False: refuse when the target does not exist. */
    readonly makeStream: boolean;
    readonly items: readonly ReplayItem[];
  },
  ReplayReply
>({
  name: 'replay',
  readOnly: false,
  text: `
-- KEYS dead letters, target, then a marker for each entry. ARGV make stream (0 or 1), memory ms, then for each: id, field count, fields.
${luaType}${luaRecord}
local names = {'dl.id', 'dl.entry', 'dl.stream', 'dl.group', 'dl.consumer', 'dl.reason', 'dl.error.type', 'dl.error.message',
  'dl.deliveries', 'dl.at', 'dl.replays'}
local function stripped(id, fields)
  local n = #fields
  local first, replays = id, 0
  local isBlock = n >= 22
  for i = 1, 11 do
    if isBlock and fields[n - 22 + 2 * i - 1] ~= names[i] then isBlock = false end
  end
  if isBlock then isBlock = string.find(fields[n - 20], '^%d+%-%d+$') and string.find(fields[n], '^%d+$') and #fields[n] <= 15 end
  if isBlock then
    first, replays = fields[n - 20], tonumber(fields[n])
    for _ = 1, 22 do fields[#fields] = nil end
  elseif n >= 4 and fields[n - 3] == 'dl.id' and fields[n - 1] == 'dl.replays'
    and string.find(fields[n - 2], '^%d+%-%d+$') and string.find(fields[n], '^[1-9]%d*$') and #fields[n] <= 15 then
    first, replays = fields[n - 2], tonumber(fields[n])
    for _ = 1, 4 do fields[#fields] = nil end
  end
  fields[#fields + 1] = 'dl.id'
  fields[#fields + 1] = first
  fields[#fields + 1] = 'dl.replays'
  fields[#fields + 1] = string.format('%.0f', replays + 1)
  return fields
end
local target = typeOf(KEYS[2])
if target ~= 'none' and target ~= 'stream' then return {'bad-target', target} end
if target == 'none' and ARGV[1] == '0' then return {'no-stream'} end
local groups
local function forget(id)
  redis.call('XDEL', KEYS[1], id)
  if not groups then groups = redis.call('XINFO', 'GROUPS', KEYS[1]) end
  for i = 1, #groups do
    redis.call('XACK', KEYS[1], record(groups[i])['name'], id)
  end
end
local results = {}
local at, marker = 3, 3
while at <= #ARGV do
  local id, given = ARGV[at], tonumber(ARGV[at + 1])
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  local result
  if not entry then
    local known = redis.call('GET', KEYS[marker])
    if known then result = {'already-replayed', known} else result = {'gone'} end
  else
    local fields = entry[2]
    if given > 0 then
      fields = {}
      for i = 1, given do fields[i] = ARGV[at + 1 + i] end
    else
      fields = stripped(id, fields)
    end
    if #fields > 7900 then
      result = {'too-wide'}
    else
      local added = redis.call('XADD', KEYS[2], '*', unpack(fields))
      redis.pcall('SET', KEYS[marker], added, 'PX', ARGV[2])
      forget(id)
      result = {'replayed', added}
    end
  end
  results[#results + 1] = result
  at = at + 2 + given
  marker = marker + 1
end
return {'done', results}
`,
  keys: ({ deadLetters, target, items }) => [
    deadLetters,
    target,
    ...items.map(({ deadId }) => replayMarkerKey(deadLetters, deadId)),
  ],
  argv: ({ makeStream, items }) => [
    makeStream ? 1 : 0,
    replayMemoryMs,
    ...items.flatMap(({ deadId, fields = [] }) => [deadId, fields.length, ...fields]),
  ],
  reply: (raw) => {
    const [first, detail] = listOf(raw);
    const status = textOf(first);
    if (status === 'no-stream') return { status };
    if (status === 'bad-target') return { status, type: textOf(detail) };
    return { status: 'done', results: itemsOf(detail, readReplay) };
  },
});

/** What became of a dead letter that was to go back to its own group only. */
export type ReplayToGroupResult =
  | { readonly status: 'returned' }
  | { readonly status: 'gone' }
  /** The entry that died was deleted or trimmed: only a replay as a new entry is possible. */
  | { readonly status: 'original-gone' }
  /** The group has it pending again, with this owner. */
  | { readonly status: 'already-pending'; readonly owner: ConsumerName }
  /** The group has not read that far: it will get the entry by itself. */
  | { readonly status: 'not-read-yet' }
  | { readonly status: 'no-group' };

/**
 * Gives a message back to the one group in which it died, while the entry still exists: puts its id into the group's pending entries,
 * idle long enough for any reclaimer and with no delivery counted, and removes the dead letter. No other group sees it again.
 */
export const replayToGroup = defineScript<
  {
    readonly deadLetters: StreamKey;
    readonly stream: StreamKey;
    readonly group: GroupName;
    /** The name that owns the entries until a reclaimer takes them. */
    readonly consumer: ConsumerName;
    readonly idleMs: number;
    readonly items: readonly { readonly deadId: EntryId; readonly entry: EntryId }[];
  },
  readonly ReplayToGroupResult[]
>({
  name: 'replayToGroup',
  readOnly: false,
  text: `
-- KEYS dead letters, stream. ARGV group, consumer, idle ms, then for each entry: dead id, id of the entry that died.
${luaIds}${luaRecord}
local lastDelivered
if redis.call('EXISTS', KEYS[2]) == 1 then
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[2])) do
    local row = record(group)
    if row['name'] == ARGV[1] then lastDelivered = row['last-delivered-id'] end
  end
end
local function back(dead, id)
  if #redis.call('XRANGE', KEYS[1], dead, dead) == 0 then return {'gone'} end
  if not lastDelivered then return {'no-group'} end
  if #redis.call('XRANGE', KEYS[2], id, id) == 0 then return {'original-gone'} end
  local row = redis.call('XPENDING', KEYS[2], ARGV[1], id, id, 1)[1]
  if row then return {'already-pending', row[2]} end
  if isBefore(lastDelivered, id) then return {'not-read-yet'} end
  redis.call('XCLAIM', KEYS[2], ARGV[1], ARGV[2], 0, id, 'IDLE', ARGV[3], 'RETRYCOUNT', 0, 'FORCE', 'JUSTID')
  redis.call('XDEL', KEYS[1], dead)
  return {'returned'}
end
local results = {}
for at = 4, #ARGV, 2 do results[#results + 1] = back(ARGV[at], ARGV[at + 1]) end
return results
`,
  keys: ({ deadLetters, stream }) => [deadLetters, stream],
  argv: ({ group, consumer, idleMs, items }) => [
    group,
    consumer,
    idleMs,
    ...items.flatMap(({ deadId, entry }) => [deadId, entry]),
  ],
  reply: (raw) => itemsOf(raw, readReplayToGroup),
});

function readReplay(status: string, [id]: readonly RawReply[]): ReplayResult | undefined {
  if (status === 'replayed' || status === 'already-replayed') return { status, id: idOf(id) };
  return status === 'gone' || status === 'too-wide' ? { status } : undefined;
}

function readReplayToGroup(status: string, [owner]: readonly RawReply[]): ReplayToGroupResult | undefined {
  switch (status) {
    case 'returned':
    case 'gone':
    case 'original-gone':
    case 'not-read-yet':
    case 'no-group':
      return { status };
    case 'already-pending':
      return { status, owner: consumerName(textOf(owner)) };
    default:
      return undefined;
  }
}
