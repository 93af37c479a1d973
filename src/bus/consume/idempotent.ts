import { randomUUID } from 'node:crypto';
import { checkOptions, callable, integer, milliseconds, withMethods } from '../options';
import { systemClock } from '../../base/clock';
import type { Clock } from '../../base/clock';
import { splitReplayOrigin } from '../deadLetters';
import type { Middleware } from './consumerOptions';
import { RetryLater } from './handler';
import type { Message } from './handler';

/** What a store knows of a key: nobody works on it, somebody does and for how long still, or it was done. */
export type IdempotencyState =
  { readonly state: 'fresh' } | { readonly state: 'busy'; readonly leaseLeftMs: number } | { readonly state: 'done' };

/**
 * Remembers in two phases which messages were handled: a lease while a handler works, so that a crash forgets it, and a mark when it
 * is done. Marking before the handler ran would lose the message with the process.
 */
export interface IdempotencyStore {
  /** Takes the lease when nobody has it. */
  begin(key: string, token: string, leaseMs: number): Promise<IdempotencyState>;
  /** Marks the key as done, if the token still has the lease. */
  complete(key: string, token: string, ttlMs: number): Promise<void>;
  /** Gives the lease back, if the token still has it. */
  abandon(key: string, token: string): Promise<void>;
}

/** The options of `idempotent`. */
export interface IdempotentOptions {
  /** What makes two messages the same. Default: the id of the first publication, which replays keep. */
  readonly keyOf?: (message: Message) => string;
  /** How long a handler may work before another may try. Default 60,000: more than the handler's timeout and grace. */
  readonly leaseMs?: number;
  /** How long a done message is remembered. Default 24 hours: more than any redelivery or replay is expected after. */
  readonly ttlMs?: number;
}

/** Middleware that does not run the handler again for a message that was handled before; one that is being handled is retried later. */
export function idempotent(store: IdempotencyStore, options: IdempotentOptions = {}): Middleware {
  checkOptions('idempotent', options, { keyOf: callable, leaseMs: milliseconds(1), ttlMs: milliseconds(1) });
  const { keyOf = firstId, leaseMs = 60_000, ttlMs = 24 * 60 * 60 * 1000 } = options;
  return async (message, _context, next) => {
    const key = keyOf(message);
    const token = randomUUID();
    const found = await store.begin(key, token, leaseMs);
    if (found.state === 'done') return;
    if (found.state === 'busy') throw new RetryLater(Math.max(1, found.leaseLeftMs), 'The message is being handled');
    try {
      await next();
    } catch (error) {
      await store.abandon(key, token);
      throw error;
    }
    await store.complete(key, token, ttlMs);
  };
}

/** A store in this process's memory: for tests, and for handlers whose effects are in this process too. */
export function memoryIdempotencyStore(
  options: { readonly clock?: Clock; readonly maxKeys?: number } = {},
): IdempotencyStore {
  checkOptions('memoryIdempotencyStore', options, { clock: withMethods('now', 'after'), maxKeys: integer(1) });
  const { clock = systemClock(), maxKeys = 100_000 } = options;
  const known = new Map<string, { readonly token: string | undefined; readonly untilMs: number }>();
  const owns = (key: string, token: string): boolean => known.get(key)?.token === token;
  return {
    begin(key, token, leaseMs) {
      const now = clock.now();
      const entry = known.get(key);
      if (entry && entry.untilMs > now)
        return Promise.resolve(
          entry.token === undefined ? { state: 'done' } : { state: 'busy', leaseLeftMs: entry.untilMs - now },
        );
      known.delete(key);
      // The oldest goes first; a map keeps the order in which keys came.
      for (const oldest of known.keys()) {
        if (known.size < maxKeys) break;
        known.delete(oldest);
      }
      known.set(key, { token, untilMs: now + leaseMs });
      return Promise.resolve({ state: 'fresh' });
    },
    complete(key, token, ttlMs) {
      if (owns(key, token)) known.set(key, { token: undefined, untilMs: clock.now() + ttlMs });
      return Promise.resolve();
    },
    abandon(key, token) {
      if (owns(key, token)) known.delete(key);
      return Promise.resolve();
    },
  };
}

function firstId(message: Message): string {
  const { origin } = splitReplayOrigin(message.rawFields);
  return `${message.stream}:${origin?.id ?? message.id}`;
}
