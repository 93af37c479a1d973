/**
 * Telemetry as middleware, for one consumer or one topic, or for a bus that is given none: `logging`, `openTelemetry`, `metrics`. Each
 * has two sides: `consume` for a consumer's `use`, `publish` for that of a bus or a topic.
 *
 * A bus with `telemetry` does what `openTelemetry` and `metrics` do already, for settling too: use one or the other.
 * Tests: `test/bus/telemetryMiddleware.test.ts`.
 */
import type { HandlerContext } from '../consume/handler';
import { HandlerTimeoutError } from '../consume/abortReasons';
import type { Middleware } from '../consume/consumerOptions';
import type { HandledOutcome } from '../consume/events';
import { isNamed } from '../consume/failureText';
import { checkOptions, withMethods } from '../options';
import type { Check } from '../options';
import type { PublishMiddleware } from '../publish/middleware';
import { errorKind } from './errorKind';
import { HandlerMeters, KnownTypes } from './meters';
import type { Metrics } from './metrics';
import { logFields, otherType } from './names';
import { otel } from './otel';
import type { OtelOptions } from './otel';
import { publishWatch } from './publishWatch';

/** Both sides of a middleware. */
export interface TelemetryMiddleware {
  readonly consume: Middleware;
  readonly publish: PublishMiddleware;
}

/** Where structured lines go: pino's shape, so that a pino logger is one. */
export interface StructuredLog {
  info(details: Readonly<Record<string, unknown>>, message: string): void;
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}

/** Which message types may be told; another one is told as `_other`, because it comes from the message. */
export interface KnownTypesOptions {
  readonly types?: readonly string[];
}

/**
 * A line for every handler that ended and every publication, with stream, group, consumer, message id, type, delivery count, duration and
 * the kind of an error: never its message, never a field. Failures are warnings, because a retry or a dead letter follows.
 */
export function logging(log: StructuredLog, options: KnownTypesOptions = {}): TelemetryMiddleware {
  const types = knownTypes('logging', options);
  checkOptions('logging', { log }, { log: withMethods('info', 'warn', 'error') });
  return {
    consume: async (message, context, next) => {
      const { durationMs, outcome, failure } = await timed(next, context);
      const details = {
        [logFields.stream]: message.stream,
        [logFields.group]: context.group,
        [logFields.consumer]: context.consumer,
        [logFields.messageId]: message.id,
        ...typeOf(types, message.type),
        [logFields.deliveryCount]: context.deliveryCount,
        [logFields.durationMs]: durationMs,
        outcome,
      };
      if (!failure) {
        log.info(details, 'handled');
        return;
      }
      log.warn({ ...details, [logFields.errorKind]: errorKind(failure.error) }, 'not handled');
      throw failure.error;
    },
    publish: async ({ stream, type }, next) => {
      const beganMs = performance.now();
      const details = (): Record<string, unknown> => ({
        [logFields.stream]: stream,
        ...typeOf(types, type),
        [logFields.durationMs]: roundedMs(performance.now() - beganMs),
      });
      try {
        const published = await next();
        const { id, duplicate } = published;
        log.info({ ...details(), [logFields.messageId]: id, outcome: duplicate ? 'duplicate' : 'ok' }, 'published');
        return published;
      } catch (error) {
        log.error({ ...details(), [logFields.errorKind]: errorKind(error) }, 'not published');
        throw error;
      }
    },
  };
}

/** A span around every handler and every publication, by the OpenTelemetry API; see `otel` for the options. */
export function openTelemetry(
  options: Pick<OtelOptions, 'traceMode' | 'messageKeys'> & KnownTypesOptions = {},
): TelemetryMiddleware {
  const { types: named, ...spans } = options;
  const types = knownTypes('openTelemetry', named ? { types: named } : {});
  const { tracing } = otel({ ...spans, metrics: false });
  return {
    consume: async (message, context, next) => {
      const span = tracing?.process({
        stream: message.stream,
        group: context.group,
        consumer: context.consumer,
        id: message.id,
        type: types.label(message.type),
        key: undefined,
        deliveryCount: context.deliveryCount,
        fields: message.rawFields,
      });
      if (!span) {
        await next();
        return;
      }
      const { outcome, failure } = await timed(() => span.run(next), context);
      span.end(failure ? { outcome, error: errorKind(failure.error) } : { outcome });
      if (failure) throw failure.error;
    },
    publish: publishWatch(tracing ? { tracing } : {}, (_stream, type) => types.label(type)),
  };
}

/** The groups that one middleware keeps instruments of; it is meant for a few. */
const maxGroups = 200;

/** Counts and times every handler and every publication. */
export function metrics(to: Metrics, options: KnownTypesOptions = {}): TelemetryMiddleware {
  const types = knownTypes('metrics', options);
  checkOptions('metrics', { to }, { to: withMethods('counter', 'histogram', 'gauges') });
  const groups = new Map<string, HandlerMeters>();
  const metersOf = (stream: string, group: string): HandlerMeters => {
    const isNew = groups.size < maxGroups;
    const key = JSON.stringify([stream, group]);
    const known = groups.get(key) ?? (isNew ? undefined : groups.get(otherType));
    if (known) return known;
    const labels = isNew ? { stream, group } : { stream: otherType, group: otherType };
    const meters = new HandlerMeters(to, labels);
    groups.set(isNew ? key : otherType, meters);
    return meters;
  };
  return {
    consume: async (message, context, next) => {
      const meters = metersOf(message.stream, context.group);
      const ofType = meters.ofType(types.label(message.type));
      ofType.consumed.add(1);
      if (context.redelivered) meters.redelivered.add(1);
      const { durationMs, outcome, failure } = await timed(next, context);
      ofType.duration(outcome).record(durationMs / 1000);
      if (failure) throw failure.error;
    },
    publish: publishWatch({ metrics: to }, (_stream, type) => types.label(type)),
  };
}

/** How a handler ended, as far as middleware can see, and how long it took. */
interface Timed {
  readonly durationMs: number;
  readonly outcome: HandledOutcome;
  /** Set when it threw; what was thrown may be undefined. */
  readonly failure: { readonly error: unknown } | undefined;
}

async function timed(next: () => Promise<void>, context: HandlerContext): Promise<Timed> {
  const beganMs = performance.now();
  try {
    await next();
    return { durationMs: roundedMs(performance.now() - beganMs), outcome: 'completed', failure: undefined };
  } catch (error) {
    const durationMs = roundedMs(performance.now() - beganMs);
    return { durationMs, outcome: outcomeOfThrown(error, context.signal), failure: { error } };
  }
}

function outcomeOfThrown(error: unknown, signal: AbortSignal): HandledOutcome {
  if (signal.aborted) return signal.reason instanceof HandlerTimeoutError ? 'timed-out' : 'aborted';
  if (isNamed(error, 'RetryLater')) return 'retry-later';
  return isNamed(error, 'Reject') ? 'rejected' : 'failed';
}

const names: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'a list of types';

function knownTypes(what: string, options: KnownTypesOptions): KnownTypes {
  checkOptions(what, options, { types: names });
  return new KnownTypes(options.types);
}

function typeOf(types: KnownTypes, type: string | undefined): Record<string, string> {
  return type === undefined ? {} : { [logFields.type]: types.label(type) };
}

/** To a microsecond. */
function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
