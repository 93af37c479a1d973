import type { EntryFields } from '../entries';
import type { EntryId, GroupName, StreamKey } from '../ids';
import { groupName } from '../ids';
import { luaIds, luaRecord, luaType } from './lua';
import { idOf, itemsOf, listOf, numberOf, textOf } from './reply';
import { defineScript } from './script';
import type { RawReply } from './script';

/** What became of an entry that was to be deleted. */
export type DeleteResult =
  | { readonly status: 'deleted' }
  | { readonly status: 'missing' }
  /** This group has not read it yet, or has not acknowledged it. */
  | { readonly status: 'unread' | 'pending'; readonly group: GroupName };

/** XDEL of entries that every group has read and acknowledged; of others it answers the first group that has not. */
export const deleteEntries = defineScript<
  { readonly stream: StreamKey; readonly ids: readonly EntryId[] },
  readonly DeleteResult[]
>({
  name: 'deleteEntries',
  readOnly: false,
  text: `
-- KEYS stream. ARGV ids.
${luaIds}${luaRecord}
if redis.call('EXISTS', KEYS[1]) == 0 then
  local missing = {}
  for i = 1, #ARGV do missing[i] = {'missing'} end
  return missing
end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
for i = 1, #groups do groups[i] = record(groups[i]) end
local function remove(id)
  if #redis.call('XRANGE', KEYS[1], id, id) == 0 then return {'missing'} end
  for i = 1, #groups do
    local name = groups[i]['name']
    if isBefore(groups[i]['last-delivered-id'], id) then return {'unread', name} end
    if #redis.call('XPENDING', KEYS[1], name, id, id, 1) > 0 then return {'pending', name} end
  end
  redis.call('XDEL', KEYS[1], id)
  return {'deleted'}
end
local results = {}
for i = 1, #ARGV do results[i] = remove(ARGV[i]) end
return results
`,
  keys: ({ stream }) => [stream],
  argv: ({ ids }) => ids,
  reply: (raw) =>
    itemsOf(raw, (status, [group]): DeleteResult | undefined => {
      if (status === 'deleted' || status === 'missing') return { status };
      return status === 'unread' || status === 'pending' ? { status, group: groupName(textOf(group)) } : undefined;
    }),
});

/** What acknowledging and deleting came to. */
export interface AcknowledgeDeleteReply {
  /** How many were pending and no longer are. */
  readonly acknowledged: number;
  /** How many were deleted from the stream, because no group needs them any more. */
  readonly deleted: number;
}

/**
 * Acknowledges entries and deletes those that every group has read and acknowledged: XACKDEL with ACKED where the server has it
 * (Redis 8.2), else XACK and the same check here.
 */
export const acknowledgeDelete = defineScript<
  {
    readonly stream: StreamKey;
    readonly group: GroupName;
    readonly ids: readonly EntryId[];
    /** Whether the server has XACKDEL. */
    readonly hasAckDelete: boolean;
  },
  AcknowledgeDeleteReply
>({
  name: 'acknowledgeDelete',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, has XACKDEL (0 or 1), then ids.
${luaIds}${luaRecord}
local acknowledged, deleted = 0, 0
if ARGV[2] == '1' then
  local command = {'XACKDEL', KEYS[1], ARGV[1], 'ACKED', 'IDS', #ARGV - 2}
  for at = 3, #ARGV do command[#command + 1] = ARGV[at] end
  local results = redis.call(unpack(command))
  for i = 1, #results do
    if results[i] == 1 then deleted = deleted + 1 end
    if results[i] ~= -1 then acknowledged = acknowledged + 1 end
  end
  return {acknowledged, deleted}
end
if redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0} end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
for i = 1, #groups do groups[i] = record(groups[i]) end
local function isNeeded(id)
  for i = 1, #groups do
    if isBefore(groups[i]['last-delivered-id'], id) then return true end
    if #redis.call('XPENDING', KEYS[1], groups[i]['name'], id, id, 1) > 0 then return true end
  end
  return false
end
for at = 3, #ARGV do
  local id = ARGV[at]
  if redis.call('XACK', KEYS[1], ARGV[1], id) == 1 then
    acknowledged = acknowledged + 1
    if not isNeeded(id) then deleted = deleted + redis.call('XDEL', KEYS[1], id) end
  end
end
return {acknowledged, deleted}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, ids, hasAckDelete }) => [group, hasAckDelete ? 1 : 0, ...ids],
  reply: (raw) => {
    const [acknowledged, deleted] = listOf(raw);
    return { acknowledged: numberOf(acknowledged), deleted: numberOf(deleted) };
  },
});

/** What one step of a safe trim did. */
export type SafeTrimReply =
  | {
      readonly status: 'trimmed';
      readonly removed: number;
      /** True when the policy wants more removed and another step can remove it. */
      readonly more: boolean;
      /** The group that holds back what the policy would remove, when one does, and the first id that it holds. */
      readonly heldBy?: { readonly group: GroupName; readonly from: EntryId };
    }
  /** Without groups nothing tells what is still needed. */
  | { readonly status: 'no-groups' };

/** How many entries one step removes one by one at most; whole nodes are removed before that. */
export const safeTrimStep = 1000;

/**
 * Trims from the start of a stream as far as the policy wants, but never an entry that some group has not read or not acknowledged:
 * everything from the lowest of (first pending id, id after the last delivered one) on stays. Groups that never read hold all.
 */
export const safeTrim = defineScript<
  {
    readonly stream: StreamKey;
    readonly policy: { readonly maxLength: number } | { readonly minId: EntryId };
    readonly step?: number;
  },
  SafeTrimReply
>({
  name: 'safeTrim',
  readOnly: false,
  text: `
-- KEYS stream. ARGV 'maxlen' or 'minid', the length or id, step.
${luaIds}${luaRecord}
if redis.call('EXISTS', KEYS[1]) == 0 then return {'trimmed', 0, 0} end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
if #groups == 0 then return {'no-groups'} end
local bound, inclusive, holder
for i = 1, #groups do
  local group = record(groups[i])
  local first = redis.call('XPENDING', KEYS[1], group['name'])[2]
  local id = first or group['last-delivered-id']
  -- A pending id must stay; of the last delivered id only what comes after it must.
  local keeps = first and true or false
  if not bound or isBefore(id, bound) or (id == bound and keeps and not inclusive) then
    bound, inclusive, holder = id, keeps, group['name']
  end
end
local function mustStay(id)
  if inclusive then return not isBefore(id, bound) end
  return isBefore(bound, id)
end
local byLength = ARGV[1] == 'maxlen'
local step = tonumber(ARGV[3])
local removed = 0
local function excess()
  if byLength then return redis.call('XLEN', KEYS[1]) - tonumber(ARGV[2]) end
  return math.huge
end
-- Whole nodes first, where the server can: never past the bound, never more than the policy wants.
local limit = excess()
if limit > 200 then
  local edge = bound
  if not byLength and isBefore(ARGV[2], bound) then edge = ARGV[2] end
  local reply = redis.pcall('XTRIM', KEYS[1], 'MINID', '~', edge, 'LIMIT', byLength and math.min(limit, 100000) or 100000)
  if type(reply) == 'number' then removed = reply end
end
local wanted = math.min(excess(), step)
local held = 0
local count = 0
if wanted > 0 then
  local entries = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', wanted)
  local ids = {}
  for i = 1, #entries do
    local id = entries[i][1]
    if not byLength and not isBefore(id, ARGV[2]) then break end
    if mustStay(id) then held = id break end
    ids[#ids + 1] = id
  end
  count = #ids
  for from = 1, count, 500 do
    removed = removed + redis.call('XDEL', KEYS[1], unpack(ids, from, math.min(from + 499, count)))
  end
end
local more = (held == 0 and count == step and excess() > 0) and 1 or 0
if held ~= 0 then return {'trimmed', removed, more, holder, held} end
return {'trimmed', removed, more}
`,
  keys: ({ stream }) => [stream],
  argv: ({ policy, step }) => [
    ...('maxLength' in policy ? ['maxlen', policy.maxLength] : ['minid', policy.minId]),
    step ?? safeTrimStep,
  ],
  reply: (raw) => {
    const [status, removed, more, group, from] = listOf(raw);
    if (textOf(status) === 'no-groups') return { status: 'no-groups' };
    return {
      status: 'trimmed',
      removed: numberOf(removed),
      more: numberOf(more) === 1,
      ...(group === undefined ? {} : { heldBy: { group: groupName(textOf(group)), from: idOf(from) } }),
    };
  },
});

/** What became of a message that may have been published before. */
export type PublishReply =
  | { readonly status: 'published' | 'duplicate'; readonly id: EntryId }
  | { readonly status: 'wrong-type'; readonly type: string }
  | { readonly status: 'no-stream' };

/**
 * XADD unless the same deduplication key was published within its window; then it answers the id of that time. The marker is set
 * after the entry is there, in one step with it.
 */
export const publishDeduplicated = defineScript<
  {
    readonly stream: StreamKey;
    readonly marker: StreamKey;
    readonly windowMs: number;
    readonly makeStream: boolean;
    readonly trim?: { readonly by: 'MAXLEN' | 'MINID'; readonly bound: string; readonly approximate: boolean };
    readonly fields: EntryFields;
  },
  PublishReply
>({
  name: 'publishDeduplicated',
  readOnly: false,
  text: `
-- KEYS stream, marker. ARGV window ms, make stream (0 or 1), number of trim words, trim words, then fields.
${luaType}
local known = redis.call('GET', KEYS[2])
if known then return {'duplicate', known} end
local found = typeOf(KEYS[1])
if found ~= 'none' and found ~= 'stream' then return {'wrong-type', found} end
if found == 'none' and ARGV[2] == '0' then return {'no-stream'} end
local words = tonumber(ARGV[3])
local command = {'XADD', KEYS[1]}
for i = 4, 3 + words do command[#command + 1] = ARGV[i] end
command[#command + 1] = '*'
for i = 4 + words, #ARGV do command[#command + 1] = ARGV[i] end
local id = redis.call(unpack(command))
redis.call('SET', KEYS[2], id, 'PX', ARGV[1])
return {'published', id}
`,
  keys: ({ stream, marker }) => [stream, marker],
  argv: ({ windowMs, makeStream, trim, fields }) => {
    const words = trim === undefined ? [] : [trim.by, trim.approximate ? '~' : '=', trim.bound];
    return [windowMs, makeStream ? 1 : 0, words.length, ...words, ...fields];
  },
  reply: readPublish,
});

function readPublish(raw: RawReply): PublishReply {
  const [first, detail] = listOf(raw);
  const status = textOf(first);
  if (status === 'no-stream') return { status };
  if (status === 'wrong-type') return { status, type: textOf(detail) };
  return { status: status === 'duplicate' ? status : 'published', id: idOf(detail) };
}
