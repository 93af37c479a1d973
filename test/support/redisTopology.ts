// Several servers that belong together: a replica pair, a cluster, a master watched by Sentinel; all on loopback ports.
// Built on redisServer.ts. Tested by test/bus/topology.test.ts.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { findRedisServer, startRedisServer } from '../../scripts/lib/redisServer.mjs';
import { eventually } from './eventually';
import { startRedis } from './redisServer';
import type { RedisOptions, RedisServer } from './redisServer';

/** A cluster whose slots are all served. */
export interface RedisCluster {
  /** `redis+cluster://host:port,host:port`. */
  readonly url: string;
  /** The masters, in the order of their slots, then the replicas. */
  readonly nodes: readonly RedisServer[];
  readonly masters: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  stop(): Promise<void>;
}

/** A master with replicas, watched by Sentinel under the name `mymaster`. */
export interface RedisSentinel {
  /** `redis+sentinel://host:port,host:port/mymaster`. */
  readonly url: string;
  readonly name: string;
  readonly sentinelPorts: readonly number[];
  /** The data servers; which of them is the master changes. */
  readonly servers: readonly RedisServer[];
  /** The master that Sentinel names now. */
  masterPort(): Promise<number>;
  /** Promotes a replica and resolves with the port of the new master when it takes writes. */
  failOver(): Promise<number>;
  stop(): Promise<void>;
}

/** A replica of `master`, in sync when this resolves. */
export async function startReplica(master: RedisServer, options: RedisOptions = {}): Promise<RedisServer> {
  const { port, password } = master;
  const replica = await startRedis({
    ...options,
    replicaOf: { port, ...(password === undefined ? {} : { password }) },
  });
  try {
    await waitForInfo(replica.url, 'replication', 'master_link_status:up');
    return replica;
  } catch (error) {
    await replica.stop();
    throw error;
  }
}

/** A cluster of `masterCount` masters, each with `replicasEach` replicas; it takes about three seconds to form. */
export async function startCluster(
  masterCount = 3,
  { replicasEach = 0, ...options }: ClusterOptions = {},
): Promise<RedisCluster> {
  const total = masterCount * (1 + replicasEach);
  const nodes: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let i = 0; i < total; i++) nodes.push(await startRedis({ ...options, cluster: true }));
    const masters = nodes.slice(0, masterCount);
    const replicas = nodes.slice(masterCount);
    await join(nodes, masters);
    for (const [i, replica] of replicas.entries()) await follow(replica, masters[i % masterCount]);
    return { url: `redis+cluster://${addresses(nodes.map(({ port }) => port))}`, nodes, masters, replicas, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What `startCluster` takes beside the number of masters. */
export interface ClusterOptions extends RedisOptions {
  readonly replicasEach?: number;
}

/** One master with `replicas` replicas, and `sentinels` Sentinels that agree on it. */
export async function startSentinel({ replicas = 1, sentinels = 1 } = {}): Promise<RedisSentinel> {
  const name = 'mymaster';
  const servers: RedisServer[] = [];
  const watchers: { readonly port: number; stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all([...watchers, ...servers].map((server) => server.stop()));
  };
  try {
    const master = await startRedis();
    servers.push(master);
    for (let i = 0; i < replicas; i++) servers.push(await startReplica(master));
    for (let i = 0; i < sentinels; i++)
      watchers.push(await startWatcher(name, master.port, Math.floor(sentinels / 2) + 1));
    const ports = watchers.map(({ port }) => port);
    const firstPort = ports[0] ?? 0;
    for (const port of ports) await waitUntilWatched(port, name, replicas, sentinels);
    const masterPort = (): Promise<number> => readMasterPort(firstPort, name);
    const failOver = (): Promise<number> => promoteReplica(firstPort, name);
    const url = `redis+sentinel://${addresses(ports)}/${name}`;
    return { url, name, sentinelPorts: ports, servers, masterPort, failOver, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startWatcher(
  name: string,
  masterPort: number,
  quorum: number,
): Promise<{ port: number; stop(): Promise<void> }> {
  const binary = findRedisServer();
  return startRedisServer({
    args: ['--sentinel'],
    config: [
      `sentinel monitor ${name} 127.0.0.1 ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${name} 1000`,
      `sentinel failover-timeout ${name} 10000`,
    ],
    ...(binary === undefined ? {} : { binary }),
  });
}

async function waitUntilWatched(port: number, name: string, replicas: number, sentinels: number): Promise<void> {
  const known = [`"num-slaves","${replicas}"`, `"num-other-sentinels","${sentinels - 1}"`];
  await withClient(urlOf(port), (client) =>
    eventually(async () => {
      const state = JSON.stringify(await client.call('SENTINEL', 'MASTER', name));
      for (const part of known) assert.ok(state.includes(part), `Sentinel ${port} does not know ${part} yet: ${state}`);
    }),
  );
}

async function promoteReplica(sentinelPort: number, name: string): Promise<number> {
  const before = await readMasterPort(sentinelPort, name);
  const options = { timeoutMs: 30_000 };
  // Sentinel refuses until it has looked at the replica: NOGOODSLAVE.
  await withClient(urlOf(sentinelPort), (client) =>
    eventually(() => client.call('SENTINEL', 'FAILOVER', name), options),
  );
  return eventually(async () => {
    const port = await readMasterPort(sentinelPort, name);
    assert.notEqual(port, before);
    await waitForInfo(urlOf(port), 'replication', 'role:master');
    return port;
  }, options);
}

async function join(nodes: readonly RedisServer[], masters: readonly RedisServer[]): Promise<void> {
  const slotsEach = Math.ceil(16_384 / masters.length);
  for (const [i, node] of nodes.entries()) {
    await withClient(node.url, async (client) => {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
      const first = i * slotsEach;
      const slots = Array.from({ length: Math.max(0, Math.min(slotsEach, 16_384 - first)) }, (_, slot) => first + slot);
      if (i < masters.length) await client.call('CLUSTER', 'ADDSLOTS', ...slots);
      const [seed] = nodes;
      if (seed !== undefined && seed !== node) await client.call('CLUSTER', 'MEET', seed.host, seed.port);
    });
  }
  for (const { url } of nodes) {
    await waitForInfo(
      url,
      'cluster',
      'cluster_state:ok',
      `cluster_known_nodes:${nodes.length}\r`,
      'cluster_slots_assigned:16384',
    );
  }
}

async function follow(replica: RedisServer, master: RedisServer | undefined): Promise<void> {
  assert.ok(master);
  const id = await withClient(master.url, (client) => client.call('CLUSTER', 'MYID'));
  await withClient(replica.url, (client) => client.call('CLUSTER', 'REPLICATE', String(id)));
  await waitForInfo(replica.url, 'replication', 'master_link_status:up');
}

async function waitForInfo(url: string, section: 'replication' | 'cluster', ...wanted: string[]): Promise<void> {
  await withClient(url, (client) =>
    eventually(
      async () => {
        const info = section === 'cluster' ? String(await client.call('CLUSTER', 'INFO')) : await client.info(section);
        for (const part of wanted) assert.ok(info.includes(part), `${url} does not say ${part.trim()}: ${info}`);
      },
      { timeoutMs: 30_000 },
    ),
  );
}

async function readMasterPort(sentinelPort: number, name: string): Promise<number> {
  const address = await withClient(urlOf(sentinelPort), (client) =>
    client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name),
  );
  assert.ok(Array.isArray(address), `Sentinel ${sentinelPort} knows no master ${name}`);
  return Number(address[1]);
}

async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: null, lazyConnect: true });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}

function urlOf(port: number): string {
  return `redis://127.0.0.1:${port}`;
}

function addresses(ports: readonly number[]): string {
  return ports.map((port) => `127.0.0.1:${port}`).join(',');
}
