// A redis-server of a test's own: on a free loopback port, with a temporary folder, gone when the test process is gone.
// REDIS_SERVER picks the binary, so that the same tests run on every version. Knows nothing of what tests do with it.
// Tested by test/bus/support.test.ts; clusters and Sentinel are in redisTopology.ts.
import { rmSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { findRedisServer, makeServerDir, readServerVersion, startRedisServer } from '../../scripts/lib/redisServer.mjs';
import { makeTlsCertificates } from './tlsCertificates';

/** What a test may ask of its server; without options it has no password, no persistence and no TLS. */
export interface RedisOptions {
  /** Default: REDIS_SERVER, else redis-server on PATH. */
  readonly binary?: string;
  /** More command-line arguments, such as `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[];
  /** More lines of redis.conf. */
  readonly config?: readonly string[];
  /** Append-only file written at every command, so that data survives `kill` and `restart`. */
  readonly aof?: boolean;
  readonly password?: string;
  /** ACL users as ACL SETUSER takes them: `'reader on >secret ~* +@read'`. */
  readonly users?: readonly string[];
  /** TLS instead of plain TCP; `'mutual'` also asks the client for a certificate. */
  readonly tls?: boolean | 'mutual';
  readonly replicaOf?: { readonly port: number; readonly password?: string };
  readonly cluster?: boolean;
}

/** A server that runs until `stop`, also across `kill` and `restart`. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** Holds the password, when there is one. */
  readonly url: string;
  readonly password: string | undefined;
  /** The process that runs now, or ran last. */
  readonly pid: number;
  readonly dir: string;
  /** For a client's `tls` option, when the server speaks TLS. */
  readonly tls: ConnectionOptions | undefined;
  readonly isRunning: boolean;
  /** What the server has logged since it was started or restarted. */
  log(): string;
  /** Sends the signal (SIGKILL by default, SIGSTOP to freeze) and waits for the end when it is one that ends. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Kills it if it runs and starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Ends it and removes its folder; a second call does nothing. */
  stop(): Promise<void>;
}

/** The version of the server binary that tests run on, such as `{ name: 'Redis', version: '7.0.15' }`. */
export function serverUnderTest(binary = findRedisServer()): { name: string; version: string } {
  if (binary === undefined) throw new Error('There is no redis-server on PATH: install it or set REDIS_SERVER.');
  return readServerVersion(binary);
}

/** Whether the server under test counts lags, and commands by their subcommands: it does from 7.0 on. */
export function isBefore7(): boolean {
  return Number.parseInt(serverUnderTest().version, 10) < 7;
}

/** Starts a server and resolves when it answers; stop it in the `after` hook of the file that started it. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = makeServerDir();
  try {
    const server = await startIn(dir, options);
    liveServers.add(server);
    return server;
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/** The servers that were started and not stopped. */
export function listLiveServers(): readonly RedisServer[] {
  return [...liveServers];
}

const liveServers = new Set<RedisServer>();

async function startIn(dir: string, options: RedisOptions): Promise<RedisServer> {
  const certificates = options.tls === undefined || options.tls === false ? undefined : makeTlsCertificates(dir);
  const tls = certificates?.client;
  const start = (port?: number) =>
    startRedisServer({
      dir,
      removeDir: true,
      clusterBus: options.cluster === true,
      config: [...configLines(options), ...(certificates?.configLines(options.tls === 'mutual') ?? [])],
      args: [...(options.args ?? [])],
      ...(options.binary === undefined ? {} : { binary: options.binary }),
      ...(tls === undefined ? {} : { tls }),
      ...(port === undefined ? {} : { port }),
    });
  let current = await start();
  const { host, port } = current;
  const credentials = options.password === undefined ? '' : `:${encodeURIComponent(options.password)}@`;
  const server: RedisServer = {
    host,
    port,
    url: `${tls === undefined ? 'redis' : 'rediss'}://${credentials}${host}:${port}`,
    password: options.password,
    dir,
    tls,
    get pid() {
      return current.pid;
    },
    get isRunning() {
      return current.isRunning();
    },
    log: () => current.log(),
    kill: (signal) => current.kill(signal),
    restart: async () => {
      await current.kill();
      current = await start(port);
    },
    stop: async () => {
      await current.stop();
      liveServers.delete(server);
    },
  };
  return server;
}

function configLines(options: RedisOptions): string[] {
  const lines: string[] = [];
  if (options.aof === true) lines.push('appendonly yes', 'appendfsync always');
  if (options.password !== undefined) lines.push(`requirepass ${JSON.stringify(options.password)}`);
  for (const user of options.users ?? []) lines.push(`user ${user}`);
  if (options.replicaOf !== undefined) {
    lines.push(`replicaof 127.0.0.1 ${options.replicaOf.port}`);
    // Without the five seconds that a master waits for more replicas before its first transfer.
    lines.push('repl-diskless-sync-delay 0');
    if (options.replicaOf.password !== undefined)
      lines.push(`masterauth ${JSON.stringify(options.replicaOf.password)}`);
  } else {
    lines.push('repl-diskless-sync-delay 0');
  }
  if (options.cluster === true) lines.push('cluster-enabled yes', 'cluster-node-timeout 2000');
  return [...lines, ...(options.config ?? [])];
}
