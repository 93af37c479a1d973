/** Who owns an entry: heartbeats, reclaiming from consumers that died, losing an entry, poison that kills its process. */
import assert from 'node:assert/strict';
import { createBus } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import {
  addNumbered,
  age,
  collect,
  gate,
  group,
  pendingRows,
  quickOptions,
  readAs,
  startBusWorld,
} from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('ownership', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('takes over what a dead consumer left, all pages of it, and counts a delivery', async () => {
    const stream = uniqueKey();
    const ids = await addNumbered(world.redis, stream, 501);
    assert.equal((await readAs(world.redis, stream, 'dead', 501)).length, 501);
    // Only the last is idle for long enough: a reclaimer that does not follow its cursor never sees it.
    await age(world.redis, stream, 'dead', ids.slice(-1));
    const counts = new Map<string, number>();
    const consumer = world.bus().consume(stream, quickOptions({ concurrency: 50 }), ({ id }, { deliveryCount }) => {
      counts.set(id, deliveryCount);
    });
    await consumer.start();
    await eventually(() => counts.size === 1);
    assert.deepEqual([...counts], [[ids.at(-1), 2]]);
    await age(world.redis, stream, 'dead', ids.slice(0, -1));
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.equal(counts.size, 501);
    assert.ok([...counts.values()].every((count) => count === 2));
  });

  it('dead-letters what was delivered too often without running it, in the name of who let it die (I6)', async () => {
    const stream = uniqueKey();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await readAs(world.redis, stream, 'killed', 1);
    await world.redis.call('XCLAIM', stream, group, 'killed', '0', id, 'IDLE', '1000000', 'RETRYCOUNT', '3', 'JUSTID');
    const bus = world.bus();
    let runs = 0;
    const consumer = bus.consume(stream, quickOptions(), () => {
      runs += 1;
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    await eventually(() => dead.length === 1);
    const [letter = assert.fail()] = await bus.deadLetters(stream).list();
    assert.equal(letter.failure.reason, 'delivery-limit');
    assert.equal(letter.failure.consumer, 'killed');
    assert.equal(letter.failure.deliveries, 3);
    assert.equal(runs, 0);
  });

  it('reports what was trimmed while pending, and never hands it out', async () => {
    const stream = uniqueKey();
    const ids = await addNumbered(world.redis, stream, 3);
    await readAs(world.redis, stream, 'dead', 3);
    await age(world.redis, stream, 'dead', ids);
    await world.redis.xdel(stream, ids[1] ?? '');
    const seen: string[] = [];
    const consumer = world.bus().consume(stream, quickOptions(), ({ id }) => {
      seen.push(id);
    });
    const lost = collect(consumer, 'lost-to-trim');
    await consumer.start();
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.deepEqual(seen, [ids[0], ids[2]]);
    assert.deepEqual(lost, [{ ids: [ids[1]] }]);
  });

  it('keeps what it handles and what it has read ahead from others, for longer than they need to be idle (I5)', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const options = { ownership: { minIdleMs: 900, heartbeatMs: 100 }, reclaim: { intervalMs: 50 } };
    const runs = new Map<string, number>();
    const handler = async ({ id }: { id: string }): Promise<void> => {
      runs.set(id, (runs.get(id) ?? 0) + 1);
      await hold.opened;
    };
    const slow = world.bus().consume(stream, quickOptions({ ...options, concurrency: 1, prefetch: 2 }), handler);
    await slow.start();
    const ids = await addNumbered(world.redis, stream, 3);
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 3);
    const other = world.bus().consume(stream, quickOptions(options), handler);
    const reclaimed = collect(other, 'reclaimed');
    await other.start();
    const began = performance.now();
    await eventually(async () => {
      const idle = (await pendingRows(world.redis, stream)).map(({ idleMs }) => idleMs);
      assert.ok(Math.max(...idle) < 900, 'every entry was kept, the two that wait included');
      return performance.now() - began > 2000;
    });
    assert.deepEqual(reclaimed, []);
    hold.open();
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.deepEqual([...runs].toSorted(), ids.map((id) => [id, 1]).toSorted());
  });

  it('gives up an entry that somebody else took: the handler is aborted and its result changes nothing (I12)', async () => {
    for (const outcome of ['returns', 'throws'] as const) {
      const stream = uniqueKey();
      const hold = gate();
      const reasons: unknown[] = [];
      const options = quickOptions({ ownership: { minIdleMs: 6000, heartbeatMs: 50 }, retry: { maxDeliveries: 1 } });
      const bus = world.bus();
      const consumer = bus.consume(stream, options, async (_message, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        await hold.opened;
        if (outcome === 'throws') throw new Error('too late');
      });
      const lost = collect(consumer, 'ownership-lost');
      const late = collect(consumer, 'late-result');
      await consumer.start();
      const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
      await eventually(() => consumer.health().inFlight === 1);
      await world.redis.xclaim(stream, group, 'thief', 0, id);
      await eventually(() => lost.length === 1);
      assert.deepEqual(lost, [{ id, owner: 'thief' }]);
      assert.equal((reasons[0] as Error).name, 'OwnershipLostError');
      hold.open();
      await eventually(() => late.length === 1);
      await consumer.close();
      const [row = assert.fail()] = await pendingRows(world.redis, stream);
      assert.deepEqual([row.id, row.consumer, row.deliveries], [id, 'thief', 2]);
      assert.equal(await bus.deadLetters(stream).count(), 0);
    }
  });

  it('does not take back what was acknowledged behind its back, and does not call that its own success', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const consumer = world.bus().consume(stream, quickOptions(), () => hold.opened);
    const elsewhere = collect(consumer, 'settled-elsewhere');
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => consumer.health().inFlight === 1);
    await world.redis.xack(stream, group, id);
    hold.open();
    await eventually(() => elsewhere.length === 1);
    assert.deepEqual(elsewhere, [{ ids: [id], count: 1 }]);
  });

  it('lets a handler finish whose message is trimmed meanwhile', async () => {
    const stream = uniqueKey();
    const hold = gate();
    let finished = false;
    const options = quickOptions({ ownership: { minIdleMs: 6000, heartbeatMs: 50 } });
    const consumer = world.bus().consume(stream, options, async (_message, { signal }) => {
      await hold.opened;
      assert.equal(signal.aborted, false);
      finished = true;
    });
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => consumer.health().inFlight === 1);
    const readAt = performance.now();
    await world.redis.xdel(stream, id);
    // A beat later the server has dropped it or, before 7.0, the beat has kept it.
    await eventually(async () => {
      const [row] = await pendingRows(world.redis, stream);
      return row === undefined || row.idleMs + 100 < performance.now() - readAt;
    });
    hold.open();
    await eventually(async () => finished && (await pendingRows(world.redis, stream)).length === 0);
  });

  it('beats from its thread while the main thread is busy, as a timer cannot', async () => {
    const busyMs = 1500;
    const idleAfterBusy = async (thread: boolean): Promise<number> => {
      const stream = uniqueKey();
      const hold = gate();
      const options = quickOptions({ ownership: { minIdleMs: 30_000, heartbeatMs: 100, thread } });
      const consumer = world.bus().consume(stream, options, () => hold.opened);
      await consumer.start();
      await addNumbered(world.redis, stream, 1);
      await eventually(() => consumer.health().inFlight === 1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs);
      const [row = assert.fail()] = await pendingRows(world.redis, stream);
      hold.open();
      await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
      await consumer.close();
      return row.idleMs;
    };
    assert.ok((await idleAfterBusy(true)) < busyMs, 'kept while busy');
    assert.ok((await idleAfterBusy(false)) >= busyMs, 'a timer of the main thread cannot');
  });

  it('learns from its thread what it lost, and schedules retries that no beat of the thread undoes', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const counts: number[] = [];
    const options = quickOptions({
      ownership: { minIdleMs: 30_000, heartbeatMs: 20, thread: true },
      retry: { maxDeliveries: 30, backoff: () => 5 },
    });
    const consumer = world.bus().consume(stream, options, async ({ fields }, { deliveryCount }) => {
      if (fields.n === '0') await hold.opened;
      else if (counts.push(deliveryCount) < 25) throw new Error('again');
    });
    const lost = collect(consumer, 'ownership-lost');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 2);
    await eventually(() => counts.length === 25);
    assert.deepEqual(
      counts,
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
    await world.redis.xclaim(stream, group, 'thief', 0, ids[0] ?? '');
    await eventually(() => lost.length === 1);
    assert.deepEqual(lost, [{ id: ids[0], owner: 'thief' }]);
    hold.open();
  });

  it('finds at its start what a former life of its name left, and counts that as a delivery', async () => {
    const stream = uniqueKey();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await readAs(world.redis, stream, 'fixed', 1);
    const counts: number[] = [];
    const consumer = world.bus().consume(stream, quickOptions({ name: 'fixed' }), (_message, { deliveryCount }) => {
      counts.push(deliveryCount);
    });
    const reclaimed = collect(consumer, 'reclaimed');
    await consumer.start();
    await eventually(() => counts.length === 1);
    assert.deepEqual(counts, [2]);
    assert.deepEqual(reclaimed, [{ ids: [id] }]);
  });

  it('refuses a thread when it has only a port to work with', async () => {
    const bus = world.bus();
    const port = {
      add: () => undefined,
      run: () => undefined,
      openReader: () => undefined,
      close: async () => undefined,
    };
    const other = createBus({ port: port as never });
    assert.throws(
      () => other.consume('s', quickOptions({ ownership: { thread: true } }), () => undefined),
      /ownership\.thread: a thread needs a connection of its own/,
    );
    await other.close();
    await bus.close();
  });
});
