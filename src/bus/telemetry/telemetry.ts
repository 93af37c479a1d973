import type { Metrics } from './metrics';
import type { Tracing } from './tracing';

/** Where a server listens, as spans and metrics tell it. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Where a bus's spans and metrics go: `otel()`, or `{ metrics }` with any implementation of `Metrics`. */
export interface Telemetry {
  readonly tracing?: Tracing;
  readonly metrics?: Metrics;
  /** The same for the server that the bus talks to, when there is one address to tell. */
  forServer?(server: ServerAddress): Telemetry;
}
