import type { Consumer } from '../consume/consumer';
import type { Delivery } from '../consume/delivery';
import type { HandledOutcome } from '../consume/events';
import type { EntryId } from '../ids';
import { channels } from './channels';
import type { ProcessMessage } from './channels';
import { errorKind } from './errorKind';
import { ConsumerMeters } from './meters';
import type { KnownTypes, TypeMeters } from './meters';
import type { Telemetry } from './telemetry';
import type { ConsumerIdentity, OpenSpan } from './tracing';

/** What watching a consumer needs. */
export interface ConsumerWatchOptions {
  readonly identity: ConsumerIdentity;
  readonly telemetry: Telemetry;
  readonly types: KnownTypes;
}

/** The most handlers' spans that are remembered for the calls which settle their messages. */
const maxRemembered = 10_000;

/**
 * What telemetry sees of one consumer: its handlers, by calls from their runs, and everything rare by its events. Calls to the server
 * are seen by `watchedPort`. Without metrics, spans and subscribers it does nothing for a message.
 */
export class ConsumerWatch {
  readonly identity: ConsumerIdentity;
  readonly meters: ConsumerMeters | undefined;
  readonly tracing: Telemetry['tracing'];
  private readonly types: KnownTypes;
  private readonly spans = new Map<EntryId, OpenSpan>();
  private lastType: string | undefined;
  private lastMeters: TypeMeters | undefined;

  constructor({ identity, telemetry, types }: ConsumerWatchOptions) {
    const { stream, group } = identity;
    this.identity = identity;
    this.types = types;
    this.tracing = telemetry.tracing;
    this.meters = telemetry.metrics ? new ConsumerMeters(telemetry.metrics, { stream, group }) : undefined;
  }

  /** A handler is about to be called; in the context of the answered span, if there is one. */
  begin(delivery: Delivery): OpenSpan | undefined {
    const { meters, tracing } = this;
    const isTold = channels.process.hasSubscribers;
    if (!meters && !tracing && !isTold) return undefined;
    delivery.watchedFromMs = performance.now();
    const type = delivery.decoded?.type;
    if (meters) {
      this.metersOf(type, meters).consumed.add(1);
      if (delivery.deliveries > 1) meters.redelivered.add(1);
    }
    if (isTold) this.publish(delivery, { phase: 'begin' });
    if (!tracing) return undefined;
    const { id, deliveries, fields, decoded } = delivery;
    const span = tracing.process({
      ...this.identity,
      id,
      fields,
      deliveryCount: Math.max(1, deliveries),
      type: this.types.label(type),
      key: decoded?.key,
    });
    delivery.span = span;
    return span;
  }

  /** A handler ended, or was given up. */
  ended(delivery: Delivery, outcome: HandledOutcome, error: unknown): void {
    const { meters } = this;
    const { span } = delivery;
    const isTold = channels.process.hasSubscribers;
    if (!meters && !span && !isTold) return;
    const ms = performance.now() - delivery.watchedFromMs;
    if (meters) {
      const ofType = this.metersOf(delivery.decoded?.type, meters);
      (outcome === 'completed' ? ofType.completed : ofType.duration(outcome)).record(ms / 1000);
    }
    if (span) this.endSpan(delivery, span, outcome, error);
    if (isTold) {
      const kind = outcome === 'completed' ? undefined : errorKind(error);
      this.publish(delivery, { phase: 'end', durationMs: ms, outcome, errorKind: kind });
    }
  }

  /** The spans of the handlers of messages that are being settled; each is told once. */
  takeSpans(ids: readonly EntryId[]): readonly OpenSpan[] {
    const { spans } = this;
    if (spans.size === 0) return [];
    return ids.flatMap((id) => {
      const span = spans.get(id);
      spans.delete(id);
      return span ?? [];
    });
  }

  /** Counts what the consumer tells by events. */
  listen(consumer: Consumer): void {
    const { meters } = this;
    if (!meters) return;
    consumer.on('retry-scheduled', () => {
      meters.retried.add(1);
    });
    consumer.on('dead-lettered', ({ reason }) => {
      meters.deadLettered(reason).add(1);
    });
    consumer.on('settled-elsewhere', ({ count }) => {
      meters.settledElsewhere.add(count);
    });
    consumer.on('lost-to-trim', ({ ids }) => {
      meters.lostToTrim.add(ids.length);
    });
    consumer.on('handler-timeout', () => {
      meters.handlerTimeouts.add(1);
    });
    consumer.on('ownership-lost', () => {
      meters.ownershipLost.add(1);
    });
    consumer.on('reader-reconnected', () => {
      meters.readerReconnects.add(1);
    });
    consumer.on('group-recreated', () => {
      meters.groupRecreated.add(1);
    });
  }

  /** Most messages are of the type of the one before. */
  private metersOf(type: string | undefined, meters: ConsumerMeters): TypeMeters {
    if (this.lastMeters && type === this.lastType) return this.lastMeters;
    this.lastType = type;
    this.lastMeters = meters.ofType(this.types.label(type));
    return this.lastMeters;
  }

  private endSpan(delivery: Delivery, span: OpenSpan, outcome: HandledOutcome, error: unknown): void {
    delivery.span = undefined;
    span.end(outcome === 'completed' ? { outcome } : { outcome, error: errorKind(error) });
    if (!span.wasRecording || delivery.isLost) return;
    const { spans } = this;
    for (const oldest of spans.keys()) {
      if (spans.size < maxRemembered) break;
      spans.delete(oldest);
    }
    spans.set(delivery.id, span);
  }

  private publish(
    delivery: Delivery,
    phase:
      | { readonly phase: 'begin' }
      | {
          readonly phase: 'end';
          readonly durationMs: number;
          readonly outcome: string;
          readonly errorKind: string | undefined;
        },
  ): void {
    const message: ProcessMessage = {
      ...this.identity,
      id: delivery.id,
      type: this.types.label(delivery.decoded?.type),
      deliveryCount: Math.max(1, delivery.deliveries),
      ...phase,
    };
    channels.process.publish(message);
  }
}
