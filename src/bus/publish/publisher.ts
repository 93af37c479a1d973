import type { Clock } from '../../base/clock';
import { exponential } from '../consume/backoff';
import type { EntryFields } from '../entries';
import { BusError } from '../errors';
import { displayText } from '../../base/byteText';
import { entryIdOf, entryIdParts, streamKey } from '../ids';
import type { EntryId, StreamKey } from '../ids';
import { checkOptions, ConfigError, milliseconds, text, withMethods } from '../options';
import type { AddOptions, StreamPort, TrimPolicy } from '../port';
import { hasHashTag, slotOf } from '../redis/slots';
import { publishDeduplicated } from '../scripts/stream';
import { Lineup, outgoingOf, throughMiddleware } from './middleware';
import type { OutgoingMessage, PublishMiddleware } from './middleware';
import { checkMessage, checkOutgoing, encodeOutgoing } from './prepare';
import { aborted, PublishError, publishError } from './publishError';
import { keyOf, topicOf } from './topic';
import type { Retention, StreamRef } from './topic';

/** A message to publish. */
export interface NewMessage<Body = unknown> {
  readonly body: Body;
  /** Needs a codec that carries it. */
  readonly type?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a message is published. */
export interface PublishOptions {
  /** The same key within the window is published once; also makes it safe to try again after a lost reply, which is then done. */
  readonly dedupeKey?: string;
  /** How long the key is remembered, from its first publication. Default 120,000. */
  readonly dedupeWindowMs?: number;
  /** How long to wait, tries included. Default 5,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A published message: its id, and whether it had been published before under the same dedupe key. */
export interface Published {
  readonly id: EntryId;
  readonly duplicate: boolean;
}

/** What became of one message of a batch. */
export type BatchResult =
  { readonly status: 'published'; readonly id: EntryId } | { readonly status: 'failed'; readonly error: PublishError };

/** What publishing needs. */
export interface PublisherOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly env: string | undefined;
  /** Around every publication, the first outermost; a topic's own comes inside. */
  readonly use: readonly PublishMiddleware[];
}

/** How far a publication has come. */
interface Progress {
  /** The caller was told that it failed: nothing more may be sent. */
  isOver: boolean;
  /** It was handed to the connection. */
  isSent: boolean;
}

/** Entries with more values than this cannot pass through a script. */
const maxScriptValues = 7900;

/** Publishes messages to streams. */
export class Publisher {
  /** The newest server time seen on each stream with a retention by age; ids tell it, so no other clock is needed. */
  private readonly serverMs = new Map<StreamKey, bigint>();
  private readonly backoff = exponential({ baseMs: 50, maxMs: 1000 });

  constructor(private readonly options: PublisherOptions) {}

  /**
   * Adds one message (XADD, or a script when there is a dedupe key). Rejects with a `PublishError`; one that is `ambiguous` may have
   * been published. Without a dedupe key nothing is ever sent twice.
   */
  async publish(ref: StreamRef, message: NewMessage, options: PublishOptions = {}): Promise<Published> {
    checkOptions('publish', options, {
      dedupeKey: text,
      dedupeWindowMs: milliseconds(1),
      timeoutMs: milliseconds(1),
      signal: withMethods('addEventListener'),
    });
    const stream = keyOf(ref, this.options.env);
    const { dedupeKey, dedupeWindowMs = 120_000, timeoutMs = 5000, signal } = options;
    checkMessage(message);
    const outgoing = outgoingOf(stream, message, dedupeKey);
    if (signal?.aborted) throw aborted(stream, false, signal);
    return this.bounded(stream, timeoutMs, signal, (progress) =>
      this.send(ref, outgoing, progress, (entry) =>
        dedupeKey === undefined
          ? this.addOnce(stream, entry, ref)
          : this.addDeduplicated(stream, entry, ref, dedupeKey, dedupeWindowMs, () => progress.isOver),
      ),
    );
  }

  /** Adds messages in one round trip, in order; each succeeds or fails by itself, so that a failure tells which to publish again. */
  async publishBatch(
    ref: StreamRef,
    messages: readonly NewMessage[],
    options: Pick<PublishOptions, 'timeoutMs' | 'signal'> = {},
  ): Promise<readonly BatchResult[]> {
    checkOptions('publishBatch', options, { timeoutMs: milliseconds(1), signal: withMethods('addEventListener') });
    const stream = keyOf(ref, this.options.env);
    const { timeoutMs = 5000, signal } = options;
    messages.forEach(checkMessage);
    if (signal?.aborted) throw aborted(stream, false, signal);
    const lineup = new Lineup(messages.length);
    return Promise.all(
      messages.map((message, index) =>
        this.bounded(stream, timeoutMs, signal, (progress) =>
          this.send(
            ref,
            outgoingOf(stream, message, undefined),
            progress,
            (entry) => this.addOnce(stream, entry, ref),
            () => lineup.arrive(index),
          ),
        )
          .finally(() => {
            lineup.leave(index);
          })
          .then(
            ({ id }): BatchResult => ({ status: 'published', id }),
            (error: unknown): BatchResult => {
              if (PublishError.is(error)) return { status: 'failed', error };
              if (!ConfigError.is(error)) throw error;
              // Headers that middleware made; the other messages are on their way.
              return {
                status: 'failed',
                error: new PublishError('invalid', stream, false, error.message, { cause: error }),
              };
            },
          ),
      ),
    );
  }

  /** Takes a message through its middleware, writes its fields and sends it; `lineUp` is waited for before it is sent. */
  private async send(
    ref: StreamRef,
    outgoing: OutgoingMessage,
    progress: Progress,
    add: (entry: EntryFields) => Promise<Published>,
    lineUp?: () => Promise<void>,
  ): Promise<Published> {
    const { stream } = outgoing;
    let failure: unknown;
    try {
      return await throughMiddleware([...this.options.use, ...(topicOf(ref)?.use ?? [])], outgoing, async () => {
        try {
          const checked = checkOutgoing(topicOf(ref), outgoing);
          if (checked) await checked;
          const entry = encodeOutgoing(topicOf(ref), outgoing);
          if (lineUp) await lineUp();
          if (progress.isOver) throw new PublishError('timeout', stream, false, 'It is too late to send the message');
          progress.isSent = true;
          return await add(entry);
        } catch (error) {
          failure = error;
          throw error;
        }
      });
    } catch (error) {
      if (error === failure || PublishError.is(error)) throw error;
      const doubt = progress.isSent && failure === undefined ? '; it was published' : '';
      const message = `Cannot publish to ${displayText(stream)}: a middleware failed${doubt}`;
      throw new PublishError('middleware', stream, progress.isSent, message, { cause: error });
    }
  }

  private async addOnce(stream: StreamKey, entry: EntryFields, ref: StreamRef): Promise<Published> {
    const trim = this.trimFor(stream, topicOf(ref)?.retention);
    const options: AddOptions = trim === undefined ? {} : { trim };
    try {
      const id = await this.options.port.add(stream, entry, options);
      if (id === null) throw new BusError('protocol', 'XADD answered nil');
      this.learnTime(stream, id, ref);
      return { id, duplicate: false };
    } catch (error) {
      throw publishError(stream, error);
    }
  }

  private async addDeduplicated(
    stream: StreamKey,
    entry: EntryFields,
    ref: StreamRef,
    dedupeKey: string,
    windowMs: number,
    isOver: () => boolean,
  ): Promise<Published> {
    if (entry.length > maxScriptValues) {
      const message = `A message with ${entry.length / 2} fields cannot be deduplicated: at most ${maxScriptValues / 2}`;
      throw new PublishError('too-wide', stream, false, message);
    }
    const { port, clock } = this.options;
    const trim = this.trimFor(stream, topicOf(ref)?.retention);
    let isAmbiguous = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const marker = await this.markerKey(stream, dedupeKey);
        const reply = await port.run(publishDeduplicated, {
          stream,
          marker,
          windowMs,
          makeStream: true,
          fields: entry,
          ...(trim === undefined ? {} : { trim: scriptTrim(trim) }),
        });
        if (reply.status === 'wrong-type') throw new BusError('wrong-type', `${stream} is a ${reply.type}, no stream`);
        if (reply.status === 'no-stream') throw new BusError('no-key', `${stream} does not exist`);
        this.learnTime(stream, reply.id, ref);
        return { id: reply.id, duplicate: reply.status === 'duplicate' && !isAmbiguous };
      } catch (error) {
        if (!BusError.is(error) || !error.retriable || isOver()) throw publishError(stream, error);
        isAmbiguous ||= error.details.ambiguous === true;
        await new Promise<void>((resolve) => {
          clock.after(this.backoff(attempt), resolve);
        });
        if (isOver()) throw publishError(stream, error, isAmbiguous);
      }
    }
  }

  /** Where a dedupe key is remembered: beside the stream, in its slot on a cluster. */
  private async markerKey(stream: StreamKey, dedupeKey: string): Promise<StreamKey> {
    const { isCluster } = await this.options.port.capabilities();
    const base = isCluster && !hasHashTag(stream) ? `{${stream}}` : stream;
    const marker = streamKey(`${base}:dedupe:${dedupeKey}`);
    if (isCluster && slotOf(marker) !== slotOf(stream))
      throw new ConfigError(
        'unsupported',
        'publish.dedupeKey',
        `publish.dedupeKey: on a cluster no key for ${displayText(stream)} can be in its slot; rename the stream or publish without`,
      );
    return marker;
  }

  private trimFor(stream: StreamKey, retention: Retention | undefined): TrimPolicy | undefined {
    if (retention === undefined || retention === 'none') return undefined;
    if ('maxLength' in retention) return { maxLength: retention.maxLength, approximate: true };
    const now = this.serverMs.get(stream);
    const from = now === undefined ? -1n : now - BigInt(retention.maxAgeMs);
    // The first message only tells the time; what it does not trim the second does.
    return from <= 0n ? undefined : { minId: entryIdOf({ ms: from, seq: 0n }), approximate: true };
  }

  private learnTime(stream: StreamKey, id: EntryId, ref: StreamRef): void {
    const retention = topicOf(ref)?.retention;
    if (typeof retention === 'object' && 'maxAgeMs' in retention) this.serverMs.set(stream, entryIdParts(id).ms);
  }

  private async bounded(
    stream: StreamKey,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    run: (progress: Progress) => Promise<Published>,
  ): Promise<Published> {
    const progress: Progress = { isOver: false, isSent: false };
    let stop: () => void = () => undefined;
    const ended = new Promise<never>((_, reject) => {
      const end = (error: PublishError): void => {
        progress.isOver = true;
        reject(error);
      };
      const cancel = this.options.clock.after(timeoutMs, () => {
        const doubt = progress.isSent ? 'it may have been published' : 'nothing was sent';
        const message = `Publishing to ${displayText(stream)} took longer than ${timeoutMs} ms; ${doubt}`;
        end(new PublishError('timeout', stream, progress.isSent, message));
      });
      const onAbort = (): void => {
        end(aborted(stream, progress.isSent, signal));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      stop = () => {
        cancel();
        signal?.removeEventListener('abort', onAbort);
      };
    });
    try {
      return await Promise.race([run(progress), ended]);
    } finally {
      stop();
    }
  }
}

function scriptTrim(trim: TrimPolicy): { by: 'MAXLEN' | 'MINID'; bound: string; approximate: boolean } {
  return trim.maxLength === undefined
    ? { by: 'MINID', bound: trim.minId, approximate: trim.approximate }
    : { by: 'MAXLEN', bound: String(trim.maxLength), approximate: trim.approximate };
}
