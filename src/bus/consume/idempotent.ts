import { randomUUID } from 'node:crypto';
import { callable, checkOptions, ConfigError, milliseconds, withMethods } from '../options';
import { splitReplayOrigin } from '../deadLetters';
import { errorKind } from '../telemetry/errorKind';
import type { Middleware } from './consumerOptions';
import { RetryLater } from './handler';
import type { HandlerContext, Message } from './handler';

/** What a store knows of a key: nobody else works on it, somebody does and for how long still, or it was done. */
export type IdempotencyState =
  { readonly state: 'fresh' } | { readonly state: 'busy'; readonly leaseLeftMs: number } | { readonly state: 'done' };

/**
 * Remembers in two phases which messages were handled: a lease while a handler works, so that a crash forgets it, and a mark when it
 * is done. Marking before the handler ran would lose the message with the process. A token is one run of one handler.
 *
 * All stores pass `test/bus/idempotencyStore.contract.ts`.
 */
export interface IdempotencyStore {
  /** Takes the lease when nobody else has it: `fresh`, also for the token that has it already, which gets its whole time again. */
  begin(key: string, token: string, leaseMs: number): Promise<IdempotencyState>;
  /** Marks the key as done for so long, unless another token has the lease now. A lease that ran out is no obstacle. */
  complete(key: string, token: string, ttlMs: number): Promise<void>;
  /** Gives the lease back, if the token has it. */
  abandon(key: string, token: string): Promise<void>;
}

/** The options of `idempotent`. */
export interface IdempotentOptions {
  /** What makes two messages of a stream the same for a group. Default: the id of the first publication, which replays keep. */
  readonly keyOf?: (message: Message) => string;
  /** How long a handler may work before another may try. Default 60,000: more than the handler's timeout and grace. */
  readonly leaseMs?: number;
  /** How long a done message is remembered. Default 24 hours: more than any redelivery or replay is expected after. */
  readonly ttlMs?: number;
}

/**
 * Middleware that does not run the handler again for a message that its group handled before; one that is being handled is retried when
 * the lease is over. What is left is a crash between the handler's effect and the mark, a moment later: an effect that must not come twice
 * even then belongs in the transaction of an inbox.
 */
export function idempotent(store: IdempotencyStore, options: IdempotentOptions = {}): Middleware {
  checkStore(store);
  checkOptions('idempotent', options, { keyOf: callable, leaseMs: milliseconds(1), ttlMs: milliseconds(1) });
  const { keyOf = firstId, leaseMs = 60_000, ttlMs = 24 * 60 * 60 * 1000 } = options;
  return async (message, context, next) => {
    const key = idempotencyKey(message, context, keyOf);
    const token = randomUUID();
    const found = await store.begin(key, token, leaseMs);
    if (found.state === 'done') return;
    if (found.state === 'busy') throw new RetryLater(Math.max(1, found.leaseLeftMs), 'The message is being handled');
    try {
      await next();
    } catch (error) {
      await store.abandon(key, token).catch((second: unknown) => {
        warn(context, message, 'A lease could not be given back; the retry waits until it is over', second);
      });
      throw error;
    }
    // The effect is there whether this works or not: to acknowledge the message is what keeps it from coming twice.
    await store.complete(key, token, ttlMs).catch((error: unknown) => {
      warn(context, message, 'A handled message could not be marked as done', error);
    });
  };
}

/**
 * What a message is known by: `<stream>:idempotency:<group>:<key>`, since each group of a stream handles it. Without `keyOf` the key is the id of
 * the first publication.
 */
export function idempotencyKey(
  message: Message,
  { group }: Pick<HandlerContext, 'group'>,
  keyOf: (message: Message) => string = firstId,
): string {
  return `${message.stream}:idempotency:${group}:${keyOf(message)}`;
}

function checkStore(store: unknown): void {
  const expected = withMethods('begin', 'complete', 'abandon')(store);
  if (expected !== undefined)
    throw new ConfigError('invalid-option', 'idempotent.store', `idempotent.store: expected ${expected}`);
}

function firstId(message: Message): string {
  const { origin } = splitReplayOrigin(message.rawFields);
  return origin?.id ?? message.id;
}

function warn({ log, group, consumer }: HandlerContext, { stream, id }: Message, text: string, error: unknown): void {
  log.warn(text, { stream, group, consumer, message_id: id, error_kind: errorKind(error) });
}
