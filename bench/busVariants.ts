/** The forms of this bus that `bench/bus.ts` measures: what is switched on, what it is compared with, and the least ratio aimed at. */
import { metrics, trace } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { idempotent, otel } from '../src/bus';
import { prometheusMetrics } from '../src/worker/telemetry/prometheusMetrics';
import type { BusLoopOptions } from './busLoops';

/** One form of the bus. */
export interface BusVariant {
  readonly name: string;
  /** Made anew for each run. */
  options(): BusLoopOptions;
  /** Undone after each run. */
  end?(): void;
  /** Whether its ratios are to the raw loop, or to the bus with its defaults. */
  readonly comparedTo: 'raw' | 'bus';
  /** The least ratio with more than one handler at once. */
  readonly aim?: number;
  /** Left out unless all variants are asked for. */
  readonly isExtra?: boolean;
}

/** Every form but the plain one, which is always measured. */
export const busVariants: readonly BusVariant[] = [
  {
    name: 'bus with metrics',
    options: () => ({ bus: { telemetry: { metrics: prometheusMetrics() } } }),
    comparedTo: 'raw',
    aim: 1,
  },
  {
    name: 'bus with journal',
    options: () => ({ consumer: { journal: true } }),
    comparedTo: 'bus',
    aim: 0.7,
  },
  {
    // Two round trips for each message; reported, without an aim.
    name: 'bus with idempotency keys in Redis',
    options: () => ({ use: (bus) => [idempotent(bus.idempotencyStore())] }),
    comparedTo: 'bus',
  },
  {
    name: 'bus with metrics by the OpenTelemetry SDK',
    options: () => {
      metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new SilentReader()] }));
      return { bus: { telemetry: otel({ traces: false }) } };
    },
    end: () => {
      metrics.disable();
    },
    comparedTo: 'bus',
    isExtra: true,
  },
  {
    name: 'bus with spans by the OpenTelemetry SDK',
    options: () => {
      trace.setGlobalTracerProvider(new TracerProvider());
      return { bus: { telemetry: otel({ metrics: false }) } };
    },
    end: () => {
      trace.disable();
    },
    comparedTo: 'bus',
    isExtra: true,
  },
];

/** Nobody collects while the loop runs. */
class SilentReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}
