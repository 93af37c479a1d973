/**
 * Telemetry of one bus: what it puts around publishing, around consumers and their ports, and the gauges.
 *
 * It knows the Metrics and Tracing interfaces, never what is behind them. Its tests are `test/bus/telemetry*.test.ts`.
 */
import type { Clock } from '../../base/clock';
import type { Disposable } from '../../base/disposables';
import type { Consumer } from '../consume/consumer';
import type { Handlers, ResolvedConsumerOptions } from '../consume/consumerOptions';
import type { StreamPort } from '../port';
import type { PublishMiddleware } from '../publish/middleware';
import { keyOf, topicOf } from '../publish/topic';
import type { StreamRef, Topic } from '../publish/topic';
import { parseRedisUrl } from '../redis/url';
import type { RedisUrl } from '../redis/url';
import { ConsumerWatch } from './consumerWatch';
import { KnownTypes } from './meters';
import { gaugeDefinitions } from './metrics';
import { publishWatch } from './publishWatch';
import { Sampler } from './sampler';
import type { Telemetry } from './telemetry';

/** What watching a bus needs. */
export interface BusWatchOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly telemetry: Telemetry | undefined;
  /** Where the bus connects to, when it is known. */
  readonly url: string | RedisUrl | undefined;
}

/** The telemetry of one bus. */
export class BusWatch {
  /** To be the outermost around every publication. */
  readonly publish: PublishMiddleware;
  private readonly telemetry: Telemetry;
  private readonly types = new Map<string, KnownTypes>();
  private readonly topics = new WeakSet<Topic>();
  private readonly sampler: Sampler;
  private readonly gauges: Disposable | undefined;

  constructor({ port, clock, telemetry = {}, url }: BusWatchOptions) {
    const server = url === undefined ? undefined : addressOf(url);
    this.telemetry = server ? (telemetry.forServer?.(server) ?? telemetry) : telemetry;
    this.sampler = new Sampler({ port, clock });
    this.gauges = this.telemetry.metrics?.gauges(gaugeDefinitions, () => this.sampler.measure());
    this.publish = publishWatch(
      this.telemetry,
      (stream, type) => this.types.get(stream)?.label(type) ?? none.label(type),
    );
  }

  /** Learns the types of a topic when it is first published to. */
  learn(ref: StreamRef, env: string | undefined): void {
    const topic = topicOf(ref);
    if (!topic || this.topics.has(topic)) return;
    this.topics.add(topic);
    this.types.set(keyOf(ref, env), new KnownTypes(typesOf(topic)));
  }

  /** Watches a consumer that is about to be made. */
  watchFor(
    { stream, group, name }: ResolvedConsumerOptions,
    handlers: Handlers,
    topic: Topic | undefined,
  ): ConsumerWatch {
    const named = typeof handlers === 'function' ? [] : Object.keys(handlers);
    return new ConsumerWatch({
      identity: { stream, group, consumer: name },
      telemetry: this.telemetry,
      types: new KnownTypes([...typesOf(topic), ...named]),
    });
  }

  /** Takes a consumer among those whose gauges are measured, until it is closed. */
  sample(consumer: Consumer, watch: ConsumerWatch, { stream, group, deadLetters }: ResolvedConsumerOptions): void {
    watch.listen(consumer);
    if (!this.gauges) return;
    const sampled = {
      stream,
      group,
      deadLetters: deadLetters ? deadLetters.key : (false as const),
      inFlight: () => consumer.health().inFlight,
    };
    this.sampler.add(sampled);
    consumer.on('closed', () => {
      this.sampler.remove(sampled);
    });
  }

  /** Ends measuring. */
  dispose(): void {
    this.gauges?.dispose();
  }
}

const none = new KnownTypes();

/** The types that a topic has schemas for. */
function typesOf(topic: Topic | undefined): readonly string[] {
  const schemas: unknown = topic && 'schemas' in topic ? topic.schemas : undefined;
  const isByType = typeof schemas === 'object' && schemas !== null && !('~standard' in schemas);
  return isByType ? Object.keys(schemas) : [];
}

/** One server has an address to tell; Sentinel and clusters have many. */
function addressOf(url: string | RedisUrl): { readonly host: string; readonly port: number } | undefined {
  try {
    const { mode, nodes } = typeof url === 'string' ? parseRedisUrl(url) : url;
    return mode === 'standalone' ? nodes[0] : undefined;
  } catch {
    // Whoever connects tells what is wrong with it.
    return undefined;
  }
}
