/** The consumer when links break, groups vanish, memory is full and servers die: nothing lost, nothing doubled that need not be. */
import assert from 'node:assert/strict';
import type { Consumer, ConsumerOptions } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import type { FaultProxy } from '../support/faultProxy';
import { startSentinel } from '../support/redisTopology';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, gate, group, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { isScriptCall } from './support/scriptCalls';

interface Runs {
  readonly consumer: Consumer;
  /** The delivery count of each run, by the entry's number. */
  readonly counts: Map<string, number[]>;
}

describe('a consumer behind a link that breaks', () => {
  let world: BusWorld;
  let proxy: FaultProxy;
  before(async () => {
    world = await startBusWorld();
    proxy = await startFaultProxy(world.server.port);
  });
  afterEach(async () => {
    await proxy.setMode('pass');
    await world.closeBuses();
  });
  after(async () => {
    await proxy.stop();
    await world.stop();
  });

  async function consume(
    stream: string,
    options: Partial<ConsumerOptions> = {},
    link: { socketTimeoutMs?: number; connectTimeoutMs?: number } = {},
  ): Promise<Runs> {
    const counts = new Map<string, number[]>();
    const bus = world.bus({ redis: { url: proxy.url, ...link } });
    const consumer = bus.consume(stream, quickOptions(options), ({ fields }, { deliveryCount }) => {
      counts.set(fields.n ?? '', [...(counts.get(fields.n ?? '') ?? []), deliveryCount]);
      if (fields.fail === deliveryCount.toString() || fields.fail === 'always') throw new Error('as told');
    });
    await consumer.start();
    return { consumer, counts };
  }

  const settled = (stream: string): Promise<true> =>
    eventually(async () => (await pendingRows(world.redis, stream)).length === 0);

  it('finds an entry whose delivery was lost with the link, and runs it once, its first delivery (I1)', async () => {
    for (const fault of ['swallow-reply', 'cut-mid-reply'] as const) {
      const stream = uniqueKey();
      const { consumer, counts } = await consume(stream);
      const reconnected = collect(consumer, 'reader-reconnected');
      const hit = proxy.next(isReadWithReply, fault);
      await eventually(async () => {
        await addNumbered(world.redis, stream, 1, counts.size);
        return hit.hasFired;
      });
      await eventually(() => reconnected.length === 1);
      await addNumbered(world.redis, stream, 1, 1000);
      await eventually(() => counts.has('1000'));
      await settled(stream);
      const total = await world.redis.xlen(stream);
      assert.deepEqual([...counts.values()].flat().length, total, 'each entry ran once');
      assert.ok([...counts.values()].flat().every((count) => count === 1));
      // It would be the next to read, and take the next fault.
      await consumer.close();
    }
  });

  it('loses nothing when its reader is killed on the server or told to stop blocking', async () => {
    const stream = uniqueKey();
    const { consumer, counts } = await consume(stream, { blockMs: 60_000 });
    const failures = collect(consumer, 'reader-failed');
    const blockedId = (): Promise<string> =>
      eventually(async () => {
        const line = String(await world.redis.client('LIST'))
          .split('\n')
          .find((client) => /flags=\S*b/.test(client));
        return /id=(\d+)/.exec(line ?? '')?.[1] ?? false;
      });
    await world.redis.client('UNBLOCK', Number(await blockedId()), 'ERROR');
    await eventually(() => failures.length === 1);
    await world.redis.client('KILL', 'ID', await blockedId());
    await eventually(() => failures.length === 2);
    await addNumbered(world.redis, stream, 3);
    await eventually(() => counts.size === 3);
    assert.equal(consumer.health().reconnects, 2);
    await settled(stream);
  });

  it('keeps acknowledging when the link breaks before and after the server heard of it (I1)', async () => {
    for (const fault of ['cut-before-forwarding', 'swallow-reply'] as const) {
      const stream = uniqueKey();
      const { consumer, counts } = await consume(stream);
      const elsewhere = collect(consumer, 'settled-elsewhere');
      const hit = proxy.next('XACK', fault);
      await addNumbered(world.redis, stream, 1);
      await hit.fired;
      await settled(stream);
      await addNumbered(world.redis, stream, 1, 1);
      await eventually(() => counts.size === 2);
      await settled(stream);
      assert.deepEqual([...counts.values()], [[1], [1]]);
      assert.deepEqual(elsewhere, [], 'its own lost acknowledgement is nobody else');
    }
  });

  it('dead-letters once when the link breaks before and after the server did it (I8)', async () => {
    for (const fault of ['cut-before-forwarding', 'swallow-reply'] as const) {
      const stream = uniqueKey();
      const { consumer } = await consume(stream, { retry: { maxDeliveries: 1 } });
      const dead = collect(consumer, 'dead-lettered');
      const hit = proxy.next(isScriptCall('deadLetter'), fault);
      const id = await world.redis.xadd(stream, '*', 'n', '0', 'fail', 'always');
      await hit.fired;
      await eventually(() => dead.length === 1);
      const [[deadId] = assert.fail()] = await world.redis.xrange(`${stream}:dlq`, '-', '+');
      assert.deepEqual(
        dead.map((event) => [event.id, event.deadId]),
        [[id, deadId]],
      );
      assert.equal(await world.redis.xlen(`${stream}:dlq`), 1);
      await settled(stream);
    }
  });

  it('schedules a retry once the link is back', async () => {
    for (const fault of ['cut-before-forwarding', 'swallow-reply'] as const) {
      const stream = uniqueKey();
      const { counts } = await consume(stream);
      const hit = proxy.next(isScriptCall('retryLater'), fault);
      await world.redis.xadd(stream, '*', 'n', '0', 'fail', '1');
      await hit.fired;
      await eventually(() => counts.get('0')?.length === 2);
      assert.deepEqual(counts.get('0'), [1, 2]);
      await settled(stream);
    }
  });

  it('reads again after the server was not to be reached (I10), and says so meanwhile', async () => {
    const stream = uniqueKey();
    const { consumer, counts } = await consume(stream);
    await proxy.setMode('refuse');
    await eventually(() => consumer.health().status === 'reconnecting');
    await addNumbered(world.redis, stream, 2);
    await proxy.setMode('pass');
    await eventually(() => counts.size === 2);
    assert.equal(consumer.health().status, 'running');
    await settled(stream);
  });

  it('notices a link that is silently dead', async () => {
    const stream = uniqueKey();
    const { consumer, counts } = await consume(
      stream,
      { blockMs: 100 },
      { socketTimeoutMs: 1500, connectTimeoutMs: 1500 },
    );
    const failures = collect(consumer, 'reader-failed');
    await proxy.setMode('black-hole');
    await eventually(() => consumer.health().lastProgressAgeMs > 200 || failures.length > 0);
    await proxy.setMode('pass');
    await addNumbered(world.redis, stream, 1);
    await eventually(() => counts.size === 1, { timeoutMs: 40_000 });
    assert.ok(failures.length > 0);
    await settled(stream);
  });

  it('loses nothing over a link that breaks at random, and settles every entry exactly once (I1, I2)', async () => {
    const stream = uniqueKey();
    const { consumer, counts } = await consume(stream, {
      concurrency: 5,
      retry: { maxDeliveries: 3, backoff: () => 10 },
    });
    const dead = collect(consumer, 'dead-lettered');
    const over = new AbortController();
    const breaking = (async () => {
      while (!over.signal.aborted) {
        proxy.cutAll(Math.random() < 0.5 ? 'end' : 'reset');
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 150));
      }
    })();
    const total = 600;
    for (let n = 0; n < total; n += 20) {
      const pipeline = world.redis.pipeline();
      for (let i = n; i < n + 20; i += 1)
        pipeline.xadd(stream, '*', 'n', String(i), 'fail', i % 10 === 0 ? 'always' : i % 10 === 1 ? '1' : 'no');
      await pipeline.exec();
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    over.abort();
    await breaking;
    await eventually(async () => counts.size === total && (await pendingRows(world.redis, stream)).length === 0, {
      timeoutMs: 40_000,
    });
    const entries = (await world.redis.xrange(`${stream}:dlq`, '-', '+')).map(([, fields]) => fields[1]);
    assert.deepEqual(
      entries.toSorted((a, b) => Number(a) - Number(b)),
      Array.from({ length: total / 10 }, (_, index) => String(index * 10)),
    );
    await eventually(() => dead.length === total / 10);
    for (const [n, runs] of counts) if (Number(n) % 10 === 0) assert.ok(runs.length <= 3, `${n} ran ${runs.join()}`);
  });
});

describe('a consumer whose group vanishes', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('makes it again after the last entry that it saw when only the group is gone', async () => {
    const stream = uniqueKey();
    const seen: string[] = [];
    const consumer = world.bus().consume(stream, quickOptions(), ({ fields }) => seen.push(fields.n ?? ''));
    const recreated = collect(consumer, 'group-recreated');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 2);
    await eventually(async () => seen.length === 2 && (await pendingRows(world.redis, stream)).length === 0);
    await world.redis.multi().xgroup('DESTROY', stream, group).xadd(stream, '*', 'n', '2').exec();
    await eventually(() => seen.length === 3);
    assert.deepEqual(seen, ['0', '1', '2']);
    assert.deepEqual(recreated, [{ start: ids[1] }]);
  });

  it('reads a new stream of the same name from its start, also when the group was to start at the end', async () => {
    for (const groupStart of ['0', '$']) {
      const stream = uniqueKey();
      const seen: string[] = [];
      const consumer = world
        .bus()
        .consume(stream, quickOptions({ groupStart }), ({ fields }) => seen.push(fields.n ?? ''));
      const recreated = collect(consumer, 'group-recreated');
      await consumer.start();
      await world.redis.xadd(stream, '9999999999999-0', 'n', '0');
      await eventually(() => seen.length === 1);
      await world.redis.multi().del(stream).xadd(stream, '1-1', 'n', '1').exec();
      await eventually(() => seen.length === 2);
      assert.deepEqual(recreated, [{ start: '0-0' }]);
    }
  });
});

describe('a consumer of a server that runs out of memory', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('keeps what it cannot dead-letter, handles the rest, and moves it when there is room', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const seen: string[] = [];
    const consumer = bus.consume(stream, quickOptions({ retry: { maxDeliveries: 1 } }), ({ fields }) => {
      seen.push(fields.n ?? '');
      if (fields.n === '0') throw new Error('dies');
    });
    const failures = collect(consumer, 'dead-letter-failed');
    const dead = collect(consumer, 'dead-lettered');
    consumer.pause();
    await consumer.start();
    await addNumbered(world.redis, stream, 3);
    await world.redis.config('SET', 'maxmemory', '1');
    consumer.resume();
    await eventually(() => failures.length > 0);
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 1);
    assert.deepEqual(seen.toSorted(), ['0', '1', '2']);
    await world.redis.config('SET', 'maxmemory', '0');
    await eventually(() => dead.length === 1);
    assert.equal(await bus.deadLetters(stream).count(), 1);
    assert.deepEqual(seen.length, 3, 'it was not run again');
  });

  it('keeps what it cannot dead-letter because something else has the key', async () => {
    const stream = uniqueKey();
    await world.redis.set(`${stream}:dlq`, 'mine');
    const consumer = world.bus().consume(stream, quickOptions({ retry: { maxDeliveries: 1 } }), () => {
      throw new Error('dies');
    });
    const failures = collect(consumer, 'dead-letter-failed');
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => failures.length > 0);
    assert.equal((await pendingRows(world.redis, stream)).length, 1);
    await world.redis.del(`${stream}:dlq`);
    await eventually(() => dead.length === 1);
  });

  it('moves an entry with more fields than a script can pass on', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions({ retry: { maxDeliveries: 1 } }), () => {
      throw new Error('dies');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const pairs = Array.from({ length: 5000 }, (_, n) => [`f${n}`, String(n)]).flat();
    await world.redis.xadd(stream, '*', ...pairs);
    await eventually(() => dead.length === 1);
    const [letter = assert.fail()] = await bus.deadLetters(stream).list();
    assert.deepEqual(letter.fields.map(String), pairs);
    assert.equal(letter.failure.reason, 'handler-error');
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
  });
});

describe('a consumer of a server that dies', () => {
  for (const aof of [true, false]) {
    it(`goes on when it is back, ${aof ? 'with its data' : 'without any'}`, async () => {
      const world = await startBusWorld({ aof });
      try {
        const stream = uniqueKey();
        const seen: string[] = [];
        const hold = gate();
        const consumer = world.bus().consume(stream, quickOptions(), async ({ fields }) => {
          seen.push(fields.n ?? '');
          if (fields.n === '1') await hold.opened;
        });
        const recreated = collect(consumer, 'group-recreated');
        await consumer.start();
        await addNumbered(world.redis, stream, 2);
        await eventually(() => seen.length === 2);
        await world.server.restart();
        hold.open();
        await eventually(() => consumer.health().status === 'running' && consumer.health().reconnects > 0);
        await eventually(() => addNumbered(world.redis, stream, 1, 2));
        await eventually(async () => seen.includes('2') && (await pendingRows(world.redis, stream)).length === 0);
        assert.equal(recreated.length, aof ? 0 : 1);
        assert.equal(seen.filter((n) => n === '1').length, 1, 'what it held was not run again');
      } finally {
        await world.stop();
      }
    });
  }

  it('follows its master when Sentinel fails it over', async function () {
    this.timeout(90_000);
    const sentinel = await startSentinel();
    const world = await startBusWorld();
    const bus = world.bus({ redis: sentinel.url });
    try {
      const seen: string[] = [];
      const consumer = bus.consume('orders', quickOptions(), ({ fields }) => seen.push(fields.n ?? ''));
      await consumer.start();
      await bus.publish('orders', { body: { n: '0' } }, { dedupeKey: '0' });
      await eventually(() => seen.includes('0'));
      await sentinel.failOver();
      await eventually(() => bus.publish('orders', { body: { n: '1' } }, { dedupeKey: '1', timeoutMs: 20_000 }), {
        timeoutMs: 30_000,
      });
      await eventually(() => seen.includes('1'), { timeoutMs: 40_000 });
      await consumer.close();
    } finally {
      await bus.close({ timeoutMs: 100 });
      await world.stop();
      await sentinel.stop();
    }
  });
});

/** Reads that were sent after the consumer found out where it stands; the first ones on a connection may answer nothing. */
function isReadWithReply(words: readonly Buffer[]): boolean {
  return String(words[0]).toUpperCase() === 'XREADGROUP';
}
