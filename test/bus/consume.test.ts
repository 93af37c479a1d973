/** The consumer on a real server: what the end of a handler means. Faults are in consumeFaults.test.ts, ownership in consumeOwnership.test.ts. */
import assert from 'node:assert/strict';
import { DecodeError, json, Reject, RetryLater, topic } from '../../src/bus';
import type { HandlerContext, Message } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, gate, group, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('a consumer', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('acknowledges an entry after its handler returned, and not before (I2)', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions(), async ({ fields }) => {
      if (fields.n === '1') await hold.opened;
    });
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 3);
    await eventually(() => acknowledged.flatMap((event) => event.ids).length === 2);
    assert.deepEqual(
      (await pendingRows(world.redis, stream)).map(({ id }) => id),
      [ids[1]],
    );
    hold.open();
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.deepEqual(acknowledged.flatMap((event) => event.ids).toSorted(), [...ids].toSorted(), 'each id once (I1)');
  });

  it('gives the handler the entry as it is: id, bytes, order, duplicates, and what the server knows of the delivery', async () => {
    const stream = uniqueKey();
    const seen: { message: Message; context: HandlerContext }[] = [];
    const consumer = world.bus().consume(stream, quickOptions({ name: 'me' }), (message, context) => {
      seen.push({ message, context });
    });
    await consumer.start();
    const bytes = Buffer.from([0xff, 0x00, 0x0a]);
    const id = await world.redis.xadd(stream, '*', 'a', '1', 'a', '2', bytes, bytes, '__proto__', 'x');
    await eventually(() => seen.length === 1);
    const [{ message, context } = assert.fail()] = seen;
    assert.equal(message.id, id);
    assert.equal(message.stream, stream);
    assert.deepEqual(message.rawFields.map(String), [
      'a',
      '1',
      'a',
      '2',
      String(bytes),
      String(bytes),
      '__proto__',
      'x',
    ]);
    assert.deepEqual(message.rawFields[4], bytes);
    assert.equal(message.fields.a, '2');
    assert.equal(Object.entries(message.fields).find(([name]) => name === '__proto__')?.[1], 'x');
    assert.equal(Object.getPrototypeOf(message.fields), null);
    assert.equal(context.group, group);
    assert.equal(context.consumer, 'me');
    assert.equal(context.deliveryCount, 1);
    assert.equal(context.redelivered, false);
    assert.equal(context.publishedAtMs, Number(String(id).split('-')[0]));
    assert.equal(context.signal.aborted, false);
  });

  it('hands a failed entry out again after its delay and not earlier (I7), counting deliveries', async () => {
    const stream = uniqueKey();
    const runs: { at: number; count: number }[] = [];
    const options = quickOptions({ retry: { maxDeliveries: 3, backoff: () => 150 } });
    const consumer = world.bus().consume(stream, options, (_message, { deliveryCount }) => {
      runs.push({ at: performance.now(), count: deliveryCount });
      if (deliveryCount < 3) throw new Error('not yet');
    });
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => runs.length === 3);
    assert.deepEqual(
      runs.map(({ count }) => count),
      [1, 2, 3],
    );
    for (const [index, { at }] of runs.entries())
      if (index > 0) assert.ok(at - (runs[index - 1]?.at ?? 0) >= 149, 'no retry before its delay');
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
  });

  it('dead-letters an entry that failed at its last delivery, all of it, with where it came from (I8)', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const consumer = bus.consume(
      stream,
      quickOptions({ name: 'me', retry: { maxDeliveries: 2, backoff: () => 5 } }),
      () => {
        throw new TypeError('cannot, see redis://user:secret@host/');
      },
    );
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const odd = Buffer.from([0xfe, 0x00]);
    const id = await world.redis.xadd(stream, '*', 'a', '1', 'a', '2', odd, odd);
    await eventually(() => dead.length === 1);
    const [letter = assert.fail()] = await bus.deadLetters(stream).list();
    assert.deepEqual(letter.fields, [Buffer.from('a'), Buffer.from('1'), Buffer.from('a'), Buffer.from('2'), odd, odd]);
    const { atMs, ...failure } = letter.failure;
    assert.deepEqual(failure, {
      id,
      entry: id,
      stream,
      group,
      consumer: 'me',
      reason: 'handler-error',
      errorType: 'TypeError',
      errorMessage: 'cannot, see redis://user:***@host/',
      deliveries: 2,
      replays: 0,
    });
    assert.ok(Math.abs(Number(letter.deadId.split('-')[0]) - (atMs ?? 0)) < 1000);
    assert.deepEqual(await pendingRows(world.redis, stream), []);
    const error = { errorType: 'TypeError', errorMessage: 'cannot, see redis://user:***@host/' };
    assert.deepEqual(dead, [{ id, deadId: letter.deadId, reason: 'handler-error', deliveries: 2, ...error }]);
  });

  it('dead-letters at once what a handler rejects, whoever made the error', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions(), ({ fields }) => {
      if (fields.n === '0') throw new Reject('never');
      throw Object.assign(new Error('never either'), { name: 'Reject' });
    });
    await consumer.start();
    await addNumbered(world.redis, stream, 2);
    await eventually(async () => (await bus.deadLetters(stream).count()) === 2);
    const letters = await bus.deadLetters(stream).list();
    assert.deepEqual(
      letters.map(({ failure }) => [failure.reason, failure.errorMessage, failure.deliveries]),
      [
        ['rejected', 'never', 1],
        ['rejected', 'never either', 1],
      ],
    );
  });

  it('retries when the handler says so, also beyond what the idle clock can count, and does not call that a failure', async () => {
    const stream = uniqueKey();
    const counts: number[] = [];
    const options = quickOptions({ ownership: { minIdleMs: 300, heartbeatMs: 100 }, retry: { maxDeliveries: 2 } });
    const consumer = world.bus().consume(stream, options, (_message, { deliveryCount }) => {
      counts.push(deliveryCount);
      if (deliveryCount === 1) throw new RetryLater(700);
    });
    const failed = collect(consumer, 'handler-failed');
    const scheduled = collect(consumer, 'retry-scheduled');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => counts.length === 2);
    assert.deepEqual(counts, [1, 2]);
    assert.deepEqual(failed, []);
    assert.deepEqual(
      scheduled.map(({ delayMs }) => delayMs),
      [700],
    );
  });

  it('sends what cannot be decoded, and what no handler is named for, to the dead letters and goes on', async () => {
    const bus = world.bus();
    const orders = topic(uniqueKey(), { retention: 'none', codec: json() });
    const bodies: unknown[] = [];
    const consumer = bus.consume(orders, quickOptions(), { created: ({ body }) => bodies.push(body) });
    await consumer.start();
    await world.redis.xadd(orders.name, '*', 'no', 'json');
    await bus.publish(orders, { type: 'unheard-of', body: 1 });
    await bus.publish(orders, { type: 'constructor', body: 2 });
    await bus.publish(orders, { type: 'created', body: { n: 3 } });
    await eventually(() => bodies.length === 1);
    await eventually(async () => (await bus.deadLetters(orders).count()) === 3);
    const letters = await bus.deadLetters(orders).list();
    assert.deepEqual(
      letters.map(({ failure }) => [failure.reason, failure.errorType]),
      [
        ['invalid', DecodeError.name],
        ['unroutable', DecodeError.name],
        ['unroutable', DecodeError.name],
      ],
    );
    assert.deepEqual(bodies, [{ n: 3 }]);
  });

  it('acknowledges what no handler is named for when told to', async () => {
    const bus = world.bus();
    const orders = topic(uniqueKey(), { retention: 'none', codec: json() });
    const consumer = bus.consume(orders, quickOptions({ unroutable: 'acknowledge' }), {});
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await bus.publish(orders, { type: 'unheard-of', body: 1 });
    await eventually(() => acknowledged.length === 1);
    assert.equal(await bus.deadLetters(orders).count(), 0);
  });

  it('aborts a handler whose time is up, waits out its grace, counts a failure and keeps its slot taken until it ends', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const reasons: unknown[] = [];
    const options = quickOptions({
      concurrency: 1,
      prefetch: 0,
      handlerTimeoutMs: 100,
      abortGraceMs: 50,
      retry: { maxDeliveries: 1 },
    });
    const bus = world.bus();
    const started: string[] = [];
    const consumer = bus.consume(stream, options, async ({ fields }, { signal }) => {
      started.push(fields.n ?? '');
      if (fields.n !== '0') return;
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      await hold.opened;
    });
    const dead = collect(consumer, 'dead-lettered');
    const late = collect(consumer, 'late-result');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 2);
    await eventually(() => dead.length === 1);
    assert.equal((reasons[0] as Error).name, 'HandlerTimeoutError');
    assert.deepEqual(
      dead.map(({ id, reason }) => [id, reason]),
      [[ids[0], 'timeout']],
    );
    assert.equal(consumer.health().stuck, 1);
    assert.deepEqual(started, ['0'], 'its slot is not given to the next');
    hold.open();
    await eventually(() => started.length === 2);
    assert.deepEqual(
      late.map(({ id }) => id),
      [ids[0]],
    );
    assert.equal(consumer.health().stuck, 0);
  });

  it('counts a handler as done that returns within its grace, and gives more time to one that asks', async () => {
    const stream = uniqueKey();
    const hold = gate();
    const options = quickOptions({ handlerTimeoutMs: 100, abortGraceMs: 10_000 });
    const consumer = world.bus().consume(stream, options, async ({ fields }, { signal, extend }) => {
      if (fields.n === '0') {
        extend(60_000);
        await hold.opened;
        assert.equal(signal.aborted, false);
      } else {
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
      }
    });
    const timeouts = collect(consumer, 'handler-timeout');
    const acknowledged = collect(consumer, 'acknowledged');
    const failed = collect(consumer, 'handler-failed');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 2);
    await eventually(() => acknowledged.flatMap((event) => event.ids).length === 1);
    hold.open();
    await eventually(() => acknowledged.flatMap((event) => event.ids).length === 2);
    assert.deepEqual(
      timeouts.map(({ id }) => id),
      [ids[1]],
    );
    assert.deepEqual(failed, []);
  });

  it('never runs more handlers than it may, never holds more than it may, and no id twice at once (I3, I4)', async () => {
    const stream = uniqueKey();
    const running = new Map<string, number>();
    let most = 0;
    let mostHeld = 0;
    let done = 0;
    const consumer = world
      .bus()
      .consume(stream, quickOptions({ concurrency: 4, prefetch: 3 }), async ({ id, fields }) => {
        running.set(id, (running.get(id) ?? 0) + 1);
        assert.equal(running.get(id), 1);
        most = Math.max(most, running.size);
        const { queued, inFlight } = consumer.health();
        mostHeld = Math.max(mostHeld, queued + inFlight);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
        running.delete(id);
        done += 1;
        if (Number(fields.n) % 7 === 0 && Math.random() < 0.5) throw new Error('now and then');
      });
    await consumer.start();
    await addNumbered(world.redis, stream, 400);
    await eventually(() => done >= 400);
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.equal(most, 4, 'all slots were used');
    assert.ok(mostHeld <= 7, `at most 7 held, was ${mostHeld}`);
  });

  it('handles entries of one key one after another in their order, and other keys meanwhile', async () => {
    const stream = uniqueKey();
    const seen: Record<string, number[]> = { a: [], b: [], c: [] };
    const active = new Set<string>();
    let together = 0;
    const options = quickOptions({ concurrency: 8, prefetch: 50, orderBy: ({ fields }) => fields.key });
    const consumer = world.bus().consume(stream, options, async ({ fields }) => {
      const key = fields.key ?? '';
      assert.ok(!active.has(key), 'one at a time for each key');
      active.add(key);
      together = Math.max(together, active.size);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      seen[key]?.push(Number(fields.n));
      active.delete(key);
    });
    await consumer.start();
    const pipeline = world.redis.pipeline();
    for (let n = 0; n < 90; n += 1) pipeline.xadd(stream, '*', 'key', 'abc'[n % 3] ?? '', 'n', String(n));
    await pipeline.exec();
    await eventually(() => Object.values(seen).flat().length === 90);
    for (const numbers of Object.values(seen))
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
    assert.equal(together, 3);
  });

  it('stops reading and starting while paused, and goes on when resumed', async () => {
    const stream = uniqueKey();
    const seen: string[] = [];
    const consumer = world.bus().consume(stream, quickOptions({ blockMs: 60_000 }), ({ fields }) => {
      seen.push(fields.n ?? '');
    });
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => seen.length === 1);
    consumer.pause();
    await eventually(() => consumer.health().status === 'paused');
    await eventually(async () => !/flags=\S*b/.test(String(await world.redis.client('LIST'))));
    await addNumbered(world.redis, stream, 1, 1);
    assert.equal((await pendingRows(world.redis, stream)).length, 0, 'nothing was read');
    consumer.resume();
    await eventually(() => seen.length === 2);
    assert.equal(consumer.health().status, 'running');
  });

  it('runs middleware around the handler, the first outermost', async () => {
    const stream = uniqueKey();
    const trace: string[] = [];
    const step =
      (name: string) =>
      async (_message: Message, _context: HandlerContext, next: () => Promise<void>): Promise<void> => {
        trace.push(`${name} before`);
        await next();
        trace.push(`${name} after`);
      };
    const consumer = world.bus().consume(stream, quickOptions({ use: [step('a'), step('b')] }), () => {
      trace.push('handler');
    });
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => trace.length === 5);
    assert.deepEqual(trace, ['a before', 'b before', 'handler', 'b after', 'a after']);
  });

  it('retries without end when there are no dead letters', async () => {
    const stream = uniqueKey();
    let runs = 0;
    const options = quickOptions({ deadLetters: false, retry: { backoff: () => 1 } });
    const consumer = world.bus().consume(stream, options, () => {
      runs += 1;
      throw new Error('always');
    });
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => runs > 5);
    assert.equal(await world.redis.exists(`${stream}:dlq`), 0);
  });

  it('deletes what it acknowledged when told to, once no other group needs it', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions({ acknowledged: 'delete' }), () => undefined);
    const acknowledged = collect(consumer, 'acknowledged');
    const elsewhere = collect(consumer, 'settled-elsewhere');
    await consumer.start();
    await world.redis.xgroup('CREATE', stream, 'slow', '0');
    await addNumbered(world.redis, stream, 2);
    await eventually(() => acknowledged.flatMap((event) => event.ids).length === 2);
    assert.equal(await world.redis.xlen(stream), 2, 'the other group has read none');
    const slow = bus.consume(stream, { ...quickOptions({ acknowledged: 'delete' }), group: 'slow' }, () => undefined);
    await slow.start();
    await eventually(async () => (await world.redis.xlen(stream)) === 0);
    assert.deepEqual(elsewhere, []);
  });
});
