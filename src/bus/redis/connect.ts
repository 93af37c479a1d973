import type { ConnectionOptions } from 'node:tls';
import type { BusError } from '../errors';
import { ClusterRoute } from './cluster';
import { Link } from './link';
import type { LinkOptions, Traffic } from './link';
import { RedisPort } from './redisPort';
import { SingleRoute } from './route';
import type { OpenLink } from './route';
import { askSentinels } from './sentinel';
import { parseRedisUrl } from './url';
import type { NodeAddress, RedisUrl } from './url';

/** How to connect. */
export interface RedisPortOptions {
  /** A connection URL, or what `parseRedisUrl` made of one. */
  readonly url: string | RedisUrl;
  /** Certificates, or `rejectUnauthorized`; used when the URL asks for TLS. */
  readonly tls?: ConnectionOptions;
  /** Shown by CLIENT LIST. Default `redis-streams`. */
  readonly clientName?: string;
  /** For connecting, the TLS handshake and authenticating together. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** How long the server may be silent while a reply is due before the connection counts as dead. Default 15000. */
  readonly socketTimeoutMs?: number;
  /** Default 2. With 3 the connection falls back to 2 where the server has no RESP3; replies are the same. */
  readonly protocol?: 2 | 3;
  /** Called with the name of every command that is sent. */
  readonly onCommand?: (command: string) => void;
  /** Called when a connection to a server, `host:port`, was opened; the first time before `connectRedis` resolves. */
  readonly onOpened?: (peer: string) => void;
  /** Called when a connection broke. The next call opens a new one. */
  readonly onLost?: (error: BusError) => void;
}

/**
 * Connects to Redis or Valkey: one server, the master that Sentinel names, or a cluster. Rejects with the BusError that tells why
 * not. A connection that breaks later rejects what was in flight and is opened again by the next call, once, without waiting or
 * retrying: how often to call again is up to the caller.
 */
export async function connectRedis(options: RedisPortOptions): Promise<RedisPort> {
  const url = typeof options.url === 'string' ? parseRedisUrl(options.url) : options.url;
  const traffic: Traffic = { connections: 0, commands: 0, flushes: 0 };
  const common: Omit<LinkOptions, 'host' | 'port'> = {
    tls: url.tls ? (options.tls ?? {}) : undefined,
    username: url.username,
    password: url.password,
    db: url.db,
    clientName: options.clientName,
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    socketTimeoutMs: options.socketTimeoutMs ?? 15000,
    protocol: options.protocol ?? 2,
    traffic,
    onCommand: options.onCommand,
  };
  const observer = {
    onOpened: (peer: string) => {
      port.forgetServer();
      options.onOpened?.(peer);
    },
    onLost: (error: BusError) => options.onLost?.(error),
  };
  const route =
    url.mode === 'cluster'
      ? new ClusterRoute(url.nodes, common, observer)
      : url.mode === 'sentinel'
        ? new SingleRoute(viaSentinel(url, common), observer, true)
        : new SingleRoute(direct(url, common), observer);
  const port: RedisPort = new RedisPort(route, traffic);
  try {
    await route.connect();
    return port;
  } catch (error) {
    await port.close();
    throw error;
  }
}

function direct(url: RedisUrl, common: Omit<LinkOptions, 'host' | 'port'>): OpenLink {
  const [address = { host: '127.0.0.1', port: 6379 }] = url.nodes;
  return ({ signal, wantsId = false }) => Link.open({ ...common, ...address, wantsId }, signal);
}

/** Asks the Sentinels anew for every connection, so that a failover is followed. */
function viaSentinel(url: RedisUrl, common: Omit<LinkOptions, 'host' | 'port'>): OpenLink {
  return async ({ signal, wantsId = false }) => {
    const address: NodeAddress = await askSentinels(url, common, signal);
    return Link.open({ ...common, ...address, wantsId, mustBeMaster: true }, signal);
  };
}
