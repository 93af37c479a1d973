/** An OpenTelemetry SDK whose parts throw: spans are missing then, and never a message. */
import assert from 'node:assert/strict';
import { propagation, trace } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { otel } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { collect, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

const breaks = (): never => {
  throw new Error('the SDK is broken');
};
const fine = {
  onStart: (): void => undefined,
  onEnd: (): void => undefined,
  forceFlush: (): Promise<void> => Promise.resolve(),
  shutdown: (): Promise<void> => Promise.resolve(),
};

describe('An OpenTelemetry SDK that is broken', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(async () => {
    trace.disable();
    propagation.disable();
    await world.closeBuses();
  });
  after(() => world.stop());

  for (const [what, processor, propagator] of [
    ['a span processor that throws when a span begins', { ...fine, onStart: breaks }, undefined],
    ['a span processor that throws when a span ends', { ...fine, onEnd: breaks }, undefined],
    ['a propagator that throws', fine, { inject: breaks, extract: breaks, fields: () => [] }],
  ] as const) {
    it(`changes nothing for a message, having ${what}`, async () => {
      trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
      if (propagator) propagation.setGlobalPropagator(propagator);
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel({ metrics: false }) });
      const consumer = bus.consume(stream, quickOptions({ retry: { maxDeliveries: 1 } }), () => undefined);
      const acknowledged = collect(consumer, 'acknowledged');
      const dead = collect(consumer, 'dead-lettered');
      await consumer.start();
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      await world.redis.xadd(stream, '*', 'n', '1', 'traceparent', traceparent);
      await eventually(() => acknowledged.length === 1 || dead.length > 0);
      await bus.publish(stream, { body: { n: '2' } });
      await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 2 || dead.length > 0);
      assert.deepEqual(dead, []);
      assert.equal(consumer.health().status, 'running');
      await consumer.close();
      assert.deepEqual(await pendingRows(world.redis, stream), []);
    });
  }
});
