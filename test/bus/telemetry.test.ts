/** Spans and metrics of the bus through a real OpenTelemetry SDK that keeps them in memory, on a real server. */
import assert from 'node:assert/strict';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { json, otel, Reject, topic } from '../../src/bus';
import type { Bus, Consumer, ConsumerOptions, Handlers } from '../../src/bus';
import { eventually } from '../support/eventually';
import { isBefore7 } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, age, collect, gate, group, quickOptions, readAs, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { startOtelWorld } from './support/otelWorld';
import type { OtelWorld } from './support/otelWorld';

describe('Telemetry by OpenTelemetry', () => {
  let world: BusWorld;

  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  async function consume(
    bus: Bus,
    stream: string,
    handlers: Handlers,
    options: Partial<ConsumerOptions> = {},
  ): Promise<Consumer> {
    const consumer = bus.consume(stream, quickOptions({ name: 'ana', ...options }), handlers);
    await consumer.start();
    return consumer;
  }

  it('does nothing without an SDK: no field is added, and messages are handled', async () => {
    const stream = uniqueKey();
    const bus = world.bus({ telemetry: otel() });
    const { id } = await bus.publish(stream, { body: { n: '1' } });
    const consumer = await consume(bus, stream, () => undefined);
    const acknowledged = collect(consumer, 'acknowledged');
    await eventually(() => acknowledged.length > 0);
    assert.deepEqual(await world.redis.xrange(stream, id, id), [[id, ['n', '1']]]);
  });

  it('finds an SDK that is registered later, for spans', async () => {
    const stream = uniqueKey();
    const bus = world.bus({ telemetry: otel() });
    await bus.publish(stream, { body: { n: '1' } });
    const sdk = startOtelWorld();
    try {
      await eventually(
        async () => {
          await bus.publish(stream, { body: { n: '1' } });
          return sdk.spans().some(({ name }) => name === `publish ${stream}`);
        },
        { intervalMs: 100 },
      );
    } finally {
      await sdk.stop();
    }
  });

  describe('with an SDK, spans', () => {
    let sdk: OtelWorld;
    before(() => {
      sdk = startOtelWorld();
    });
    beforeEach(() => {
      sdk.reset();
    });
    after(() => sdk.stop());

    it('tell publishing, and carry its context to the handler, whose span links to it', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      const { id } = await bus.publish(stream, { body: { n: '1' } });
      const [, fields] = (await world.redis.xrange(stream, id, id))[0] ?? [];
      const [published] = await sdk.ended(`publish ${stream}`);
      assert.ok(published);
      const { traceId, spanId } = published.spanContext();
      assert.deepEqual(fields, ['n', '1', 'traceparent', `00-${traceId}-${spanId}-01`]);
      assert.equal(published.kind, SpanKind.PRODUCER);
      assert.deepEqual(published.attributes, {
        'messaging.system.name': 'redis',
        'messaging.system': 'redis',
        'server.address': world.server.host,
        'server.port': world.server.port,
        'messaging.operation.name': 'publish',
        'messaging.operation.type': 'send',
        'messaging.destination.name': stream,
        'messaging.message.id': id,
      });
      await consume(bus, stream, () => undefined);
      const [processed] = await sdk.ended(`process ${stream}`);
      assert.ok(processed);
      assert.equal(processed.kind, SpanKind.CONSUMER);
      assert.equal(processed.parentSpanContext, undefined, 'a trace of its own');
      assert.notEqual(processed.spanContext().traceId, traceId);
      assert.deepEqual(
        processed.links.map((link) => [link.context.traceId, link.context.spanId]),
        [[traceId, spanId]],
      );
      assert.deepEqual(processed.attributes, {
        'messaging.system.name': 'redis',
        'messaging.system': 'redis',
        'server.address': world.server.host,
        'server.port': world.server.port,
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': stream,
        'messaging.consumer.group.name': group,
        'messaging.client.id': 'ana',
        'messaging.message.id': id,
        'messaging.redis.delivery_count': 1,
        'messaging.redis.outcome': 'completed',
      });
      assert.equal(processed.status.code, SpanStatusCode.UNSET);
    });

    it('of handlers are children of publishing when that is asked for', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel({ traceMode: 'parent' }) });
      await bus.publish(stream, { body: { n: '1' } });
      await consume(bus, stream, () => undefined);
      const [published] = await sdk.ended(`publish ${stream}`);
      const [processed] = await sdk.ended(`process ${stream}`);
      assert.equal(processed?.spanContext().traceId, published?.spanContext().traceId);
      assert.equal(processed?.parentSpanContext?.spanId, published?.spanContext().spanId);
      assert.deepEqual(processed?.links, []);
    });

    it('of handlers are what the handler runs in: what it publishes is a child, and baggage has come along', async () => {
      const stream = uniqueKey();
      const replies = `${stream}:replies`;
      const bus = world.bus({ telemetry: otel() });
      const tenants: (string | undefined)[] = [];
      const baggage = propagation.createBaggage({ tenant: { value: 'blue' } });
      await context.with(propagation.setBaggage(context.active(), baggage), () =>
        bus.publish(stream, { body: { n: '1' } }),
      );
      await consume(bus, stream, async () => {
        await Promise.resolve();
        tenants.push(propagation.getActiveBaggage()?.getEntry('tenant')?.value);
        trace.getActiveSpan()?.setAttribute('own', 'yes');
        await bus.publish(replies, { body: { n: '2' } });
      });
      const [processed] = await sdk.ended(`process ${stream}`);
      const [reply] = await sdk.ended(`publish ${replies}`);
      assert.deepEqual(tenants, ['blue']);
      assert.ok(processed && reply);
      assert.equal(processed.attributes.own, 'yes');
      assert.equal(reply.parentSpanContext?.spanId, processed.spanContext().spanId);
    });

    it('keep a context that the publisher gave the message itself', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      await bus.publish(stream, { body: { n: '1' }, headers: { traceparent } });
      await consume(bus, stream, () => undefined);
      const [processed] = await sdk.ended(`process ${stream}`);
      assert.equal(processed?.links[0]?.context.spanId, 'b7ad6b7169203331');
    });

    it('tell the key only when that is asked for, and the type only when it is known', async () => {
      const events = topic(uniqueKey(), { retention: 'none', codec: json() });
      for (const messageKeys of [false, true]) {
        sdk.reset();
        const bus = world.bus({ telemetry: otel({ messageKeys }) });
        for (const type of ['known', 'made-up']) await bus.publish(events, { type, key: 'customer-7', body: {} });
        const consumer = bus.consume(events, quickOptions({ group: `g-${messageKeys}`, unroutable: 'acknowledge' }), {
          known: () => undefined,
        });
        await consumer.start();
        const [processed] = await sdk.ended(`process ${events.name}`);
        const published = await sdk.ended(`publish ${events.name}`, 2);
        const key = messageKeys ? 'customer-7' : undefined;
        assert.equal(processed?.attributes['messaging.message.conversation_id'], key);
        assert.equal(processed?.attributes['messaging.redis.message.type'], 'known');
        await consumer.close();
        for (const span of published) {
          assert.equal(span.attributes['messaging.message.conversation_id'], key);
          assert.equal(span.attributes['messaging.redis.message.type'], '_other', 'the topic names no types');
        }
      }
    });

    it('are begun for what is handed over, not for what is read ahead', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      await addNumbered(world.redis, stream, 5);
      const held = gate();
      const consumer = await consume(bus, stream, () => held.opened, { concurrency: 1, prefetch: 10 });
      await eventually(() => consumer.health().queued === 4);
      assert.equal(sdk.begun(`process ${stream}`), 1);
      held.open();
      await sdk.ended(`process ${stream}`, 5);
    });

    it('tell settling: one message as a child of its handler, several by links', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      const held = gate();
      await addNumbered(world.redis, stream, 3);
      await consume(bus, stream, () => held.opened);
      await eventually(() => sdk.begun(`process ${stream}`) === 3);
      held.open();
      const processed = await sdk.ended(`process ${stream}`, 3);
      const [several] = await sdk.ended(`ack ${stream}`);
      assert.equal(several?.kind, SpanKind.CLIENT);
      assert.equal(several.attributes['messaging.operation.type'], 'settle');
      assert.equal(several.attributes['messaging.batch.message_count'], 3);
      assert.equal(several.parentSpanContext, undefined);
      assert.deepEqual(
        several.links.map((link) => link.context.spanId).toSorted(),
        processed.map((span) => span.spanContext().spanId).toSorted(),
      );
      sdk.reset();
      const [id] = await addNumbered(world.redis, stream, 1);
      const [one] = await sdk.ended(`ack ${stream}`);
      const [handled] = await sdk.ended(`process ${stream}`);
      assert.equal(one?.parentSpanContext?.spanId, handled?.spanContext().spanId);
      assert.equal(one?.attributes['messaging.message.id'], id);
      assert.equal(one?.attributes['messaging.batch.message_count'], undefined);
    });

    it('tell failures by their kind alone, retries and dead letters', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      const secret = 'payload-in-a-message';
      await addNumbered(world.redis, stream, 1);
      await consume(
        bus,
        stream,
        () => {
          throw new RangeError(secret);
        },
        { retry: { maxDeliveries: 2, backoff: () => 5 } },
      );
      const processed = await sdk.ended(`process ${stream}`, 2);
      const [retried] = await sdk.ended(`nack ${stream}`);
      const [dead] = await sdk.ended(`dead-letter ${stream}`);
      for (const span of processed) {
        assert.equal(span.attributes['error.type'], 'RangeError');
        assert.equal(span.attributes['messaging.redis.outcome'], 'failed');
        assert.deepEqual(span.status, { code: SpanStatusCode.ERROR });
        assert.deepEqual(span.events, [], 'no exception is recorded: its message and stack may quote payload');
      }
      assert.deepEqual(
        processed.map((span) => span.attributes['messaging.redis.delivery_count']),
        [1, 2],
      );
      assert.equal(retried?.parentSpanContext?.spanId, processed[0]?.spanContext().spanId);
      assert.equal(dead?.parentSpanContext?.spanId, processed[1]?.spanContext().spanId);
      assert.equal(dead?.attributes['messaging.redis.dead_letter.reason'], 'handler-error');
      const [taken] = await sdk.ended(`reclaim ${stream}`);
      assert.equal(taken?.attributes['messaging.operation.type'], 'receive');
      assert.ok(!JSON.stringify(sdk.spans().map(plain)).includes(secret));
    });

    it('tell taking over, and nothing of looks that found nothing', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      await addNumbered(world.redis, stream, 2);
      const ids = await readAs(world.redis, stream, 'dead', 2);
      await age(world.redis, stream, 'dead', ids);
      await consume(bus, stream, () => undefined);
      await sdk.ended(`process ${stream}`, 2);
      const looks = await sdk.ended(`reclaim ${stream}`);
      assert.equal(looks.length, 1);
      assert.equal(looks[0]?.kind, SpanKind.CLIENT);
      assert.equal(looks[0].attributes['messaging.batch.message_count'], 2);
      assert.deepEqual(
        (await sdk.ended(`process ${stream}`, 2)).map((span) => span.attributes['messaging.redis.delivery_count']),
        [2, 2],
      );
    });

    it('tell a publication that failed by the reason', async () => {
      const stream = uniqueKey();
      await world.redis.set(stream, 'no stream');
      const bus = world.bus({ telemetry: otel() });
      await assert.rejects(bus.publish(stream, { body: { n: '1' } }));
      const [published] = await sdk.ended(`publish ${stream}`);
      assert.ok(published);
      assert.equal(published.attributes['error.type'], 'refused');
      assert.equal(published.status.code, SpanStatusCode.ERROR);
    });

    it('of handlers that are given up end with the time that they had', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      const held = gate();
      await addNumbered(world.redis, stream, 1);
      await consume(bus, stream, () => held.opened, {
        handlerTimeoutMs: 20,
        abortGraceMs: 10,
        retry: { maxDeliveries: 1 },
      });
      const [processed] = await sdk.ended(`process ${stream}`);
      assert.ok(processed);
      assert.equal(processed.attributes['messaging.redis.outcome'], 'timed-out');
      assert.equal(processed.attributes['error.type'], 'HandlerTimeoutError');
      held.open();
    });
  });

  describe('with an SDK, metrics', () => {
    let sdk: OtelWorld;
    before(() => {
      sdk = startOtelWorld();
    });
    after(() => sdk.stop());

    it('count and time what the bus does, under names of the conventions and few attributes', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      for (const n of ['1', '2', '3']) await bus.publish(stream, { body: { n } });
      const consumer = await consume(
        bus,
        stream,
        ({ fields }) => {
          if (fields.n === '2') throw new Error('not this one');
          if (fields.n === '3') throw new Reject('never');
        },
        { retry: { maxDeliveries: 2, backoff: () => 5 } },
      );
      const dead = collect(consumer, 'dead-lettered');
      await eventually(() => dead.length === 2);
      await consumer.close();
      const found = await sdk.collect();
      const sums = (name: string, attribute?: string): Record<string, number> =>
        Object.fromEntries(
          (found.get(name) ?? [])
            .filter(({ attributes }) => attributes['messaging.destination.name'] === stream)
            .map(({ attributes, value }) => [String(attribute === undefined ? 'all' : attributes[attribute]), value]),
        );
      assert.deepEqual(sums('messaging.client.sent.messages', 'messaging.redis.outcome'), { ok: 3 });
      assert.deepEqual(sums('messaging.client.consumed.messages'), { all: 4 });
      assert.deepEqual(sums('messaging.process.duration', 'messaging.redis.outcome'), {
        completed: 1,
        failed: 2,
        rejected: 1,
      });
      assert.deepEqual(sums('messaging.process.duration', 'error.type'), { undefined: 1, failed: 2, rejected: 1 });
      const operations = sums('messaging.client.operation.duration', 'messaging.operation.name');
      assert.deepEqual(Object.keys(operations).toSorted(), [
        'ack',
        'dead-letter',
        'nack',
        'publish',
        'read',
        'reclaim',
      ]);
      assert.equal(operations.publish, 3);
      assert.deepEqual(sums('bus.deliveries.retried'), { all: 1 });
      assert.deepEqual(sums('bus.deliveries.redelivered'), { all: 1 });
      assert.deepEqual(sums('bus.deliveries.dead_lettered', 'messaging.redis.outcome'), {
        'handler-error': 1,
        rejected: 1,
      });
      assert.deepEqual(sums('bus.ownership.lost'), { all: 0 }, 'what did not happen yet is 0, not absent');
      const known = new Set([
        'messaging.system.name',
        'messaging.system',
        'server.address',
        'server.port',
        'messaging.destination.name',
        'messaging.consumer.group.name',
        'messaging.operation.name',
        'messaging.operation.type',
        'messaging.redis.message.type',
        'messaging.redis.outcome',
        'error.type',
      ]);
      for (const [name, series] of found)
        for (const { attributes } of series)
          for (const attribute of Object.keys(attributes)) assert.ok(known.has(attribute), `${name}: ${attribute}`);
    });

    it('of several buses of a process add up', async () => {
      const stream = uniqueKey();
      for (const bus of [world.bus({ telemetry: otel() }), world.bus({ telemetry: otel() })])
        await bus.publish(stream, { body: { n: '1' } });
      const sent = (await sdk.collect()).get('messaging.client.sent.messages');
      const own = sent?.filter(({ attributes }) => attributes['messaging.destination.name'] === stream);
      assert.deepEqual(
        own?.map(({ value }) => value),
        [2],
      );
    });

    it('have the conventions’ buckets and seconds', async () => {
      const raw = await sdk.collectRaw();
      const duration = raw.find(({ descriptor }) => descriptor.name === 'messaging.process.duration');
      assert.equal(duration?.descriptor.unit, 's');
      const value: unknown = duration.dataPoints[0]?.value;
      assert.ok(typeof value === 'object' && value !== null && 'buckets' in value);
      const { boundaries } = value.buckets as { boundaries: number[] };
      assert.deepEqual(boundaries, [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]);
    });

    it('measure the gauges when they are collected', async () => {
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: otel() });
      await addNumbered(world.redis, stream, 2);
      const left = await readAs(world.redis, stream, 'dead', 2);
      assert.equal(left.length, 2);
      await world.redis.xadd(`${stream}:dlq`, '*', 'n', '0');
      await addNumbered(world.redis, stream, 4);
      const held = gate();
      const consumer = await consume(bus, stream, () => held.opened, { concurrency: 1, prefetch: 1 });
      await eventually(() => consumer.health().queued === 1);
      const found = await sdk.collect();
      const value = (name: string): number | undefined =>
        found.get(name)?.find(({ attributes }) => attributes['messaging.destination.name'] === stream)?.value;
      assert.equal(value('bus.inflight'), 1);
      assert.equal(value('bus.group.pending'), 4);
      assert.equal(value('bus.group.lag'), isBefore7() ? undefined : 2);
      assert.equal(value('bus.dead.length'), 1);
      const idle = value('bus.consumer.idle');
      assert.ok(idle !== undefined && idle > 0 && idle < 60, String(idle));
      const oldest = value('bus.group.oldest_pending_age');
      assert.ok(oldest !== undefined && oldest >= 0 && oldest < 60, String(oldest));
      held.open();
      await consumer.close();
    });
  });
});

/** A span as an exporter would write it. */
function plain({ name, attributes, events, links, status, resource }: ReadableSpan): object {
  return { name, attributes, events, links, status, resource: resource.attributes };
}
