import { entryIdTimeMs } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { fieldRecord } from '../codecs';
import type { Outgoing } from '../codecs';
import type { EntryFields } from '../entries';
import type { OpenSpan } from '../telemetry/tracing';
import type { HandlerContext, HandlerLog, Message } from './handler';

/** Why a handler was asked to stop. */
export type AbortKind = 'timeout' | 'lost' | 'shutdown';

const noHeaders: Readonly<Record<string, string>> = Object.freeze(Object.create(null) as Record<string, string>);

/** One delivery of one entry to this consumer, from being read to being settled. */
export class Delivery {
  /** Set when the outcome has been decided: by the handler, or by giving up on it. */
  isSettled = false;
  isRunning = false;
  isLost = false;
  /** No more heartbeats: its idle time is being set. */
  isSilent = false;
  /** A read took it over again from this very consumer while its idle time was being set. */
  cameBack = false;
  abortKind: AbortKind | undefined;
  /** When the handler's time is up; Infinity for never. */
  deadlineMs = Infinity;
  /** When its handler was started; 0 before. */
  startedAtMs = 0;
  /** The same on the monotonic clock, where telemetry measures, and the span of its handler while that runs. */
  watchedFromMs = 0;
  span: OpenSpan | undefined;
  /** Where the entry stands in the table that the heartbeat thread reads; -1 for nowhere. */
  slot = -1;
  orderKey: string | undefined;
  decoded: Outgoing | undefined;
  private controller: AbortController | undefined;

  constructor(
    readonly id: EntryId,
    readonly fields: EntryFields,
    /** How often it was delivered to the group, this time included. */
    public deliveries: number,
    /** Until when, minus the minimum idle time, nobody can have claimed it: when it was read or last heartbeaten. */
    public confirmedAtMs: number,
  ) {}

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  /** Asks the handler to stop; the first reason stays. */
  abort(kind: AbortKind, reason: Error): void {
    if (this.abortKind !== undefined) return;
    this.abortKind = kind;
    this.controller ??= new AbortController();
    this.controller.abort(reason);
  }
}

/** The message of a delivery. Text is made of the bytes only when it is asked for. */
class LazyMessage implements Message {
  private record: Record<string, string> | undefined;

  constructor(
    readonly stream: StreamKey,
    private readonly delivery: Delivery,
  ) {}

  get id(): EntryId {
    return this.delivery.id;
  }

  get rawFields(): EntryFields {
    return this.delivery.fields;
  }

  get type(): string | undefined {
    return this.delivery.decoded?.type;
  }

  get fields(): Record<string, string> {
    this.record ??= fieldRecord(this.delivery.fields);
    return this.record;
  }

  get body(): unknown {
    return this.delivery.decoded ? this.delivery.decoded.body : this.fields;
  }
}

/** Makes the message that a handler gets; `plain` makes every property a value, which debuggers show at once. */
export function messageOf(stream: StreamKey, delivery: Delivery, plain: boolean): Message {
  const lazy = new LazyMessage(stream, delivery);
  if (!plain) return lazy;
  const { id, type, fields, rawFields, body } = lazy;
  return { id, stream, type, fields, rawFields, body };
}

/** What contexts of the same consumer share. */
export interface ContextSource {
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly log: HandlerLog;
  extend(delivery: Delivery, ms: number): void;
}

/** The context that a handler gets with its message. */
export class DeliveryContext implements HandlerContext {
  constructor(
    private readonly source: ContextSource,
    private readonly delivery: Delivery,
  ) {}

  get group(): GroupName {
    return this.source.group;
  }

  get consumer(): ConsumerName {
    return this.source.consumer;
  }

  get deliveryCount(): number {
    return Math.max(1, this.delivery.deliveries);
  }

  get redelivered(): boolean {
    return this.delivery.deliveries > 1;
  }

  get publishedAtMs(): number | undefined {
    return entryIdTimeMs(this.delivery.id);
  }

  get headers(): Readonly<Record<string, string>> {
    return this.delivery.decoded?.headers ?? noHeaders;
  }

  get signal(): AbortSignal {
    return this.delivery.signal;
  }

  get log(): HandlerLog {
    return this.source.log;
  }

  /** A value rather than a method, so that handlers may take it out of the context. */
  get extend(): (ms: number) => void {
    return (ms) => {
      this.source.extend(this.delivery, ms);
    };
  }
}
