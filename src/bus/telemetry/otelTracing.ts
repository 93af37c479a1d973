import {
  context,
  diag,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Attributes, Context, Link, Span, SpanOptions, TextMapSetter } from '@opentelemetry/api';
import { errorKind } from './errorKind';
import {
  conventionAttributes,
  instrumentationScope,
  messagingSystem,
  operations,
  ownAttributes,
  traceFields,
} from './names';
import type { Operation } from './names';
import type { ServerAddress } from './telemetry';
import { traceCarrier } from './tracing';
import type { CallSubject, OpenSpan, ProcessSubject, PublishSubject, SpanResult, Tracing } from './tracing';

/** How spans are made. */
export interface OtelTracingOptions {
  /**
   * How the span of a handler belongs to the trace in which its message was published: by a `link`, as the conventions have it, in a trace
   * of its own; or as its child (`parent`), which shows one trace from the publisher to the last handler. Default `link`.
   */
  readonly traceMode?: 'link' | 'parent';
  /** Whether spans tell the key of a message, as its conversation id. A key comes from the message. Default false. */
  readonly messageKeys?: boolean;
  /** Where the server is, as spans tell it. */
  readonly server?: ServerAddress | undefined;
}

/** How often an SDK is looked for while there is none. */
const lookAgainMs = 1000;

/** Spans by the OpenTelemetry API; nothing at all while no SDK is registered. */
export class OtelTracing implements Tracing {
  private readonly isParent: boolean;
  private readonly tellsKeys: boolean;
  private readonly common: Attributes;
  /** Goes to the SDK's tracer from when there is one. */
  private readonly tracer = trace.getTracer(instrumentationScope);
  private silentUntilMs = -Infinity;

  constructor({ traceMode = 'link', messageKeys = false, server }: OtelTracingOptions = {}) {
    this.isParent = traceMode === 'parent';
    this.tellsKeys = messageKeys;
    this.common = {
      [conventionAttributes.systemName]: messagingSystem,
      [conventionAttributes.system]: messagingSystem,
      ...(server
        ? { [conventionAttributes.serverAddress]: server.host, [conventionAttributes.serverPort]: server.port }
        : {}),
    };
  }

  publish({ stream, type, key, headers }: PublishSubject): OpenSpan | undefined {
    if (!this.isActive()) return undefined;
    const parent = context.active();
    const attributes = this.attributes('publish', stream, type, key);
    const span = this.start(`publish ${stream}`, { kind: SpanKind.PRODUCER, attributes }, parent);
    // Who made the message may have given it a context already: that one stays.
    if (span && headers[traceFields.parent] === undefined) {
      try {
        propagation.inject(span.context, headers, onlyTraceFields);
      } catch (error) {
        toldBroken('inject', error);
      }
    }
    return span;
  }

  process(subject: ProcessSubject): OpenSpan | undefined {
    if (!this.isActive()) return undefined;
    const { stream, group, consumer, id, type, key, deliveryCount, fields } = subject;
    const carrier = traceCarrier(fields);
    const created = carrier ? extracted(carrier) : ROOT_CONTEXT;
    const creation = carrier ? trace.getSpanContext(created) : undefined;
    const links: Link[] = creation && !this.isParent ? [{ context: creation }] : [];
    // Baggage is kept either way. What happened to be active when the message was read has nothing to do with it.
    const parent = this.isParent ? created : trace.deleteSpan(created);
    const attributes = this.attributes('process', stream, type, key);
    attributes[conventionAttributes.group] = group;
    attributes[conventionAttributes.clientId] = consumer;
    attributes[conventionAttributes.messageId] = id;
    attributes[ownAttributes.deliveryCount] = deliveryCount;
    return this.start(`process ${stream}`, { kind: SpanKind.CONSUMER, attributes, links }, parent);
  }

  call({ operation, stream, group, consumer, count, id, reason, of, startMs }: CallSubject): OpenSpan | undefined {
    if (!this.isActive()) return undefined;
    const attributes = this.attributes(operation, stream, '', undefined);
    attributes[conventionAttributes.group] = group;
    attributes[conventionAttributes.clientId] = consumer;
    if (count !== 1) attributes[conventionAttributes.batchCount] = count;
    if (id !== undefined) attributes[conventionAttributes.messageId] = id;
    if (reason !== undefined) attributes[ownAttributes.deadLetterReason] = reason;
    const spans = of.filter((span) => span instanceof OtelSpan);
    const only = count === 1 ? spans[0] : undefined;
    const parent = only?.context ?? ROOT_CONTEXT;
    const links = only ? [] : spans.map((span) => ({ context: span.spanContext }));
    return this.start(
      `${operations[operation].name} ${stream}`,
      { kind: SpanKind.CLIENT, attributes, links, ...(startMs === undefined ? {} : { startTime: startMs }) },
      parent,
    );
  }

  /** Whether to make spans: not while there is no SDK, which is looked for once in a while. */
  private isActive(): boolean {
    return performance.now() >= this.silentUntilMs;
  }

  private start(name: string, options: SpanOptions, parent: Context): OtelSpan | undefined {
    try {
      const span = this.tracer.startSpan(name, options, parent);
      if (isSpanContextValid(span.spanContext())) return new OtelSpan(span, trace.setSpan(parent, span));
    } catch (error) {
      toldBroken('start', error);
    }
    this.silentUntilMs = performance.now() + lookAgainMs;
    return undefined;
  }

  private attributes(operation: Operation, stream: string, type: string, key: string | undefined): Attributes {
    const attributes: Attributes = { ...this.common };
    attributes[conventionAttributes.operationName] = operations[operation].name;
    attributes[conventionAttributes.operationType] = operations[operation].type;
    attributes[conventionAttributes.destination] = stream;
    if (type !== '') attributes[ownAttributes.messageType] = type;
    if (this.tellsKeys && key !== undefined) attributes[conventionAttributes.conversationId] = key;
    return attributes;
  }
}

class OtelSpan implements OpenSpan {
  readonly wasRecording: boolean;

  constructor(
    private readonly span: Span,
    readonly context: Context,
  ) {
    this.wasRecording = span.isRecording();
  }

  get spanContext(): ReturnType<Span['spanContext']> {
    return this.span.spanContext();
  }

  run<T>(work: () => T): T {
    return context.with(this.context, work);
  }

  end(result: SpanResult = {}): void {
    try {
      this.endWith(result);
    } catch (error) {
      toldBroken('end', error);
    }
  }

  private endWith({ error, id, outcome }: SpanResult): void {
    const { span } = this;
    if (id !== undefined) span.setAttribute(conventionAttributes.messageId, id);
    if (outcome !== undefined) span.setAttribute(ownAttributes.outcome, outcome);
    if (error !== undefined) {
      span.setAttribute(conventionAttributes.errorType, error);
      // Without a description: an error's message may quote the message that it is about.
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}

/**
 * A sampler, a span processor or a propagator that throws must not cost a message: what it throws goes to OpenTelemetry's own diagnostics,
 * by its kind only.
 */
function toldBroken(what: string, error: unknown): void {
  diag.error(`The OpenTelemetry SDK failed at ${what} of a span: ${errorKind(error)}`);
}

function extracted(carrier: Readonly<Record<string, string>>): Context {
  try {
    return propagation.extract(ROOT_CONTEXT, carrier);
  } catch (error) {
    toldBroken('extract', error);
    return ROOT_CONTEXT;
  }
}

const carried: ReadonlySet<string> = new Set(Object.values(traceFields));

/** Other propagators' fields would not come through every codec. */
const onlyTraceFields: TextMapSetter<Record<string, string>> = {
  set(headers, name, value) {
    if (carried.has(name) && headers[name] === undefined) headers[name] = value;
  },
};
