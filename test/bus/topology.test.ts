import assert from 'node:assert/strict';
import { Cluster, Redis } from 'ioredis';
import { startCluster, startReplica, startSentinel } from '../support/redisTopology';
import type { RedisCluster, RedisSentinel } from '../support/redisTopology';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';

describe('servers that belong together', () => {
  describe('a replica pair', () => {
    const servers: RedisServer[] = [];
    after(() => Promise.all(servers.map((server) => server.stop())));

    it('copies an entry from the master to the replica, which refuses writes', async () => {
      const master = await startRedis({ password: 'secret' });
      servers.push(master);
      const replica = await startReplica(master);
      servers.push(replica);
      const key = uniqueKey();
      const writer = new Redis(master.url);
      const reader = new Redis(replica.url);
      try {
        const id = await writer.xadd(key, '*', 'f', 'v');
        await eventually(async () => assert.deepEqual(await reader.xrange(key, '-', '+'), [[id, ['f', 'v']]]));
        await assert.rejects(reader.xadd(key, '*', 'f', 'v'), /^ReplyError: READONLY/);
      } finally {
        writer.disconnect();
        reader.disconnect();
      }
    });
  });

  describe('a cluster', () => {
    let cluster: RedisCluster;
    before(async () => {
      cluster = await startCluster(3, { replicasEach: 1 });
    });
    after(() => cluster.stop());

    it('serves streams of every slot, each on the master that owns it', async () => {
      const client = new Cluster(cluster.masters.map(({ host, port }) => ({ host, port })));
      try {
        for (const tag of ['a', 'b', 'c', 'd', 'e', 'f']) {
          const key = uniqueKey(`{${tag}}`);
          await client.xadd(key, '*', 'tag', tag);
          assert.equal(await client.xlen(key), 1);
        }
        const sizes = await Promise.all(client.nodes('master').map((node) => node.dbsize()));
        assert.equal(sizes.length, 3);
        assert.equal(
          sizes.reduce((sum, size) => sum + size, 0),
          6,
        );
        assert.ok(
          sizes.every((size) => size < 6),
          `all keys are on one node: ${sizes.join(', ')}`,
        );
      } finally {
        client.disconnect();
      }
    });

    it('answers MOVED on the wrong node', async () => {
      const keys = ['a', 'b', 'c'].map((tag) => uniqueKey(`{${tag}}`));
      const [first] = cluster.masters;
      const client = new Redis(first?.url ?? '');
      try {
        const outcomes = await Promise.allSettled(keys.map((key) => client.xlen(key)));
        assert.ok(
          outcomes.some((outcome) => outcome.status === 'rejected' && /MOVED \d+ 127/.test(String(outcome.reason))),
        );
      } finally {
        client.disconnect();
      }
    });

    it('has a replica for each master', () => {
      assert.equal(cluster.replicas.length, 3);
      assert.match(cluster.url, /^redis\+cluster:\/\/(127\.0\.0\.1:\d+,?){6}$/);
    });
  });

  describe('a master watched by Sentinel', () => {
    let sentinel: RedisSentinel;
    before(async () => {
      sentinel = await startSentinel();
    });
    after(() => sentinel.stop());

    it('moves the master to the replica, and a client that asks Sentinel writes there', async () => {
      const [before, replica] = sentinel.servers;
      assert.equal(await sentinel.masterPort(), before?.port);
      const after = await sentinel.failOver();
      assert.equal(after, replica?.port);
      const client = new Redis({
        sentinels: sentinel.sentinelPorts.map((port) => ({ host: '127.0.0.1', port })),
        name: sentinel.name,
      });
      try {
        assert.match(String(await client.xadd(uniqueKey(), '*', 'f', 'v')), /^\d+-0$/);
        assert.equal(client.stream.remotePort, after);
      } finally {
        client.disconnect();
      }
    });
  });
});
