import type { DeadLetterReason } from '../deadLetters';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { guardArguments, readRefusal } from './guard';
import type { GuardRefusal, PendingGuard } from './guard';
import { luaGuard, luaIso, luaNumbers, luaType } from './lua';
import { idOf, itemsOf, listOf, numberOf, textOf } from './reply';
import { defineScript } from './script';
import type { RawReply } from './script';

/** One entry to move. `consumer` and `deliveries` replace what the pending row says, for one taken over from who let it die. */
export interface DeadLetterItem {
  readonly id: EntryId;
  readonly guard: PendingGuard;
  readonly reason: DeadLetterReason;
  readonly errorType: string;
  /** Redacted and at most 1 KiB (`boundedErrorMessage`). */
  readonly errorMessage: string;
  readonly consumer?: ConsumerName;
  readonly deliveries?: number;
}

/** What became of one entry. */
export type DeadLetterResult =
  | { readonly status: 'moved'; readonly deadId: EntryId; readonly deliveries: number }
  | GuardRefusal
  /** It is pending, but its message was deleted or trimmed: there is nothing to move. It stays pending. */
  | { readonly status: 'gone' }
  /** It has more fields than a script can pass on; nothing was changed. */
  | { readonly status: 'too-wide'; readonly fieldCount: number };

/** The results in the order of the items, or why none was even tried. */
export type DeadLetterReply =
  | { readonly status: 'done'; readonly results: readonly DeadLetterResult[] }
  | { readonly status: 'bad-target'; readonly type: string };

/** The most items for one call: a script blocks the server while it runs. */
export const maxDeadLetterItems = 100;

/**
 * Moves pending entries to the dead letters: XADD of the fields and the trailing block, then XACK. The entry itself stays in its
 * stream for other groups. The block's time, owner and count are the server's own at the moment of the move.
 */
export const deadLetter = defineScript<
  {
    readonly source: StreamKey;
    readonly target: StreamKey;
    readonly group: GroupName;
    readonly items: readonly DeadLetterItem[];
  },
  DeadLetterReply
>({
  name: 'deadLetter',
  readOnly: false,
  text: `
-- KEYS source, target. ARGV group, then for each entry: guard (4), id, reason, error type, error message, consumer, deliveries.
${luaNumbers}${luaIso}${luaGuard}${luaType}
local function move(at)
  local id = ARGV[at + 4]
  local row = pendingRow(ARGV[1], id)
  local refused = refusal(row, at)
  if refused then return refused end
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  if not entry then return {'gone'} end
  local fields = entry[2]
  local n = #fields
  local first, replays = id, '0'
  if n >= 4 and fields[n - 3] == 'dl.id' and fields[n - 1] == 'dl.replays'
    and string.find(fields[n - 2], '^%d+%-%d+$') and string.find(fields[n], '^[1-9]%d*$') and #fields[n] <= 15 then
    first, replays = fields[n - 2], fields[n]
    for _ = 1, 4 do fields[#fields] = nil end
  end
  if #fields > 7900 then return {'too-wide', text(n / 2)} end
  local consumer, deliveries = ARGV[at + 8], ARGV[at + 9]
  local count = deliveries == '*' and text(row[4]) or deliveries
  local block = {
    'dl.id', first, 'dl.entry', id, 'dl.stream', KEYS[1], 'dl.group', ARGV[1],
    'dl.consumer', consumer == '*' and row[2] or string.sub(consumer, 2),
    'dl.reason', ARGV[at + 5], 'dl.error.type', ARGV[at + 6], 'dl.error.message', ARGV[at + 7],
    'dl.deliveries', count, 'dl.at', iso(now()), 'dl.replays', replays}
  for i = 1, #block do fields[#fields + 1] = block[i] end
  local dead = redis.call('XADD', KEYS[2], '*', unpack(fields))
  redis.call('XACK', KEYS[1], ARGV[1], id)
  return {'moved', dead, count}
end
local target = typeOf(KEYS[2])
if target ~= 'none' and target ~= 'stream' then return {'bad-target', target} end
local results = {}
for at = 2, #ARGV, 10 do results[#results + 1] = move(at) end
return {'done', results}
`,
  keys: ({ source, target }) => [source, target],
  argv: ({ group, items }) => [
    group,
    ...items.flatMap((item) => [
      ...guardArguments(item.guard),
      item.id,
      item.reason,
      item.errorType,
      item.errorMessage,
      item.consumer === undefined ? '*' : `=${item.consumer}`,
      item.deliveries ?? '*',
    ]),
  ],
  reply: (raw) => {
    const [status, detail] = listOf(raw);
    if (textOf(status) === 'bad-target') return { status: 'bad-target', type: textOf(detail) };
    return { status: 'done', results: itemsOf(detail, readResult) };
  },
});

function readResult(status: string, [detail, deliveries]: readonly RawReply[]): DeadLetterResult | undefined {
  if (status === 'moved') return { status, deadId: idOf(detail), deliveries: numberOf(deliveries) };
  if (status === 'gone') return { status };
  if (status === 'too-wide') return { status, fieldCount: numberOf(detail) };
  return readRefusal(status, detail);
}
