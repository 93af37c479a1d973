import { boolean, checkOptions, either, oneOf, withMethods } from '../options';
import type { Metrics } from './metrics';
import { otelMetrics } from './otelMetrics';
import { OtelTracing } from './otelTracing';
import type { OtelTracingOptions } from './otelTracing';
import type { ServerAddress, Telemetry } from './telemetry';

/** The options of `otel`. */
export interface OtelOptions extends Omit<OtelTracingOptions, 'server'> {
  /** Whether to make spans. Default true. */
  readonly traces?: boolean;
  /** Whether to make metrics, or where they go instead. Default true. */
  readonly metrics?: boolean | Metrics;
}

/**
 * Telemetry by `@opentelemetry/api`: spans and metrics for whatever SDK the process has registered, and nothing without one. Register the
 * SDK before the bus is made: the API hands out meters that stay silent to who asks earlier.
 */
export function otel(options: OtelOptions = {}): Telemetry {
  checkOptions('otel', options, {
    traceMode: oneOf('link', 'parent'),
    messageKeys: boolean,
    traces: boolean,
    metrics: either(boolean, withMethods('counter', 'histogram', 'gauges')),
  });
  const make = (server?: ServerAddress): Telemetry => {
    const { traces = true, metrics = true, ...spans } = options;
    const given = typeof metrics === 'object' ? metrics : metrics ? otelMetrics({ server }) : undefined;
    return {
      ...(traces ? { tracing: new OtelTracing({ ...spans, server }) } : {}),
      ...(given ? { metrics: given } : {}),
    };
  };
  return { ...make(), forServer: make };
}
