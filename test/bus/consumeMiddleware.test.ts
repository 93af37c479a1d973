/** The middleware that the bus brings along, around a consumer on a real server. */
import assert from 'node:assert/strict';
import { ConfigError, idempotent, memoryIdempotencyStore, rateLimit } from '../../src/bus';
import type { HandlerContext, IdempotencyStore, Message } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, group, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('middleware', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('runs the handler once for a message that is delivered again after it was handled, or replayed', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const store = memoryIdempotencyStore();
    let runs = 0;
    const consumer = bus.consume(stream, quickOptions({ use: [idempotent(store)] }), () => {
      runs += 1;
    });
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => acknowledged.length === 1);
    await world.redis.xgroup('SETID', stream, group, '0');
    await eventually(() => acknowledged.length === 2);
    await world.redis.xadd(stream, '*', 'n', '0', 'dl.id', id, 'dl.replays', '1');
    await eventually(() => acknowledged.length === 3);
    assert.equal(runs, 1);
  });

  it('forgets a handler that failed, and retries later what another is handling', async () => {
    const stream = uniqueKey();
    const inner = memoryIdempotencyStore();
    let begins = 0;
    const store: IdempotencyStore = {
      ...inner,
      begin: (key, token, leaseMs) => {
        begins += 1;
        return begins === 1 ? Promise.resolve({ state: 'busy', leaseLeftMs: 20 }) : inner.begin(key, token, leaseMs);
      },
    };
    const counts: number[] = [];
    const consumer = world
      .bus()
      .consume(stream, quickOptions({ use: [idempotent(store)] }), (_message, { deliveryCount }) => {
        counts.push(deliveryCount);
        if (counts.length === 1) throw new Error('once');
      });
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => counts.length === 2);
    assert.deepEqual(counts, [2, 3]);
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
  });

  it('lets handlers start at the rate that it is given, a burst first', async () => {
    let now = 0;
    const waits: number[] = [];
    const clock = {
      now: () => now,
      after: (delayMs: number, callback: () => void) => {
        waits.push(Math.round(delayMs));
        callback();
        return () => undefined;
      },
    };
    const limited = rateLimit({ perSecond: 10, burst: 3, clock });
    const context = { signal: new AbortController().signal } as HandlerContext;
    const run = (): Promise<void> => limited({} as Message, context, () => Promise.resolve());
    for (let count = 0; count < 5; count += 1) await run();
    assert.deepEqual(waits, [100, 200]);
    now = 10_000;
    for (let count = 0; count < 4; count += 1) await run();
    assert.deepEqual(waits, [100, 200, 100]);
    assert.throws(() => rateLimit({ perSecond: 0 }), ConfigError);
  });
});
