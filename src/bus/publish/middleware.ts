import type { StreamKey } from '../ids';
import type { Published } from './publisher';

/** A message on its way out, as publish middleware sees it. */
export interface OutgoingMessage {
  readonly stream: StreamKey;
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly body: unknown;
  /** A copy of this publication's own: what middleware adds here is published too, if the codec carries it. Has no prototype. */
  readonly headers: Record<string, string>;
  readonly dedupeKey: string | undefined;
}

/**
 * Something around every publication: does its part, calls `next` at most once, and answers what that resolved with. Its time counts
 * towards the publication's. What it throws becomes a `PublishError` of reason `middleware`.
 */
export type PublishMiddleware = (outgoing: OutgoingMessage, next: () => Promise<Published>) => Promise<Published>;

/** What middleware works on: the message with headers of its own. */
export function outgoingOf(
  stream: StreamKey,
  message: {
    readonly type?: string | undefined;
    readonly key?: string | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly body: unknown;
  },
  dedupeKey: string | undefined,
): OutgoingMessage {
  const { type, key, body, headers } = message;
  const own = Object.create(null) as Record<string, string>;
  return { stream, type, key, body, headers: Object.assign(own, headers), dedupeKey };
}

/** Sends a message through middleware, the first outermost. */
export function throughMiddleware(
  use: readonly PublishMiddleware[],
  outgoing: OutgoingMessage,
  send: () => Promise<Published>,
): Promise<Published> {
  return use.reduceRight<() => Promise<Published>>(
    (next, middleware) => async () => middleware(outgoing, once(next)),
    send,
  )();
}

/**
 * Lets the messages of a batch go together and in their order, once each has come through its middleware or has failed on the way.
 */
export class Lineup {
  private missing: number;
  private readonly starts = new Map<number, () => void>();

  constructor(size: number) {
    this.missing = size;
  }

  /** Resolves when all are there. */
  arrive(index: number): Promise<void> {
    return new Promise((resolve) => {
      this.starts.set(index, resolve);
      this.countDown();
    });
  }

  /** One that will not come, or has gone; only the first call for a message that never arrived counts. */
  leave(index: number): void {
    if (this.starts.has(index)) return;
    this.starts.set(index, () => undefined);
    this.countDown();
  }

  private countDown(): void {
    this.missing -= 1;
    if (this.missing > 0) return;
    for (const [, start] of [...this.starts].sort(([a], [b]) => a - b)) start();
  }
}

/** A second message for one call would break what publishing promises: nothing is sent twice. */
function once(next: () => Promise<Published>): () => Promise<Published> {
  let isCalled = false;
  return () => {
    if (isCalled) return Promise.reject(new Error('A publish middleware called next twice'));
    isCalled = true;
    return next();
  };
}
