// An OpenTelemetry SDK that keeps spans and metrics in memory, registered for the process. Tested by its users.
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import type { Attributes } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { eventually } from '../../support/eventually';

/** One series of a metric as it was collected. */
export interface Series {
  readonly attributes: Attributes;
  /** A sum or a gauge; of a histogram the count. */
  readonly value: number;
}

/** What the SDK got. */
export interface OtelWorld {
  /** The spans that ended, in that order. */
  spans(): readonly ReadableSpan[];
  /** Waits until so many spans of a name ended. */
  ended(name: string, count?: number): Promise<readonly ReadableSpan[]>;
  /** How many spans of a name began. */
  begun(name: string): number;
  /** Collects the metrics now; the series by the metric's name. */
  collect(): Promise<ReadonlyMap<string, readonly Series[]>>;
  /** Collects the metrics now, as the SDK has them. */
  collectRaw(): Promise<readonly MetricData[]>;
  /** Forgets the spans. */
  reset(): void;
  /** Takes the SDK away again. */
  stop(): Promise<void>;
}

/** Registers an SDK; with the W3C propagators, as it comes by default. */
export function startOtelWorld(): OtelWorld {
  const exporter = new InMemorySpanExporter();
  const begun: string[] = [];
  const starts = {
    onStart: ({ name }: { readonly name: string }): void => void begun.push(name),
    onEnd: (): void => undefined,
    forceFlush: (): Promise<void> => Promise.resolve(),
    shutdown: (): Promise<void> => Promise.resolve(),
  };
  const tracers = new TracerProvider({ spanProcessors: [starts, new SimpleSpanProcessor({ exporter })] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(meters);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  const collectRaw = async (): Promise<readonly MetricData[]> => {
    metricExporter.reset();
    await reader.forceFlush();
    return metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  };
  return {
    spans: () => exporter.getFinishedSpans(),
    ended: (name, count = 1) =>
      eventually(
        () => {
          const found = exporter.getFinishedSpans().filter((span) => span.name === name);
          return found.length >= count && found;
        },
        { what: `${count} spans "${name}"` },
      ),
    begun: (name) => begun.filter((other) => other === name).length,
    collectRaw,
    collect: async () => {
      const found = new Map<string, readonly Series[]>();
      for (const { descriptor, dataPoints } of await collectRaw())
        found.set(
          descriptor.name,
          dataPoints.map(({ attributes, value }) => ({
            attributes,
            value: typeof value === 'number' ? value : 'count' in value ? value.count : NaN,
          })),
        );
      return found;
    },
    reset: () => {
      exporter.reset();
      begun.length = 0;
    },
    stop: async () => {
      trace.disable();
      metrics.disable();
      context.disable();
      propagation.disable();
      await tracers.shutdown();
      await meters.shutdown();
    },
  };
}
