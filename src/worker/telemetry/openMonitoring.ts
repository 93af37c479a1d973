import { BusError, otel } from '../../bus';
import type { Consumer, ConsumerHealth, Telemetry } from '../../bus';

/** What a process of the worker gives to monitoring. */
export interface Monitoring {
  /** For its bus: spans to whatever OpenTelemetry SDK is registered, metrics to `/metrics`, or without a port to the SDK too. */
  readonly telemetry: Telemetry;
  /** Where it listens; undefined when it does not. */
  readonly port: number | undefined;
  /** Lets `/healthz` and `/readyz` judge by a consumer. */
  watch(consumer: Consumer): void;
  close(): Promise<void>;
}

/**
 * Opens monitoring on a port of loopback, or without one; libraries for it are loaded only then. Rejects with a `BusError` when the port
 * cannot be had.
 */
export async function openMonitoring(
  port: number | undefined,
  besides: { readonly isReady?: () => boolean } = {},
): Promise<Monitoring> {
  if (port === undefined) return { telemetry: otel(), port, watch: () => undefined, close: () => Promise.resolve() };
  const [{ collectDefaultMetrics }, { prometheusMetrics }, { startMonitoringServer }] = await Promise.all([
    import('prom-client'),
    import('./prometheusMetrics'),
    import('./monitoringServer'),
  ]);
  const metrics = prometheusMetrics();
  collectDefaultMetrics({ register: metrics.registry });
  const consumers = new Map<string, Consumer>();
  const server = await startMonitoringServer(port, {
    ...besides,
    registry: metrics.registry,
    consumers: () =>
      Object.fromEntries([...consumers].map(([name, consumer]): [string, ConsumerHealth] => [name, consumer.health()])),
  }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const message = `Cannot serve metrics on 127.0.0.1:${port} (${code}): choose another --metrics-port, or 0 for a free one`;
    throw new BusError('invalid-argument', message, {}, { cause: error });
  });
  return {
    telemetry: otel({ metrics }),
    port: server.port,
    watch: (consumer) => void consumers.set(`${consumer.stream}/${consumer.name}`, consumer),
    close: () => server.close(),
  };
}
