/** The events that a consumer tells of each delivery and each run, on a real server. */
import assert from 'node:assert/strict';
import { Reject, RetryLater } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('the delivered and handled events of a consumer', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('tells each delivery before its handler runs and each end of a handler with its outcome', async () => {
    const stream = uniqueKey();
    const failure = new TypeError('not yet');
    const order: string[] = [];
    const options = quickOptions({ concurrency: 1, retry: { maxDeliveries: 2, backoff: () => 5 } });
    const consumer = world.bus().consume(stream, options, ({ fields }, { deliveryCount }) => {
      order.push(`run ${String(fields.n)} ${deliveryCount}`);
      if (fields.n === '1' && deliveryCount === 1) throw failure;
      if (fields.n === '2' && deliveryCount === 1) throw new RetryLater(5);
      if (fields.n === '3') throw new Reject('never');
    });
    const delivered = collect(consumer, 'delivered');
    const handled = collect(consumer, 'handled');
    consumer.on('delivered', ({ id, deliveries }) => order.push(`delivered ${id} ${deliveries}`));
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, 4);
    await eventually(() => handled.length === 6);
    for (const [index, id] of ids.entries())
      assert.ok(order.indexOf(`delivered ${id} 1`) < order.indexOf(`run ${index} 1`), 'told before it runs');
    const outcomes = handled.map(({ id, deliveries, outcome }) => `${ids.indexOf(id)} ${deliveries} ${outcome}`);
    assert.deepEqual(outcomes.toSorted(), [
      '0 1 completed',
      '1 1 failed',
      '1 2 completed',
      '2 1 retry-later',
      '2 2 completed',
      '3 1 rejected',
    ]);
    assert.equal(handled.find(({ outcome }) => outcome === 'failed')?.error, failure);
    assert.ok(handled.every(({ durationMs }) => durationMs >= 0));
    const takenOver = delivered.filter(({ isTakenOver }) => isTakenOver).map(({ id }) => id);
    assert.deepEqual(takenOver.toSorted(), [ids[1], ids[2]].map(String).toSorted());
  });

  it('tells a handler that ran out of time as timed out, once, with how long it was given', async () => {
    const stream = uniqueKey();
    const options = quickOptions({ handlerTimeoutMs: 30, abortGraceMs: 10, retry: { maxDeliveries: 1 } });
    const consumer = world.bus().consume(stream, options, (_message, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('asked to stop'));
        });
      });
    });
    const handled = collect(consumer, 'handled');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => handled.length === 1);
    const [{ outcome, durationMs } = assert.fail()] = handled;
    assert.equal(outcome, 'timed-out');
    assert.ok(durationMs > 0);
  });
});
