import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { consumerName } from '../ids';
import { luaNumbers } from './lua';
import { idOf, itemsOf, listOf, protocolError, textOf } from './reply';
import { defineScript } from './script';
import type { RawReply } from './script';

/** What became of an entry that its owner gave back. */
export type SettleResult =
  | { readonly status: 'done' }
  | { readonly status: 'not-pending' }
  | { readonly status: 'owner-changed'; readonly owner: ConsumerName }
  /** Its message was deleted or trimmed; the server dropped it from the pending entries (7.0 and later). */
  | { readonly status: 'gone' };

/** An entry that a heartbeat could not keep. */
export type LostEntry =
  | { readonly id: EntryId; readonly status: 'not-pending' | 'gone' }
  | { readonly id: EntryId; readonly status: 'owner-changed'; readonly owner: ConsumerName };

/** Whose pending entries a script is about: a stream, a group and the consumer that must still own them. */
export interface Owned {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
}

const luaOwned = `
local function notOwned(id)
  local row = redis.call('XPENDING', KEYS[1], ARGV[1], id, id, 1)[1]
  if not row then return {'not-pending'} end
  if row[2] ~= ARGV[2] then return {'owner-changed', row[2]} end
  return nil, row
end
`;

/**
 * Schedules retries: winds the idle time of entries that this consumer still owns, so that each becomes claimable when its delay
 * is over. The delivery count stays.
 */
export const retryLater = defineScript<
  Owned & { readonly retries: readonly { readonly id: EntryId; readonly idleMs: number }[] },
  readonly SettleResult[]
>({
  name: 'retryLater',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, then for each entry: id, idle.
${luaOwned}
local results = {}
for at = 3, #ARGV, 2 do
  local id = ARGV[at]
  local result = notOwned(id)
  if not result then
    local claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, id, 'IDLE', ARGV[at + 1], 'JUSTID')
    result = {#claimed == 0 and 'gone' or 'done'}
  end
  results[#results + 1] = result
end
return results
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, retries }) => [group, consumer, ...retries.flatMap(({ id, idleMs }) => [id, idleMs])],
  reply: (raw) => itemsOf(raw, readResult),
});

/**
 * Gives entries back that this consumer still owns and did not handle: claimable at once, their last delivery not counted. The
 * owner stays until somebody claims them.
 */
export const release = defineScript<
  Owned & { readonly idleMs: number; readonly ids: readonly EntryId[] },
  readonly SettleResult[]
>({
  name: 'release',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, idle, then ids.
${luaNumbers}${luaOwned}
local results = {}
for at = 4, #ARGV do
  local id = ARGV[at]
  local result, row = notOwned(id)
  if not result then
    local count = row[4]
    local claimed
    if count > 0 and count < 9007199254740992 then
      claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, id, 'IDLE', ARGV[3], 'RETRYCOUNT', text(count - 1), 'JUSTID')
    else
      claimed = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, id, 'IDLE', ARGV[3], 'JUSTID')
    end
    result = {#claimed == 0 and 'gone' or 'done'}
  end
  results[#results + 1] = result
end
return results
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, idleMs, ids }) => [group, consumer, idleMs, ...ids],
  reply: (raw) => itemsOf(raw, readResult),
});

/**
 * Keeps entries: resets the idle time of those that this consumer still owns and answers the others. An entry that somebody else
 * has claimed is never taken back.
 */
export const heartbeat = defineScript<Owned & { readonly ids: readonly EntryId[] }, readonly LostEntry[]>({
  name: 'heartbeat',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, consumer, then ids. Answers only the entries that were not kept.
${luaOwned}
local lost, kept = {}, {}
for at = 3, #ARGV do
  local id = ARGV[at]
  local result = notOwned(id)
  if result then lost[#lost + 1] = {result[1], id, result[2]}
  else kept[#kept + 1] = id end
end
for from = 1, #kept, 500 do
  local command = {'XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0}
  local last = math.min(from + 499, #kept)
  for i = from, last do command[#command + 1] = kept[i] end
  command[#command + 1] = 'JUSTID'
  local claimed = redis.call(unpack(command))
  if #claimed < last - from + 1 then
    local found = {}
    for i = 1, #claimed do found[claimed[i]] = true end
    for i = from, last do
      if not found[kept[i]] then lost[#lost + 1] = {'gone', kept[i]} end
    end
  end
end
return lost
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, consumer, ids }) => [group, consumer, ...ids],
  reply: (raw) => listOf(raw).map(readLost),
});

function readResult(status: string, [owner]: readonly RawReply[]): SettleResult | undefined {
  if (status === 'done' || status === 'not-pending' || status === 'gone') return { status };
  return status === 'owner-changed' ? { status, owner: consumerName(textOf(owner)) } : undefined;
}

function readLost(raw: RawReply): LostEntry {
  const [status, id, owner] = listOf(raw);
  const word = textOf(status);
  if (word === 'owner-changed') return { id: idOf(id), status: word, owner: consumerName(textOf(owner)) };
  if (word === 'not-pending' || word === 'gone') return { id: idOf(id), status: word };
  throw protocolError('a heartbeat status', status);
}
