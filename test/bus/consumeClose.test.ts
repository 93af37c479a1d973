/** Starting and closing: what close gives back, waits for, aborts and reports, and what it leaves behind (nothing). */
import assert from 'node:assert/strict';
import { BusError, ConfigError } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startCluster } from '../support/redisTopology';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, gate, group, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('closing a consumer', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('does not wait for a read that is blocked', async () => {
    const consumer = world.bus().consume(uniqueKey(), quickOptions({ blockMs: 60_000 }), () => undefined);
    await consumer.start();
    await eventually(async () => /flags=\S*b/.test(String(await world.redis.client('LIST'))));
    const report = await consumer.close();
    assert.equal(report.removed, true);
    assert.equal(consumer.health().status, 'closed');
  });

  it('gives back what it had only read, claimable at once and with its delivery not counted (I9)', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const consumer = world
      .bus()
      .consume(stream, quickOptions({ name: 'a', concurrency: 1, prefetch: 2 }), () => hold.opened);
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 3);
    await eventually(() => consumer.health().inFlight === 1 && consumer.health().queued === 2);
    const closing = consumer.close({ timeoutMs: 60_000 });
    await eventually(
      async () => (await pendingRows(world.redis, stream)).filter((row) => row.deliveries === 0).length === 2,
    );
    hold.open();
    const { durationMs, ...report } = await closing;
    assert.deepEqual(report, {
      completed: 1,
      aborted: 0,
      released: 2,
      acknowledged: 1,
      leftPending: [],
      stillRunning: [],
      removed: false,
    });
    assert.ok(durationMs >= 0);
    const rows = await pendingRows(world.redis, stream);
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids.slice(1),
    );
    assert.ok(rows.every(({ idleMs }) => idleMs >= 6000));
    const counts: number[] = [];
    const next = world
      .bus()
      .consume(stream, quickOptions(), (_message, { deliveryCount }) => counts.push(deliveryCount));
    await next.start();
    await eventually(() => counts.length === 2);
    assert.deepEqual(counts, [1, 1]);
  });

  it('aborts handlers when the time is up; one that gives up is given back, one that ignores it is named', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const consumer = world
      .bus()
      .consume(stream, quickOptions({ abortGraceMs: 200 }), async ({ fields }, { signal }) => {
        if (fields.n === '0') return hold.opened;
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('told to stop'));
          });
        });
        return undefined;
      });
    const failed = collect(consumer, 'handler-failed');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 2);
    await eventually(() => consumer.health().inFlight === 2);
    const report = await consumer.close({ timeoutMs: 10 });
    assert.equal(report.aborted, 2);
    assert.equal(report.completed, 1);
    assert.equal(report.released, 2);
    assert.deepEqual(report.stillRunning, [ids[0]]);
    assert.deepEqual(failed, [], 'a shutdown is no failure');
    assert.deepEqual(
      (await pendingRows(world.redis, stream)).map(({ deliveries }) => deliveries),
      [0, 0],
    );
    hold.open();
  });

  it('leaves no connection, no consumer and no timer, and reports the same to whoever asks again (I9)', async () => {
    const stream = uniqueKey();
    const clients = async (): Promise<number> =>
      String(await world.redis.client('LIST'))
        .trim()
        .split('\n').length;
    const before = await clients();
    const timersBefore = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const bus = world.bus();
    const consumer = bus.consume(
      stream,
      quickOptions({ ownership: { minIdleMs: 600, heartbeatMs: 100, thread: true } }),
      () => undefined,
    );
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => acknowledged.length === 1);
    const reports = await Promise.all([consumer.close(), consumer.close()]);
    assert.equal(reports[0], reports[1]);
    assert.equal(reports[0].removed, true);
    await bus.close();
    await eventually(async () => (await clients()) === before);
    assert.ok(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length <= timersBefore + 1);
    assert.deepEqual(await world.redis.xinfo('CONSUMERS', stream, group), []);
    await assert.rejects(consumer.start(), (error) => BusError.is(error, 'closed'));
  });

  it('closes while it waits for a server that is not there', async () => {
    const bus = world.bus({ redis: { url: 'redis://127.0.0.1:1' } });
    const consumer = bus.consume('nowhere', quickOptions(), () => undefined);
    const failures = collect(consumer, 'reader-failed');
    const started = assert.rejects(consumer.start(), (error) => BusError.is(error));
    await eventually(() => failures.length > 0);
    await consumer.close();
    await started;
  });
});

describe('starting a consumer', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('makes the stream and the group, from the start, or from where it is told', async () => {
    for (const [groupStart, expected] of [
      [undefined, ['0', '1', '2']],
      ['$', ['2']],
    ] as const) {
      const stream = uniqueKey();
      await addNumbered(world.redis, stream, 2);
      const seen: string[] = [];
      const start = groupStart === undefined ? {} : { groupStart };
      const consumer = world.bus().consume(stream, quickOptions(start), ({ fields }) => seen.push(fields.n ?? ''));
      await consumer.start();
      await addNumbered(world.redis, stream, 1, 2);
      await eventually(() => seen.length === expected.length);
      assert.deepEqual(seen, expected);
    }
  });

  it('stops for good, and says so, where no retry can help', async () => {
    const text = uniqueKey('text');
    await world.redis.set(text, 'no stream');
    const consumer = world.bus().consume(text, quickOptions(), () => undefined);
    const fatal = collect(consumer, 'fatal');
    await assert.rejects(consumer.start(), (error) => BusError.is(error, 'wrong-type'));
    assert.equal(fatal.length, 1);
    assert.equal(consumer.health().status, 'failed');
    const missing = world.bus().consume(uniqueKey(), quickOptions({ createGroup: false }), () => undefined);
    await assert.rejects(missing.start(), (error) => BusError.is(error, 'no-group'));
  });

  it('keeps dead letters in the slot of the stream on a cluster, and refuses names for which that cannot be', async function () {
    this.timeout(60_000);
    const cluster = await startCluster(3);
    const bus = world.bus({ redis: cluster.url });
    try {
      const consumer = bus.consume('orders', quickOptions({ retry: { maxDeliveries: 1 } }), () => {
        throw new Error('never');
      });
      const dead = collect(consumer, 'dead-lettered');
      await consumer.start();
      await bus.publish('orders', { body: { n: '1' } }, { dedupeKey: 'k' });
      await eventually(() => dead.length === 1);
      assert.equal(await bus.deadLetters('orders').target(), '{orders}:dlq');
      assert.equal(await bus.deadLetters('orders').count(), 1);
      const [replayed = assert.fail()] = await bus.deadLetters('orders').replay({ where: {} });
      assert.equal(replayed.status, 'replayed');
      const odd = bus.consume('a}b', quickOptions(), () => undefined);
      await assert.rejects(
        odd.start(),
        (error) => ConfigError.is(error, 'unsupported') && String(error).includes('deadLetters'),
      );
      await consumer.close();
    } finally {
      await bus.close({ timeoutMs: 100 });
      await cluster.stop();
    }
  });
});
