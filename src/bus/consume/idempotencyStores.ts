import { systemClock } from '../../base/clock';
import type { Clock } from '../../base/clock';
import { streamKey } from '../ids';
import { checkOptions, integer, withMethods } from '../options';
import type { StreamPort } from '../port';
import { idempotencyAbandon, idempotencyBegin, idempotencyComplete } from '../scripts/idempotency';
import type { IdempotencyStore } from './idempotent';

/**
 * A store in Redis: each key is a string of its own that expires by itself, changed by scripts of one key, so that it works on a cluster. The
 * key is used as it is given; `idempotent` gives `<stream>:idempotency:<group>:<id>`. Made by `Bus.idempotencyStore`.
 */
export function redisIdempotencyStore(port: Pick<StreamPort, 'run'>): IdempotencyStore {
  return {
    async begin(key, token, leaseMs) {
      const reply = await port.run(idempotencyBegin, { key: streamKey(key), token, leaseMs });
      return reply.status === 'busy' ? { state: 'busy', leaseLeftMs: reply.leaseLeftMs } : { state: reply.status };
    },
    async complete(key, token, ttlMs) {
      await port.run(idempotencyComplete, { key: streamKey(key), token, ttlMs });
    },
    async abandon(key, token) {
      await port.run(idempotencyAbandon, { key: streamKey(key), token });
    },
  };
}

interface Known {
  /** Undefined when it is done. */
  readonly token: string | undefined;
  readonly untilMs: number;
}

/** A store in this process's memory: for tests, and for handlers whose effects are in this process too. */
export function memoryIdempotencyStore(
  options: { readonly clock?: Clock; readonly maxKeys?: number } = {},
): IdempotencyStore {
  checkOptions('memoryIdempotencyStore', options, { clock: withMethods('now', 'after'), maxKeys: integer(1) });
  const { clock = systemClock(), maxKeys = 100_000 } = options;
  const keys = new Map<string, Known>();
  const current = (key: string): Known | undefined => {
    const known = keys.get(key);
    return known && known.untilMs > clock.now() ? known : undefined;
  };
  const remember = (key: string, known: Known): void => {
    keys.delete(key);
    // The oldest goes first; a map keeps the order in which keys came.
    for (const oldest of keys.keys()) {
      if (keys.size < maxKeys) break;
      keys.delete(oldest);
    }
    keys.set(key, known);
  };
  return {
    begin(key, token, leaseMs) {
      const known = current(key);
      if (known && known.token === undefined) return Promise.resolve({ state: 'done' });
      if (known && known.token !== token)
        return Promise.resolve({ state: 'busy', leaseLeftMs: known.untilMs - clock.now() });
      remember(key, { token, untilMs: clock.now() + leaseMs });
      return Promise.resolve({ state: 'fresh' });
    },
    complete(key, token, ttlMs) {
      const holder = current(key)?.token;
      if (holder === undefined || holder === token) remember(key, { token: undefined, untilMs: clock.now() + ttlMs });
      return Promise.resolve();
    },
    abandon(key, token) {
      if (current(key)?.token === token) keys.delete(key);
      return Promise.resolve();
    },
  };
}
