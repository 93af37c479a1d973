/** Reads that also take over what others let lie (XREADGROUP CLAIM), on servers that can; elsewhere that nothing changes. */
import assert from 'node:assert/strict';
import { connectRedis, retryLater } from '../../src/bus';
import type { Consumer, ConsumerOptions, RedisPort } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, age, collect, gate, group, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

/** Nothing but the first look and reads can take anything over within a test. */
const rareLooks = { reclaim: { intervalMs: 600_000 } };

describe('a read that takes over', () => {
  let world: BusWorld;
  let canClaim: boolean;
  before(async () => {
    world = await startBusWorld();
    const port = await connectRedis({ url: world.server.url });
    canClaim = (await port.capabilities()).hasReadClaim;
    await port.close();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  /** Starts the consumer and, after its first look, leaves two entries with `dead`; their ids. */
  async function leaveEntries(stream: string, consumer: Consumer): Promise<string[]> {
    await consumer.start();
    // Once an entry was handled the first look is over, so that what comes next is not found by it.
    const [first] = await addNumbered(world.redis, stream, 1);
    await eventually(async () => {
      const rows = await pendingRows(world.redis, stream);
      return rows.length === 0 && String(await world.redis.xinfo('GROUPS', stream)).includes(String(first));
    });
    // In one step, so that the consumer's own read does not get them.
    const results = await world.redis
      .multi()
      .xadd(stream, '*', 'n', '1')
      .xadd(stream, '*', 'n', '2')
      .xreadgroup('GROUP', group, 'dead', 'COUNT', 2, 'STREAMS', stream, '>')
      .exec();
    return (results ?? []).slice(0, 2).map(([, id]) => String(id));
  }

  it('brings what a dead consumer left the moment that it is idle for long enough, without waiting for the next look', async function () {
    if (!canClaim) this.skip();
    const stream = uniqueKey();
    const counts = new Map<string, number>();
    const options = { ...rareLooks, blockMs: 60_000, ownership: { minIdleMs: 300, heartbeatMs: 50 } };
    const consumer = world.bus().consume(stream, quickOptions(options), ({ id }, { deliveryCount }) => {
      counts.set(id, deliveryCount);
    });
    const reclaimed = collect(consumer, 'reclaimed');
    const ids = await leaveEntries(stream, consumer);
    await eventually(() => counts.size === 3);
    assert.deepEqual(
      ids.map((id) => counts.get(id)),
      [2, 2],
    );
    assert.deepEqual(
      reclaimed.flatMap(({ ids: some }) => some),
      ids,
    );
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
  });

  it('does not happen on a server that cannot, nor when the consumer is to take nothing over', async () => {
    for (const reclaim of canClaim ? [false as const] : [false as const, rareLooks.reclaim]) {
      const stream = uniqueKey();
      const seen: string[] = [];
      const consumer = world.bus().consume(stream, quickOptions({ reclaim, blockMs: 20 }), ({ id }) => {
        seen.push(id);
      });
      const ids = await leaveEntries(stream, consumer);
      await age(world.redis, stream, 'dead', ids);
      for (let n = 0; n < 5; n += 1) {
        const [next = assert.fail()] = await addNumbered(world.redis, stream, 1);
        await eventually(() => seen.includes(next));
      }
      assert.deepEqual(
        (await pendingRows(world.redis, stream))
          .filter(({ id }) => ids.includes(id))
          .map(({ id, consumer: owner, deliveries }) => [id, owner, deliveries]),
        ids.map((id) => [id, 'dead', 1]),
      );
    }
  });

  it('dead-letters what was delivered too often without running it, with the count that handlers saw (I6)', async function () {
    if (!canClaim) this.skip();
    const stream = uniqueKey();
    const bus = world.bus();
    const seen: string[] = [];
    const consumer = bus.consume(stream, quickOptions({ ...rareLooks, blockMs: 50 }), ({ id }) => {
      seen.push(id);
    });
    const dead = collect(consumer, 'dead-lettered');
    const [id = assert.fail(), other = assert.fail()] = await leaveEntries(stream, consumer);
    await world.redis.call('XCLAIM', stream, group, 'dead', '0', id, 'IDLE', '1000000', 'RETRYCOUNT', '3', 'JUSTID');
    await eventually(() => dead.length === 1);
    const [letter = assert.fail()] = await bus.deadLetters(stream).list();
    assert.equal(letter.failure.entry, id);
    assert.equal(letter.failure.reason, 'delivery-limit');
    assert.equal(letter.failure.deliveries, 3);
    assert.equal(letter.failure.consumer, consumer.name);
    assert.ok(!seen.includes(id));
    assert.deepEqual(
      (await pendingRows(world.redis, stream)).map((row) => row.id),
      [other],
    );
  });

  it('knows an entry that this consumer is busy with: it runs once, and a delivery is counted (I3)', async function () {
    if (!canClaim) this.skip();
    const stream = uniqueKey();
    const hold = gate();
    const counts: number[] = [];
    const options: Partial<ConsumerOptions> = {
      ...rareLooks,
      blockMs: 50,
      ownership: { minIdleMs: 60_000, heartbeatMs: 20_000 },
      retry: { maxDeliveries: 2, backoff: () => 20 },
    };
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions(options), async (_message, { deliveryCount }) => {
      counts.push(deliveryCount);
      await hold.opened;
      throw new Error('no');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => counts.length === 1);
    // As if no heartbeat had come for long.
    await age(world.redis, stream, consumer.name, [id]);
    await eventually(async () => (await pendingRows(world.redis, stream))[0]?.deliveries === 2);
    // A later entry's read shows that the reply was taken in.
    await addNumbered(world.redis, stream, 1);
    await eventually(() => counts.length === 2);
    hold.open();
    await eventually(() => dead.some((letter) => letter.id === id));
    const letter = dead.find((one) => one.id === id);
    assert.deepEqual([letter?.reason, letter?.deliveries], ['handler-error', 2]);
  });

  it('does not put a retry off that it took over while the idle time was being wound (I7)', async function () {
    if (!canClaim) this.skip();
    const stream = uniqueKey();
    const real = await connectRedis({ url: world.server.url });
    let isFirst = true;
    const options: Partial<ConsumerOptions> = {
      ...rareLooks,
      blockMs: 50,
      ownership: { minIdleMs: 60_000, heartbeatMs: 20_000 },
    };
    // The reply that the retry is scheduled comes so late that a read has taken the entry over meanwhile.
    const port = replacing(real, {
      run: async (script: unknown, args: never): Promise<unknown> => {
        const reply: unknown = await real.run(script as never, args);
        if (script !== retryLater || !isFirst) return reply;
        isFirst = false;
        const [row = assert.fail()] = await pendingRows(world.redis, stream);
        await age(world.redis, stream, row.consumer, [row.id]);
        await eventually(async () => (await pendingRows(world.redis, stream))[0]?.deliveries === 2);
        const [next = assert.fail()] = await addNumbered(world.redis, stream, 1);
        await eventually(() => seen.includes(next));
        return reply;
      },
    });
    const seen: string[] = [];
    const consumer = world.bus({ port }).consume(stream, quickOptions(options), ({ id }) => {
      seen.push(id);
      if (seen.length === 1) throw new Error('again');
    });
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.equal(seen.filter((one) => one === id).length, 2);
  });

  it('is given up when the server refuses it after all', async function () {
    if (canClaim) this.skip();
    const stream = uniqueKey();
    const real = await connectRedis({ url: world.server.url });
    const port = replacing(real, {
      capabilities: async (): Promise<unknown> => ({ ...(await real.capabilities()), hasReadClaim: true }),
    });
    const seen: string[] = [];
    const consumer = world.bus({ port }).consume(stream, quickOptions(), ({ id }) => {
      seen.push(id);
    });
    const failures = collect(consumer, 'reader-failed');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 3);
    await eventually(() => seen.length === 3);
    assert.deepEqual(seen, ids);
    assert.equal(failures.length, 1);
  });
});

/** The port with some of its methods replaced. */
function replacing(port: RedisPort, methods: Readonly<Record<string, unknown>>): RedisPort {
  return new Proxy(port, {
    get: (target, name) => {
      if (typeof name === 'string' && Object.hasOwn(methods, name)) return methods[name];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
