// The copied redis-cli lines of each verb, run by a shell: they do what the verb would have done. And moves on a cluster, where keys
// that share no slot are refused before anything is sent.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Cluster, Redis } from 'ioredis';
import { redisCliLine, redisCliScriptLine } from '../../src/base/redisCli';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus';
import { cliConnection } from '../../src/connections/cliConnection';
import { batches } from '../../src/connections/verbs/pendingRows';
import type { PlannedItem, Verb } from '../../src/connections/verbs/verb';
import { verbs } from '../../src/connections/verbs/index';
import { startCluster } from '../support/redisTopology';
import type { RedisCluster } from '../support/redisTopology';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { openActWorld, seedPending, statuses } from './support/actWorld';
import type { ActWorld } from './support/actWorld';

const run = promisify(execFile);

describe('the redis-cli lines of verbs', () => {
  let server: RedisServer;
  let redis: Redis;
  let world: ActWorld;

  before(async () => {
    server = await startRedis();
    redis = new Redis(server.port, server.host);
    world = await openActWorld(server.url);
  });
  after(async () => {
    world.dispose();
    redis.disconnect();
    await server.stop();
  });

  /** Runs the lines that would be copied; what redis-cli printed. */
  async function runLines<Request, Item extends PlannedItem>(
    verb: Verb<Request, Item>,
    request: Request,
  ): Promise<string> {
    const { preview, mode } = await world.gate.plan(world.connection, verb, request);
    const options = cliConnection(world.connection.profile, false);
    let printed = '';
    for (const items of batches(preview.items)) {
      for (const command of verb.cli(request, items, mode)) {
        const line = command[0] === 'EVAL' ? redisCliScriptLine(options, command) : redisCliLine(options, command);
        printed += (await run('sh', ['-c', line])).stdout;
      }
    }
    assert.deepEqual(world.writes, [], 'copying writes nothing');
    assert.doesNotMatch(printed, /^(?:ERR|NOGROUP|WRONGTYPE|Invalid)/m);
    return printed;
  }

  for (const name of [
    'orders',
    "it's $(touch x) `y`",
    Buffer.from([0x6f, 0xff, 0x00, 0x0a]).toString('latin1'),
    'a}b',
  ]) {
    it(`do the same for ${JSON.stringify(name)}`, async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(name), 4, { group: name });
      const [first, second, third, fourth] = ids.map((id) => ({ ids: [id] }));
      assert.ok(first && second && third && fourth);
      const request = { stream, group, guard: 'strict' } as const;
      await runLines(verbs.makeReclaimable, { ...request, select: first });
      await runLines(verbs.claim, { ...request, select: second, consumer: consumerName(name), count: 'increment' });
      await runLines(verbs.acknowledge, { ...request, select: third });
      await runLines(verbs.moveToDeadLetters, { ...request, select: fourth, reason: 'why "not"\n' });
      const rows = (await redis.xpending(stream, group, '-', '+', 10)) as [string, string, number, number][];
      assert.deepEqual(
        rows.map(([id, consumer, idleMs, deliveries]) => [id, consumer, idleMs > 80_000_000, deliveries]),
        [
          [ids[0], 'dead', true, 1],
          [ids[1], name, false, 2],
        ],
      );
      const deadLetters = streamKey(`${stream}:dlq`);
      const [letter] = await redis.xrange(deadLetters, '-', '+');
      assert.ok(letter?.[1].includes('why "not"\n'));
      await runLines(verbs.replay, { deadLetters, target: stream, ids: [entryId(letter?.[0] ?? '')] });
      assert.equal(await redis.xlen(deadLetters), 0);
      await runLines(verbs.publish, {
        stream,
        fields: [Buffer.from(name, 'latin1'), Buffer.of(0xff)],
        makeStream: false,
      });
      const [published] = (await redis.xrevrangeBuffer(stream, '+', '-', 'COUNT', 1)) as [Buffer, Buffer[]][];
      assert.deepEqual(published?.[1], [Buffer.from(name, 'latin1'), Buffer.of(0xff)]);
    });
  }
});

describe('the verbs on a cluster', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  let world: ActWorld;

  before(async () => {
    cluster = await startCluster(3);
    const [first] = cluster.nodes;
    assert.ok(first);
    client = new Cluster([{ host: first.host, port: first.port }]);
    world = await openActWorld(cluster.url);
  });
  after(async () => {
    world.dispose();
    client.disconnect();
    await cluster.stop();
  });

  async function seed(stream: string): Promise<ReturnType<typeof entryId>> {
    const id = await client.xadd(stream, '*', 'n', '1');
    await client.xgroup('CREATE', stream, 'workers', '0');
    await client.xreadgroup('GROUP', 'workers', 'dead', 'COUNT', 1, 'STREAMS', stream, '>');
    return entryId(String(id));
  }

  it('move to dead letters in the slot of the stream, and replay from there', async () => {
    const stream = streamKey('plain');
    const id = await seed(stream);
    const request = {
      stream,
      group: groupName('workers'),
      select: { ids: [id] },
      guard: 'strict',
      reason: '',
    } as const;
    const moved = await world.act(verbs.moveToDeadLetters, request);
    assert.deepEqual(statuses(moved), ['done moved']);
    const deadLetters = streamKey('{plain}:dlq');
    assert.equal(await client.xlen(deadLetters), 1);
    const ids = moved.results.flatMap(({ newId }) => newId ?? []);
    assert.deepEqual(statuses(await world.act(verbs.replay, { deadLetters, target: stream, ids })), ['done replayed']);
  });

  it('refuse what no slot is shared for, before anything is sent', async () => {
    const stream = streamKey('a}b');
    const id = await seed(stream);
    const before = world.writes.length;
    const moving = { stream, group: groupName('workers'), select: { ids: [id] }, guard: 'strict', reason: '' } as const;
    const move = await world.gate.plan(world.connection, verbs.moveToDeadLetters, moving);
    assert.equal(move.preview.obstacle?.kind, 'cross-slot');
    await assert.rejects(world.gate.run(move), { reason: 'cancelled' });
    await client.xadd('elsewhere', '*', 'n', '1');
    const replaying = { stream, target: streamKey('elsewhere'), ids: [id] };
    const replay = await world.gate.plan(world.connection, verbs.replayEntry, replaying);
    assert.equal(replay.preview.obstacle?.kind, 'cross-slot');
    assert.equal(world.writes.length, before);
    assert.equal((await client.xpending(stream, 'workers', '-', '+', 10)).length, 1);
  });
});
