/** Handling a message once: the stores of the bus, and the middleware around a consumer on a real server. */
import assert from 'node:assert/strict';
import { ConfigError, connectRedis, idempotent, memoryIdempotencyStore, redisIdempotencyStore } from '../../src/bus';
import type { HandlerLog, IdempotencyStore, RedisPort } from '../../src/bus';
import { createMemoryBus } from '../../src/embedded';
import type { MemoryBus } from '../../src/embedded';
import { eventually } from '../support/eventually';
import { manualClock } from '../support/manualClock';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, gate, group, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { describeIdempotencyStore } from './idempotencyStore.contract';

describe('idempotency', () => {
  let world: BusWorld;
  let port: RedisPort;
  let memory: MemoryBus;
  before(async () => {
    world = await startBusWorld();
    port = await connectRedis({ url: world.server.url });
    memory = createMemoryBus();
  });
  afterEach(() => world.closeBuses());
  after(async () => {
    await memory.bus.close();
    await port.close();
    await world.stop();
  });

  const clock = manualClock();
  const inMemory = memoryIdempotencyStore({ clock });
  describeIdempotencyStore('in memory', () => ({
    store: inMemory,
    expire: () => {
      clock.advance(1_000_000);
      return Promise.resolve();
    },
  }));
  describeIdempotencyStore('in Redis', () => ({
    store: redisIdempotencyStore(port),
    // What ran out is not there any more.
    expire: async (keys) => {
      await world.redis.del(...keys);
    },
  }));
  describeIdempotencyStore('in the embedded engine', () => ({
    store: memory.bus.idempotencyStore(),
    expire: () => memory.advance(1_000_000),
  }));

  describe('in Redis', () => {
    it('is a key of its own for each message, which runs out by itself, and refuses a key of something else', async () => {
      const store = redisIdempotencyStore(port);
      const key = uniqueKey();
      await store.begin(key, 'token', 50_000);
      const lease = await world.redis.pttl(key);
      assert.ok(lease > 0 && lease <= 50_000, String(lease));
      await store.complete(key, 'token', 70_000);
      assert.equal(await world.redis.get(key), 'done');
      const mark = await world.redis.pttl(key);
      assert.ok(mark > 50_000 && mark <= 70_000, String(mark));
      await world.redis.pexpire(key, 1);
      await eventually(async () => (await store.begin(key, 'other', 50_000)).state === 'fresh');
      await world.redis.set(key, 'a text of somebody else');
      await assert.rejects(store.begin(key, 'token', 50_000), /something else/);
    });

    it('is shared by the consumers of a group and not by other groups', async () => {
      const bus = world.bus();
      const stream = uniqueKey();
      const runs: string[] = [];
      let acknowledged = 0;
      for (const name of [group, 'others']) {
        const options = quickOptions({ group: name, use: [idempotent(bus.idempotencyStore())] });
        const consumer = bus.consume(stream, options, ({ id }) => runs.push(`${name} ${id}`));
        consumer.on('acknowledged', ({ ids }) => (acknowledged += ids.length));
        await consumer.start();
      }
      const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
      await eventually(() => acknowledged === 2);
      await world.redis.xadd(stream, '*', 'n', '0', 'dl.id', id, 'dl.replays', '1');
      await eventually(() => acknowledged === 4);
      assert.deepEqual(runs.sort(), [`${group} ${id}`, `others ${id}`].sort());
      assert.deepEqual(
        (await world.redis.keys(`${stream}:*`)).sort(),
        [group, 'others'].map((name) => `${stream}:idempotency:${name}:${id}`).sort(),
      );
    });
  });

  it('runs a handler once also while another one works on the same message, and waits for its lease', async () => {
    const bus = world.bus();
    const stream = uniqueKey();
    const hold = gate();
    const runs: string[] = [];
    const consumer = bus.consume(
      stream,
      quickOptions({
        use: [idempotent(bus.idempotencyStore(), { keyOf: ({ fields }) => fields.n ?? '', leaseMs: 30_000 })],
      }),
      async ({ fields }) => {
        runs.push(fields.n ?? '');
        await hold.opened;
      },
    );
    const retries = collect(consumer, 'retry-scheduled');
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await world.redis.xadd(stream, '*', 'n', 'same');
    await world.redis.xadd(stream, '*', 'n', 'same');
    await eventually(() => retries.length === 1 && runs.length === 1);
    const [{ delayMs } = assert.fail()] = retries;
    assert.ok(delayMs > 0 && delayMs <= 30_000, String(delayMs));
    hold.open();
    await eventually(() => acknowledged.length === 1);
  });

  it('acknowledges what was handled although it could not be marked, and keeps the error of a handler, telling both', async () => {
    const bus = world.bus();
    const stream = uniqueKey();
    const lines: [string, unknown][] = [];
    const note = (text: string, details?: unknown): void => void lines.push([text, details]);
    const log: HandlerLog = { info: note, warn: note, error: note };
    const broken = Object.assign(new Error('secret'), { name: 'StoreError' });
    const store: IdempotencyStore = {
      begin: () => Promise.resolve({ state: 'fresh' }),
      complete: () => Promise.reject(broken),
      abandon: () => Promise.reject(broken),
    };
    const consumer = bus.consume(
      stream,
      quickOptions({ log, use: [idempotent(store)], retry: { maxDeliveries: 1 } }),
      ({ fields }) => {
        if (fields.n === '1') throw new Error('the handler');
      },
    );
    const acknowledged = collect(consumer, 'acknowledged');
    const failed = collect(consumer, 'handler-failed');
    await consumer.start();
    await addNumbered(world.redis, stream, 2);
    await eventually(() => acknowledged.length === 1 && failed.length === 1);
    assert.match(String(failed[0]?.error), /the handler/);
    assert.deepEqual(lines.map(([text]) => text).sort(), [
      'A handled message could not be marked as done',
      'A lease could not be given back; the retry waits until it is over',
    ]);
    assert.ok(JSON.stringify(lines).includes('"error_kind":"StoreError"') && !JSON.stringify(lines).includes('secret'));
  });

  it('is checked where it is given', () => {
    assert.throws(() => idempotent({} as IdempotencyStore), ConfigError);
    assert.throws(() => idempotent(inMemory, { leaseMs: 0 }), ConfigError);
    assert.throws(() => idempotent(inMemory, { ttl: 5 } as never), ConfigError);
    assert.throws(() => memoryIdempotencyStore({ maxKeys: 0 }), ConfigError);
  });

  it('forgets the oldest keys in memory when there are too many', async () => {
    const store = memoryIdempotencyStore({ clock: manualClock(), maxKeys: 2 });
    for (const key of ['a', 'b', 'c']) await store.begin(key, 'token', 1000);
    const states = [];
    for (const key of ['c', 'b', 'a']) states.push((await store.begin(key, 'other', 1000)).state);
    assert.deepEqual(states, ['busy', 'busy', 'fresh']);
  });
});
