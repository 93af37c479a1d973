/** What a handler throws may be anything, and what a user's own functions do with it too: the message comes to its end all the same. */
import assert from 'node:assert/strict';
import { otel } from '../../src/bus';
import type { ConsumerOptions } from '../../src/bus';
import { prometheusMetrics } from '../../src/worker/telemetry/prometheusMetrics';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

const trap = (): never => {
  throw new Error('a trap');
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const thrown: Readonly<Record<string, unknown>> = {
  null: null,
  undefined,
  'a symbol': Symbol('x'),
  'a bigint': 1n,
  'a frozen error': Object.freeze(new Error('frozen')),
  'an object without a prototype': Object.create(null) as object,
  'a function whose text cannot be had': Object.assign(() => undefined, { toString: trap }),
  'an object whose name cannot be read': Object.defineProperty({}, 'name', { get: trap }),
  'an error whose message cannot be read': Object.defineProperty(new Error('x'), 'message', { get: trap }),
  'an error whose stack cannot be read': Object.defineProperty(new Error('x'), 'stack', { get: trap }),
  'an error whose stack is a list': Object.assign(new Error('x'), { stack: ['a', 'b'] }),
  'a RetryLater whose delay cannot be read': Object.defineProperty({ name: 'RetryLater' }, 'delayMs', { get: trap }),
  'a proxy that answers nothing': new Proxy(new Error('x'), { get: trap, getPrototypeOf: trap, has: trap }),
  'a revoked proxy': revoked.proxy,
};

describe('a handler that throws whatever it likes', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  /** Handles one message until it is a dead letter, with everything on that looks at errors. */
  async function untilDead(
    handler: () => unknown,
    options: Partial<ConsumerOptions> = {},
  ): Promise<{ readonly errorType: string; readonly errorMessage: string; readonly deliveries: number }> {
    const stream = uniqueKey();
    const bus = world.bus({ telemetry: otel({ metrics: prometheusMetrics() }) });
    const retry = { maxDeliveries: 2, backoff: () => 5, ...options.retry };
    const consumer = bus.consume(stream, quickOptions({ journal: true, ...options, retry }), handler);
    const dead = collect(consumer, 'dead-lettered');
    const handled = collect(consumer, 'handled');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    const [letter] = await eventually(() => dead.length > 0 && dead);
    assert.ok(letter);
    assert.equal(handled.length, 2, 'each delivery is told');
    assert.deepEqual(await pendingRows(world.redis, stream), []);
    const { inFlight, unsettled } = consumer.health();
    assert.deepEqual({ inFlight, unsettled }, { inFlight: 0, unsettled: 0 });
    await consumer.close();
    return letter;
  }

  for (const [what, value] of Object.entries(thrown)) {
    it(`retries and dead-letters a message for which ${what} is thrown, or is what a promise rejects with`, async () => {
      for (const handler of [
        () => {
          throw value;
        },
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- this is what users' code does
        () => Promise.reject(value),
      ]) {
        const { deliveries } = await untilDead(handler);
        assert.equal(deliveries, 2);
      }
    });
  }

  it('keeps nothing of an error that the redactor of a consumer cannot redact, and moves the message', async () => {
    const fail = (): never => {
      throw new RangeError('hunter2');
    };
    for (const redact of [trap, () => undefined as unknown as string]) {
      const { errorType, errorMessage } = await untilDead(fail, { redact });
      assert.equal(errorType, 'Error');
      assert.match(errorMessage, /^Not recorded: /);
    }
  });

  it('waits as long as by default when a backoff throws or answers no time', async () => {
    const fail = (): never => {
      throw new Error('as told');
    };
    for (const backoff of [trap, () => NaN, () => -1, () => 'soon' as unknown as number]) {
      const { deliveries } = await untilDead(fail, { retry: { maxDeliveries: 2, backoff } });
      assert.equal(deliveries, 2);
    }
  });
});
