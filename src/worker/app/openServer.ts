import { connectRedis, createBus, lazyPort, parseRedisUrl } from '../../bus';
import type { Bus, StreamPort, Telemetry } from '../../bus';
import { createEmbeddedPort } from '../../embedded';
import { UsageError } from '../usageError';
import type { Settings } from './settings';

/** What `--url` says for an engine in the worker's own process. */
export const embeddedUrl = 'embedded://';

/** A server as the commands of the application use it. */
export interface AppServer {
  readonly bus: Bus;
  readonly port: StreamPort;
  /** The engine lives in this process and ends with it. */
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

/** Reads `--url`: the server and never a secret, which belongs into REDIS_STREAMS_URL. Checked here, connected later. */
export function readUrl(settings: Settings, flagGiven: readonly string[], otherwise?: string): string {
  const url = settings.text('url') ?? otherwise;
  if (url === undefined) throw new UsageError('Which server? Give --url redis://… (or REDIS_STREAMS_URL)');
  if (isEmbedded(url)) return embeddedUrl;
  let hasPassword: boolean;
  try {
    const { password, sentinelPassword } = parseRedisUrl(url);
    hasPassword = password !== undefined || sentinelPassword !== undefined;
  } catch (error) {
    throw new UsageError(`--url: ${error instanceof Error ? error.message : 'not a Redis URL'}`);
  }
  const isFlag = flagGiven.some((argument) => argument === '--url' || argument.startsWith('--url='));
  if (hasPassword && isFlag) {
    throw new UsageError(
      '--url holds a password, which everybody on this machine can read: give the URL as REDIS_STREAMS_URL',
    );
  }
  return url;
}

/** Whether a URL names the engine in this process. */
export function isEmbedded(url: string): boolean {
  return /^embedded:(\/\/)?$/.test(url);
}

/** Makes a bus and a port for a URL. A server is connected to when it is first used, so it may come later than this process. */
export function openServer(url: string, env: string, clientName: string, telemetry?: Telemetry): AppServer {
  const watched = telemetry === undefined ? {} : { telemetry };
  if (isEmbedded(url)) {
    const port = createEmbeddedPort();
    const bus = createBus({ port, env, ...watched });
    return { bus, port, isEmbedded: true, close: () => bus.close() };
  }
  const redis = { url, clientName };
  // The bus has the URL and not the port: the heartbeat thread of a consumer needs a connection of its own.
  const bus = createBus({ redis, env, ...watched });
  const port = lazyPort(() => connectRedis(redis));
  return {
    bus,
    port,
    isEmbedded: false,
    close: async () => {
      await Promise.all([bus.close(), port.close()]);
    },
  };
}
