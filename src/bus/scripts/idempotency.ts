import { BusError } from '../errors';
import type { StreamKey } from '../ids';
import { luaNumbers } from './lua';
import { listOf, numberOf, textOf } from './reply';
import { defineScript } from './script';

/** The key of a message that is handled once, and who works on it. */
export interface IdempotencyArguments {
  readonly key: StreamKey;
  /** Of one run of one handler. */
  readonly token: string;
}

/** What a key says: nobody else works on it and the lease is the token's, somebody does for so long still, or it was done. */
export type IdempotencyReply =
  | { readonly status: 'fresh' }
  | { readonly status: 'busy'; readonly leaseLeftMs: number }
  | { readonly status: 'done' };

/**
 * `value`: what the key holds, `mine`: what it holds while the token has the lease. A key is a string: `done`, or `lease:` and a token; it
 * always has an expiry.
 */
const luaLease = `
local value = redis.call('GET', KEYS[1])
local mine = 'lease:' .. ARGV[1]
`;

/** Takes the lease when nobody else has it. With the token of the lease it is taken again, from now, so that it may be asked twice. */
export const idempotencyBegin = defineScript<IdempotencyArguments & { readonly leaseMs: number }, IdempotencyReply>({
  name: 'idempotencyBegin',
  readOnly: false,
  text: `
-- KEYS key. ARGV token, lease ms.
${luaNumbers}${luaLease}
if not value or value == mine then
  redis.call('SET', KEYS[1], mine, 'PX', ARGV[2])
  return {'fresh'}
end
if value == 'done' then return {'done'} end
if string.sub(value, 1, 6) ~= 'lease:' then return {'foreign'} end
return {'busy', text(redis.call('PTTL', KEYS[1]))}
`,
  keys: ({ key }) => [key],
  argv: ({ token, leaseMs }) => [token, leaseMs],
  reply: (raw) => {
    const [first, left] = listOf(raw);
    const status = textOf(first);
    if (status === 'fresh' || status === 'done') return { status };
    if (status === 'busy') return { status, leaseLeftMs: Math.max(0, numberOf(left)) };
    throw new BusError('wrong-type', 'The key of an idempotency store holds something else');
  },
});

/** Marks the key as done, unless another token has the lease; whether it is done now. A lease that ran out is no obstacle. */
export const idempotencyComplete = defineScript<IdempotencyArguments & { readonly ttlMs: number }, boolean>({
  name: 'idempotencyComplete',
  readOnly: false,
  text: `
-- KEYS key. ARGV token, time to remember ms.
${luaLease}
if not value or value == mine or value == 'done' then
  redis.call('SET', KEYS[1], 'done', 'PX', ARGV[2])
  return 1
end
return 0
`,
  keys: ({ key }) => [key],
  argv: ({ token, ttlMs }) => [token, ttlMs],
  reply: (raw) => numberOf(raw) === 1,
});

/** Gives the lease back, if the token has it; whether it had. */
export const idempotencyAbandon = defineScript<IdempotencyArguments, boolean>({
  name: 'idempotencyAbandon',
  readOnly: false,
  text: `
-- KEYS key. ARGV token.
${luaLease}
if value == mine then return redis.call('DEL', KEYS[1]) end
return 0
`,
  keys: ({ key }) => [key],
  argv: ({ token }) => [token],
  reply: (raw) => numberOf(raw) === 1,
});
