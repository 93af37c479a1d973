// The Redis port on a cluster and behind Sentinel.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { redisIdempotencyStore } from '../../src/bus/consume/idempotencyStores';
import { BusError } from '../../src/bus/errors';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';
import type { StreamKey } from '../../src/bus/ids';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { slotOf } from '../../src/bus/redis/slots';
import { defineScript } from '../../src/bus/scripts/script';
import { eventually } from '../support/eventually';
import { startCluster, startSentinel } from '../support/redisTopology';
import type { RedisCluster } from '../support/redisTopology';
import { uniqueKey } from '../support/uniqueKey';

const fields = [Buffer.from('a'), Buffer.from('1')];
const group = groupName('workers');
const ann = consumerName('ann');

describe('the Redis port on a cluster', function () {
  this.timeout(90_000);
  let cluster: RedisCluster;
  let port: RedisPort;
  before(async () => {
    cluster = await startCluster(3);
    port = await connectRedis({ url: cluster.url });
  });
  after(async () => {
    await port.close();
    await cluster.stop();
  });

  const lengthScript = defineScript<StreamKey[], number>({
    name: 'length',
    text: "return redis.call('XLEN', KEYS[1])",
    readOnly: true,
    keys: (keys) => keys,
    argv: () => [],
    reply: (raw) => Number(raw),
  });

  it('reaches keys of every slot, each on its own node', async () => {
    const keys = Array.from({ length: 30 }, () => streamKey(uniqueKey()));
    await Promise.all(keys.map((key) => port.add(key, fields)));
    const lengths = await Promise.all(keys.map((key) => port.length(key)));
    assert.deepEqual(
      lengths,
      keys.map(() => 1),
    );
    assert.equal((await port.capabilities()).isCluster, true);
    for (const key of keys) {
      assert.equal(await port.run(lengthScript, [key]), 1);
      assert.ok((await port.serverTimeMs(key)) > 0);
    }
  });

  it('keeps the idempotency key of a message on whichever node it belongs to', async () => {
    const store = redisIdempotencyStore(port);
    const keys = Array.from({ length: 20 }, () => `${uniqueKey()}:idempotency:workers:1-0`);
    assert.ok(new Set(keys.map((key) => Math.floor((3 * slotOf(streamKey(key))) / 16_384))).size > 1);
    for (const key of keys) assert.deepEqual(await store.begin(key, 'a', 60_000), { state: 'fresh' });
    for (const key of keys) await store.complete(key, 'a', 60_000);
    for (const key of keys) assert.deepEqual(await store.begin(key, 'b', 60_000), { state: 'done' });
  });

  it('is scanned over every master', async () => {
    const prefix = uniqueKey('scan');
    const keys = Array.from({ length: 40 }, (_, index) => streamKey(`${prefix}:${index}`));
    await Promise.all(keys.map((key) => port.add(key, fields)));
    const found: string[] = [];
    let cursor = '0';
    do {
      const page = await port.scanStreams(cursor, { match: `${prefix}:*`, count: 10 });
      found.push(...page.keys);
      cursor = page.cursor;
    } while (cursor !== '0');
    assert.deepEqual([...new Set(found)].sort(), [...keys].sort());
  });

  it('reads with a reader that goes to the node of its key, and interrupts it there', async () => {
    const keys = Array.from({ length: 6 }, () => streamKey(uniqueKey()));
    for (const key of keys) {
      await port.createGroup(key, group, '$', { makeStream: true });
      const reader = await port.openReader();
      const reading = reader.readGroup(key, group, ann, { count: 1, blockMs: 600_000 });
      await reader.interrupt();
      assert.deepEqual(await reading, []);
      await port.add(key, fields);
      assert.equal((await reader.readGroup(key, group, ann, { count: 1, blockMs: 600_000 })).length, 1);
      reader.close();
    }
  });

  it('says that keys of two slots cannot go into one script', async () => {
    const keys = ['a', 'b'].map(streamKey);
    await assert.rejects(port.run(lengthScript, keys), (error) => BusError.is(error, 'cross-slot'));
  });

  it('follows a slot that is being moved, and after it has moved', async () => {
    const key = streamKey(uniqueKey());
    const slot = slotOf(key);
    await port.add(key, fields, { id: entryId('1-0') });
    const sourceIndex = Math.floor(slot / Math.ceil(16_384 / 3));
    const source = cluster.masters[sourceIndex];
    const target = cluster.masters[(sourceIndex + 1) % 3];
    assert.ok(source && target);
    const [from, to] = [new Redis(source.url), new Redis(target.url)];
    const [fromId, toId] = [String(await from.call('CLUSTER', 'MYID')), String(await to.call('CLUSTER', 'MYID'))];
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    // A key that is not there yet is asked for on the other side, for this one command.
    const other = streamKey(`{${key}}:new`);
    await port.add(other, fields, { id: entryId('5-0') });
    assert.equal(await port.length(key), 1);
    await from.call('MIGRATE', target.host, target.port, key, 0, 5000);
    assert.equal(await port.length(key), 1);
    await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    assert.equal(await port.length(key), 1);
    assert.equal(await port.length(other), 1);
    from.disconnect();
    to.disconnect();
  });

  it('finds its way again after a node was gone', async () => {
    // So many that the node has some of them for certain.
    const keys = Array.from({ length: 60 }, () => streamKey(uniqueKey()));
    await Promise.all(keys.map((key) => port.add(key, fields)));
    const [node] = cluster.masters;
    assert.ok(node);
    await node.kill();
    const results = await Promise.allSettled(keys.map((key) => port.length(key)));
    assert.ok(results.some(({ status }) => status === 'rejected'));
    for (const result of results) if (result.status === 'rejected') assert.ok(result.reason instanceof BusError);
    await node.restart();
    await eventually(async () => {
      for (const key of keys) await port.length(key);
    });
  });
});

describe('the Redis port behind Sentinel', function () {
  this.timeout(90_000);

  it('leaves a master that was demoted but kept its clients', async () => {
    const sentinel = await startSentinel({ replicas: 0 });
    const [server] = sentinel.servers;
    assert.ok(server);
    const port = await connectRedis({ url: sentinel.url });
    const client = new Redis(server.url);
    await client.call('REPLICAOF', '127.0.0.1', '1');
    const asked = port.length(streamKey('x'));
    await assert.rejects(port.add(streamKey('x'), fields), (error) => BusError.is(error, 'read-only-replica'));
    assert.equal(await asked, 0);
    await eventually(async () => {
      await assert.rejects(port.length(streamKey('x')), (error) => BusError.is(error, 'read-only-replica'));
    });
    await client.call('REPLICAOF', 'NO', 'ONE');
    await eventually(() => port.add(streamKey('x'), fields));
    client.disconnect();
    await port.close();
    await sentinel.stop();
  });

  it('goes to the master that Sentinel names, also after a failover', async () => {
    const sentinel = await startSentinel();
    const port = await connectRedis({ url: sentinel.url });
    const key = streamKey(uniqueKey());
    await port.add(key, fields, { id: entryId('1-0') });
    const reader = await port.openReader();
    assert.equal((await reader.read(key, entryId('0-0'), { count: 1, blockMs: 0 })).length, 1);
    await sentinel.failOver();
    // The demoted master drops its clients, or refuses their writes; whichever comes first, a later call is served.
    await eventually(
      async () => {
        await port.add(key, fields);
      },
      { timeoutMs: 30_000 },
    );
    assert.ok((await port.length(key)) >= 2);
    assert.equal((await port.capabilities()).role, 'master');
    await port.close();
    await assert.rejects(connectRedis({ url: sentinel.url.replace(/\/[^/]*$/, '/other') }), (error) => {
      assert.ok(BusError.is(error, 'no-key'));
      assert.match(error.message, /other/);
      return true;
    });
    await sentinel.stop();
    await assert.rejects(connectRedis({ url: sentinel.url }), (error) => BusError.is(error, 'connection-refused'));
  });
});
