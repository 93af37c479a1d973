import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import { ConfigError, exponential } from '../../bus';
import { defaultGroup } from '../runs/runsStream';
import type { RunsConsumerOptions, SweepOptions } from '../runs/runsWorker';
import { UsageError } from '../usageError';
import { embeddedUrl, isEmbedded, readUrl } from './openServer';
import { Settings } from './settings';
import type { FlagNames } from './settings';

/** Where runs are kept; a database URL is a secret and never printed. */
export type StoreChoice = { readonly kind: 'memory' } | { readonly kind: 'postgres'; readonly databaseUrl: string };

/** What every command of the runs application is told. */
export interface AppOptions {
  /** With its secrets; never printed. */
  readonly url: string;
  readonly env: string;
  readonly group: string;
  readonly store: StoreChoice;
  readonly sweep: SweepOptions;
  readonly closeMs: number;
  readonly log: 'text' | 'json';
  /** Where `/metrics`, `/healthz` and `/readyz` are served; undefined for nowhere. */
  readonly metricsPort: number | undefined;
}

/** How the workers of a process work. */
export interface WorkersOptions {
  readonly consumer: string;
  /** Absolute path; undefined for the echo. */
  readonly handler: string | undefined;
  readonly consumerOptions: RunsConsumerOptions;
}

const maxMs = 2 ** 31 - 1;

/** The flags behind `AppOptions`. */
export const appFlags = [
  'url',
  'env',
  'group',
  'store',
  'sweep-ms',
  'stale-ms',
  'close-ms',
  'log',
  'metrics-port',
] as const;

/** The flags behind `WorkersOptions`. */
export const workerFlags = [
  'consumer',
  'handler',
  'concurrency',
  'min-idle-ms',
  'heartbeat-ms',
  'handler-timeout-ms',
  'reclaim-ms',
  'retry-ms',
] as const;

/** How long handlers have to stop after they were asked to. */
export const abortGraceMs = 2000;

/** Reads flags and environment of a command; throws a `UsageError` that names what is wrong. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv, flags: FlagNames): Settings {
  return new Settings(args, env, flags);
}

export function readAppOptions(settings: Settings, args: readonly string[], otherwiseUrl?: string): AppOptions {
  const metricsPort = settings.optionalWhole('metrics-port', { min: 0, max: 65_535 });
  return {
    url: readUrl(settings, args, otherwiseUrl),
    env: readName(settings, 'env', 'dev'),
    group: readName(settings, 'group', defaultGroup),
    store: readStore(settings),
    sweep: {
      staleMs: settings.whole('stale-ms', { default: 30_000, min: 1, max: maxMs }),
      intervalMs: settings.whole('sweep-ms', { default: 5000, min: 0, max: maxMs }),
    },
    closeMs: settings.whole('close-ms', { default: 10_000, min: 0, max: maxMs }),
    log: settings.choice('log', ['text', 'json'], 'text'),
    metricsPort,
  };
}

/** Reads `--store`: by itself PostgreSQL when DATABASE_URL is set, else memory. */
export function readStore(settings: Settings): StoreChoice {
  const databaseUrl = settings.secret('DATABASE_URL');
  const kind = settings.choice('store', ['memory', 'postgres'], databaseUrl === undefined ? 'memory' : 'postgres');
  if (kind === 'memory') return { kind };
  if (databaseUrl === undefined)
    throw new UsageError('--store postgres needs DATABASE_URL in the environment: postgresql://user:password@host/db');
  if (!/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new UsageError('DATABASE_URL is not of the form postgresql://user:password@host:port/database');
  return { kind, databaseUrl };
}

/** Reads how workers work. A heartbeat thread keeps what is held while a handler is busy or stands at a breakpoint. */
export function readWorkersOptions(settings: Settings, { url }: Pick<AppOptions, 'url'>): WorkersOptions {
  const handler = settings.text('handler');
  const concurrency = settings.whole('concurrency', { default: 10, min: 1, max: 10_000 });
  const heartbeatMs = settings.optionalWhole('heartbeat-ms', { min: 1, max: maxMs });
  const minIdleMs = settings.whole('min-idle-ms', { default: 30_000, min: 1, max: maxMs });
  const beats = heartbeatMs ?? Math.max(1, Math.min(10_000, Math.floor(minIdleMs / 3)));
  if (minIdleMs < 3 * beats) {
    throw new UsageError(
      `--min-idle-ms: expected at least three heartbeats (3 x ${beats}), got ${minIdleMs}; runs would be taken over while they are executed`,
    );
  }
  return {
    consumer: settings.text('consumer') ?? defaultConsumer(),
    handler: handler === undefined ? undefined : path.resolve(handler),
    consumerOptions: {
      concurrency,
      prefetch: concurrency,
      handlerTimeoutMs: settings.whole('handler-timeout-ms', { default: 30_000, min: 0, max: maxMs }),
      abortGraceMs,
      // What became of every delivery, for whoever looks at the stream in the editor.
      journal: true,
      ownership: { minIdleMs, heartbeatMs: beats, thread: !isEmbedded(url) },
      retry: {
        maxDeliveries: 3,
        backoff: exponential({ baseMs: settings.whole('retry-ms', { default: 500, min: 1, max: 60_000 }) }),
      },
      reclaim: { intervalMs: settings.whole('reclaim-ms', { default: 5000, min: 1, max: maxMs }) },
    },
  };
}

/** What processes that do not share an engine and a store cannot do together. */
export function requireShared({ url, store }: Pick<AppOptions, 'url' | 'store'>, command: string): void {
  const together = 'Or run gateway and workers in one process: gateway --workers 2';
  if (url === embeddedUrl) {
    throw new UsageError(
      `${command}: an engine at embedded:// lives in one process, and no other sees its streams. ` +
        `Give the --url of a Redis (sandbox serves one that needs no installation). ${together}`,
    );
  }
  if (store.kind === 'memory') {
    throw new UsageError(
      `${command}: a memory store lives in one process, so runs of the gateway would be unknown to the workers. ` +
        `Set DATABASE_URL to a PostgreSQL. ${together}`,
    );
  }
}

function readName(settings: Settings, flag: string, otherwise: string): string {
  const name = settings.text(flag) ?? otherwise;
  if (/^[^\s{}]{1,100}$/.test(name)) return name;
  throw new UsageError(`--${flag}: expected a name of at most 100 characters without spaces and braces`);
}

function defaultConsumer(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}

/** Whether an error is about what was asked for rather than about what happened. */
export function isConfigError(error: unknown): error is Error {
  return error instanceof UsageError || ConfigError.is(error);
}
