import type { ConsumerName, GroupName, StreamKey } from '../ids';
import { consumerName } from '../ids';
import { luaRecord } from './lua';
import { itemsOf, textOf } from './reply';
import { defineScript } from './script';

/** What became of a group that was to be removed. */
export type RemoveGroupResult =
  { readonly status: 'removed' } | { readonly status: 'in-use'; readonly consumer: ConsumerName };

/**
 * XGROUP DESTROY of a group that nobody uses: it has no consumers but these, and none of them was seen within `minIdleMs`. What is
 * pending in it is forgotten; the entries stay. Fails with `no-key` or `no-group` when it is not there.
 */
export const removeGroup = defineScript<
  {
    readonly stream: StreamKey;
    readonly group: GroupName;
    readonly minIdleMs: number;
    readonly consumers: readonly ConsumerName[];
  },
  RemoveGroupResult
>({
  name: 'removeGroup',
  readOnly: false,
  text: `
-- KEYS stream. ARGV group, min idle, then the consumers that it may have.
${luaRecord}
local mayHave = {}
for at = 3, #ARGV do mayHave[ARGV[at]] = true end
for _, reply in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = record(reply)
  if not mayHave[consumer['name']] or consumer['idle'] < tonumber(ARGV[2]) then return {'in-use', consumer['name']} end
end
redis.call('XGROUP', 'DESTROY', KEYS[1], ARGV[1])
return {'removed'}
`,
  keys: ({ stream }) => [stream],
  argv: ({ group, minIdleMs, consumers }) => [group, minIdleMs, ...consumers],
  reply: (raw) => {
    const [result] = itemsOf([raw], (status, [name]): RemoveGroupResult | undefined => {
      if (status === 'removed') return { status };
      return status === 'in-use' ? { status, consumer: consumerName(textOf(name)) } : undefined;
    });
    return result ?? { status: 'removed' };
  },
});
