import { systemClock } from '../base/clock';
import type { Clock } from '../base/clock';
import type { HandlersOf, Message } from './consume/handler';
import { Consumer } from './consume/consumer';
import { resolveConsumerOptions } from './consume/consumerOptions';
import type { ConsumerOptions, Handlers } from './consume/consumerOptions';
import { redisIdempotencyStore } from './consume/idempotencyStores';
import type { IdempotencyStore } from './consume/idempotent';
import type { HeartbeatConnection } from './consume/heartbeatThread';
import { messageHistory } from './history/messageHistory';
import type { MessageHistory } from './history/messageHistory';
import { consumerName, groupName } from './ids';
import type { EntryId, StreamKey } from './ids';
import { inspectStream } from './inspect/inspectStream';
import type { StreamInspection } from './inspect/inspectStream';
import { lazyPort } from './lazyPort';
import { DeadLetters } from './operate/deadLetters';
import { handOverPending, reapConsumers, trimKeepingUnacknowledged } from './operate/maintain';
import type { HandOverReport, TrimReport } from './operate/maintain';
import { checkOptions, ConfigError, either, functions, milliseconds, text, withMethods } from './options';
import type { Check } from './options';
import type { StreamPort } from './port';
import type { PublishMiddleware } from './publish/middleware';
import { Publisher } from './publish/publisher';
import type { BatchResult, NewMessage, Published, PublishOptions } from './publish/publisher';
import { keyOf, topicOf } from './publish/topic';
import type { StreamRef } from './publish/topic';
import { connectRedis } from './redis/connect';
import type { RedisPortOptions } from './redis/connect';
import type { ReapResult } from './scripts/pending';
import { BusWatch } from './telemetry/busWatch';
import type { Telemetry } from './telemetry/telemetry';
import { watchedPort } from './telemetry/watchedPort';

/** The options of a bus. */
export interface BusOptions {
  /** Where the server is: a URL, or a URL with more. Either this or `port`. */
  readonly redis?: string | RedisPortOptions;
  /** A port that is connected already; the bus closes it. */
  readonly port?: StreamPort;
  /** The environment: its name and a colon come before every stream name that is not exact. Default: none. */
  readonly env?: string;
  /** Around every publication, the first outermost. A consumer has middleware of its own. */
  readonly use?: readonly PublishMiddleware[];
  /** Where spans and metrics go: `otel()`, or `{ metrics }`. Default: nowhere. */
  readonly telemetry?: Telemetry;
  /** Default: the system's. */
  readonly clock?: Clock;
}

const isObject: Check = (value) => (typeof value === 'object' && value !== null ? undefined : 'an object');

const redisOption: Check = (value) =>
  typeof value === 'object' && value !== null && 'url' in value ? undefined : 'an object with a url';

/** Makes a bus. It connects when it is first used. Throws a `ConfigError` for options that it cannot work with. */
export function createBus(options: BusOptions): Bus {
  checkOptions('bus', options, {
    redis: either(text, redisOption),
    port: withMethods('add', 'run', 'openReader'),
    env: text,
    use: functions,
    telemetry: isObject,
    clock: withMethods('now', 'after'),
  });
  const { redis, port } = options;
  if ((redis === undefined) === (port === undefined)) {
    const given = redis === undefined ? 'neither' : 'both';
    throw new ConfigError('conflicting-options', 'bus.redis', `bus: expected either redis or port, got ${given}`);
  }
  const clock = options.clock ?? systemClock();
  const { env, use = [], telemetry } = options;
  if (port) return new Bus({ port, clock, env, use, telemetry, connection: undefined });
  const connect: RedisPortOptions = typeof redis === 'string' ? { url: redis } : (redis ?? { url: '' });
  const { url, tls, connectTimeoutMs, socketTimeoutMs, protocol } = connect;
  return new Bus({
    port: lazyPort(() => connectRedis(connect)),
    clock,
    env,
    use,
    telemetry,
    connection: {
      url,
      ...(tls === undefined ? {} : { tls }),
      ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
      ...(socketTimeoutMs === undefined ? {} : { socketTimeoutMs }),
      ...(protocol === undefined ? {} : { protocol }),
    },
  });
}

/** What a bus is made of. */
export interface BusParts {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly env: string | undefined;
  readonly use: readonly PublishMiddleware[];
  readonly telemetry: Telemetry | undefined;
  readonly connection: HeartbeatConnection | undefined;
}

/** Publishes, consumes and operates streams over one server. */
export class Bus {
  private readonly watch: BusWatch;
  private readonly publisher: Publisher;
  private readonly consumers = new Set<Consumer>();

  constructor(private readonly parts: BusParts) {
    this.watch = new BusWatch({ ...parts, url: parts.connection?.url });
    this.publisher = new Publisher({ ...parts, use: [this.watch.publish, ...parts.use] });
  }

  /** The key of a stream in this bus's environment. */
  keyOf(ref: StreamRef): StreamKey {
    return keyOf(ref, this.parts.env);
  }

  /** Publishes one message; see `Publisher.publish`. */
  publish<Sent extends NewMessage = NewMessage>(
    ref: StreamRef<Sent>,
    message: NoInfer<Sent>,
    options?: PublishOptions,
  ): Promise<Published> {
    this.watch.learn(ref, this.parts.env);
    return this.publisher.publish(ref, message, options);
  }

  /** Publishes messages in one round trip; see `Publisher.publishBatch`. */
  publishBatch<Sent extends NewMessage = NewMessage>(
    ref: StreamRef<Sent>,
    messages: readonly NoInfer<Sent>[],
    options?: Pick<PublishOptions, 'timeoutMs' | 'signal'>,
  ): Promise<readonly BatchResult[]> {
    this.watch.learn(ref, this.parts.env);
    return this.publisher.publishBatch(ref, messages, options);
  }

  /**
   * Makes a consumer; `start` it. The topic's codec is used unless the options name one. What does not fit the topic's schemas becomes a dead
   * letter with reason `invalid`, and no handler sees it.
   */
  consume<Received extends Message = Message>(
    ref: StreamRef<unknown, Received>,
    options: ConsumerOptions,
    handlers: NoInfer<HandlersOf<Received>>,
  ): Consumer {
    const topic = topicOf(ref);
    const codec = options.codec ?? topic?.codec;
    const given = { clock: this.parts.clock, ...options, ...(codec === undefined ? {} : { codec }) };
    const resolved = resolveConsumerOptions(this.keyOf(ref), given, topic?.schemas);
    checkHandlers(handlers);
    const watch = this.watch.watchFor(resolved, handlers, topicOf(ref));
    const port = watchedPort(this.parts.port, watch);
    const consumer = new Consumer(port, resolved, handlers, this.parts.connection, watch);
    this.watch.sample(consumer, watch, resolved);
    this.consumers.add(consumer);
    consumer.on('closed', () => this.consumers.delete(consumer));
    return consumer;
  }

  /** The dead letters of a stream; `key` when they are not in its companion key. */
  deadLetters(ref: StreamRef, options: { readonly key?: StreamKey } = {}): DeadLetters {
    checkOptions('deadLetters', options, { key: text });
    const { port, clock } = this.parts;
    return new DeadLetters({ port, clock, stream: this.keyOf(ref), ...options });
  }

  /** A store for `idempotent` on this bus's server; see `redisIdempotencyStore`. */
  idempotencyStore(): IdempotencyStore {
    return redisIdempotencyStore(this.parts.port);
  }

  /**
   * The life of a message as far as anybody knows it: journal, dead letters, replays and what the server tells now, each event with its
   * source; see `messageHistory`. Changes nothing.
   */
  history(ref: StreamRef, id: EntryId): Promise<MessageHistory> {
    return messageHistory(this.parts.port, this.keyOf(ref), id);
  }

  /** Looks at a stream, its groups and their consumers, and changes nothing; see `inspectStream`. */
  inspect(ref: StreamRef): Promise<StreamInspection> {
    return inspectStream(this.parts.port, this.keyOf(ref));
  }

  /** Trims a stream but never what some group has not read or not acknowledged. */
  trim(ref: StreamRef, policy: { readonly maxLength: number } | { readonly minId: EntryId }): Promise<TrimReport> {
    return trimKeepingUnacknowledged(this.parts.port, this.keyOf(ref), policy);
  }

  /** Removes the consumers of a group that own nothing and were idle for at least `minIdleMs`. */
  reap(
    ref: StreamRef,
    group: string,
    options: { readonly minIdleMs: number },
  ): Promise<readonly ({ readonly consumer: string } & ReapResult)[]> {
    checkOptions('reap', options, { minIdleMs: milliseconds(0) });
    return reapConsumers(this.parts.port, this.keyOf(ref), groupName(group), options);
  }

  /** Gives the pending entries of one consumer to another. */
  handOver(
    ref: StreamRef,
    group: string,
    options: { readonly from: string; readonly to: string; readonly minIdleMs: number },
  ): Promise<HandOverReport> {
    checkOptions('handOver', options, { from: text, to: text, minIdleMs: milliseconds(0) });
    return handOverPending(this.parts.port, this.keyOf(ref), groupName(group), {
      from: consumerName(options.from),
      to: consumerName(options.to),
      minIdleMs: options.minIdleMs,
    });
  }

  /** Closes every consumer, then the connection. */
  async close(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    await Promise.all([...this.consumers].map((consumer) => consumer.close(options)));
    this.watch.dispose();
    await this.parts.port.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function checkHandlers(handlers: unknown): asserts handlers is Handlers {
  if (typeof handlers === 'function') return;
  const isRecord = typeof handlers === 'object' && handlers !== null;
  if (isRecord && Object.values(handlers).every((handler) => typeof handler === 'function')) return;
  throw new ConfigError(
    'invalid-option',
    'handlers',
    'handlers: expected a function, or an object of functions by type',
  );
}
