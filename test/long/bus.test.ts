/** The bus for long: a million messages, a handler that blocks its thread for a minute, two hundred workers killed at random. */
import assert from 'node:assert/strict';
import v8 from 'node:v8';
import vm from 'node:vm';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, gate, group, pendingRows, quickOptions, startBusWorld } from '../bus/support/busWorld';
import type { BusWorld } from '../bus/support/busWorld';
import { killCrashWorkers, startCrashWorker } from '../bus/support/crash';

describe('the bus, for long', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(async () => {
    await killCrashWorkers();
    await world.closeBuses();
  });
  after(() => world.stop());

  it('handles a million messages in memory that stays as it was (I14)', async () => {
    const stream = uniqueKey();
    const total = 1_000_000;
    let handled = 0;
    const consumer = world
      .bus()
      .consume(stream, quickOptions({ concurrency: 50, prefetch: 100 }), async ({ fields }) => {
        await Promise.resolve();
        handled += 1;
        if (Number(fields.n) % 1000 === 0) throw new Error('now and then');
      });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const heap: number[] = [];
    const step = 20_000;
    for (let from = 0; from < total; from += step) {
      for (let part = 0; part < step; part += 1000) await addNumbered(world.redis, stream, 1000, from + part);
      await eventually(() => handled >= from + step, { timeoutMs: 120_000 });
      await eventually(() => dead.length === (from + step) / 1000, { timeoutMs: 60_000 });
      await world.redis.xtrim(stream, 'MAXLEN', 0);
      heap.push(liveHeap());
    }
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const early = mean(heap.slice(5, 15));
    const late = mean(heap.slice(-10));
    assert.ok(late < early * 1.05, `live heap went from ${Math.round(early / 1e3)} KB to ${Math.round(late / 1e3)} KB`);
  });

  it('keeps its message while its handler blocks the thread for a minute', async () => {
    const stream = uniqueKey();
    const options = quickOptions({ ownership: { minIdleMs: 3000, heartbeatMs: 500, thread: true } });
    let runs = 0;
    const rivalIsUp = gate();
    const consumer = world.bus().consume(stream, options, async () => {
      await rivalIsUp.opened;
      runs += 1;
      const end = performance.now() + 60_000;
      while (performance.now() < end);
    });
    const lost = collect(consumer, 'ownership-lost');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 1);
    // The rival looks for idle entries all the time that this thread is blocked.
    await startCrashWorker({ url: world.server.url, stream, minIdleMs: 3000 });
    rivalIsUp.open();
    await eventually(async () => runs === 1 && (await pendingRows(world.redis, stream)).length === 0, {
      timeoutMs: 90_000,
    });
    assert.deepEqual(lost, []);
    assert.deepEqual(await world.redis.lrange('effects', 0, -1), [], 'the rival did not get it');
  });

  it('loses nothing to two hundred workers that are killed at random, and settles every entry once', async () => {
    for (let round = 0; round < 200; round += 1) {
      const stream = uniqueKey();
      await world.redis.del('effects');
      await world.redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
      const proxy = await startFaultProxy(world.server.port);
      try {
        const pipeline = world.redis.pipeline();
        for (let n = 0; n < 40; n += 1)
          pipeline.xadd(stream, '*', 'n', String(n), 'fail', n % 5 === 0 ? 'always' : 'no');
        await pipeline.exec();
        let commands = Math.floor(Math.random() * 60);
        const hit = proxy.next(() => commands-- <= 0, Math.random() < 0.5 ? 'cut-before-forwarding' : 'hold-reply');
        const victim = await startCrashWorker({ url: proxy.url, stream });
        await Promise.race([hit.fired, new Promise((resolve) => setTimeout(resolve, 500))]);
        await victim.kill();
        hit.release();
        const survivor = world
          .bus()
          .consume(
            stream,
            quickOptions({ ownership: { minIdleMs: 600, heartbeatMs: 100 }, reclaim: { intervalMs: 50 } }),
            async ({ fields }) => {
              await world.redis.rpush('effects', JSON.stringify({ n: fields.n }));
              if (fields.fail === 'always') throw new Error('dies');
            },
          );
        await survivor.start();
        await eventually(async () => {
          const [info] = (await world.redis.xinfo('GROUPS', stream)) as (string | number)[][];
          const [last] = await world.redis.xrevrange(stream, '+', '-', 'COUNT', 1);
          const isRead = info?.[info.indexOf('last-delivered-id') + 1] === last?.[0];
          return isRead && (await pendingRows(world.redis, stream)).length === 0;
        });
        await survivor.close();
        const dead = (await world.redis.xrange(`${stream}:dlq`, '-', '+')).map(([, fields]) => Number(fields[1]));
        assert.deepEqual(
          dead.toSorted((a, b) => a - b),
          [0, 5, 10, 15, 20, 25, 30, 35],
          `round ${round}: each of them is dead once`,
        );
        const done = new Set(
          (await world.redis.lrange('effects', 0, -1)).map((text) => (JSON.parse(text) as { n: string }).n),
        );
        for (let n = 0; n < 40; n += 1)
          if (n % 5 !== 0) assert.ok(done.has(String(n)), `round ${round}: ${n} had its effect`);
      } finally {
        await proxy.stop();
      }
    }
  });
});

/** The heap that is in use after a full collection. */
function liveHeap(): number {
  v8.setFlagsFromString('--expose-gc');
  const collectGarbage = vm.runInNewContext('gc') as () => void;
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
