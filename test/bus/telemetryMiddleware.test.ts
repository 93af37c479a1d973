/** Telemetry as middleware of a consumer and of publishing, and that nothing that the bus tells holds a byte of a message (I13). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { json, logging, metrics, openTelemetry, otel, Reject, RetryLater, topic } from '../../src/bus';
import type { Consumer, ConsumerEventName } from '../../src/bus';
import { prometheusMetrics } from '../../src/worker/telemetry/prometheusMetrics';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { collect, group, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { startOtelWorld } from './support/otelWorld';
import type { OtelWorld } from './support/otelWorld';

/** A pino logger and the lines that it wrote. */
function pinoInMemory(): { readonly log: pino.Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  return { log: pino({ base: null, timestamp: false }, destination), lines };
}

describe('Telemetry as middleware', () => {
  let world: BusWorld;
  let sdk: OtelWorld;

  before(async () => {
    world = await startBusWorld();
    sdk = startOtelWorld();
  });
  afterEach(() => world.closeBuses());
  after(async () => {
    await sdk.stop();
    await world.stop();
  });

  it('logs every publication and every handler that ended, to any logger of pino’s shape', async () => {
    const events = topic(uniqueKey(), { retention: 'none', codec: json() });
    const { log, lines } = pinoInMemory();
    const around = logging(log, { types: ['placed'] });
    const bus = world.bus({ use: [around.publish] });
    const options = quickOptions({ name: 'ana', use: [around.consume], retry: { maxDeliveries: 2, backoff: () => 5 } });
    const consumer = bus.consume(events, options, ({ type }, { deliveryCount }) => {
      if (type !== 'placed') throw new Reject('an unknown type');
      if (deliveryCount === 1) throw new RetryLater(5);
    });
    const acknowledged = collect(consumer, 'acknowledged');
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const { id } = await bus.publish(events, { type: 'placed', body: 1 });
    await eventually(() => acknowledged.length > 0);
    const { id: other } = await bus.publish(events, { type: 'made-up', body: 2 });
    await eventually(() => dead.length > 0);
    const untimed = lines.map(({ duration_ms: ms, ...line }) => {
      assert.ok(typeof ms === 'number' && ms >= 0);
      return line;
    });
    const who = { stream: events.name, group, consumer: 'ana' };
    const [info, warn] = [30, 40];
    const handled = { ...who, message_id: id, type: 'placed' };
    assert.deepEqual(
      untimed.toSorted(byText),
      [
        { level: info, stream: events.name, type: 'placed', message_id: id, outcome: 'ok', msg: 'published' },
        {
          level: warn,
          ...handled,
          delivery_count: 1,
          outcome: 'retry-later',
          error_kind: 'RetryLater',
          msg: 'not handled',
        },
        { level: info, ...handled, delivery_count: 2, outcome: 'completed', msg: 'handled' },
        { level: info, stream: events.name, type: '_other', message_id: other, outcome: 'ok', msg: 'published' },
        {
          level: warn,
          ...who,
          message_id: other,
          type: '_other',
          delivery_count: 1,
          outcome: 'rejected',
          error_kind: 'Reject',
          msg: 'not handled',
        },
      ].toSorted(byText),
    );
  });

  it('makes spans for one consumer and one topic', async () => {
    const around = openTelemetry({ traceMode: 'parent' });
    const events = topic(uniqueKey(), { retention: 'none', codec: json(), use: [around.publish] });
    const bus = world.bus();
    const consumer = bus.consume(events, quickOptions({ use: [around.consume] }), () => {
      throw new RangeError('no');
    });
    await consumer.start();
    await bus.publish(events, { body: 1 });
    const [published] = await sdk.ended(`publish ${events.name}`);
    const [processed] = await sdk.ended(`process ${events.name}`);
    assert.ok(published && processed);
    assert.equal(processed.parentSpanContext?.spanId, published.spanContext().spanId);
    assert.equal(processed.attributes['error.type'], 'RangeError');
    assert.deepEqual(await sdk.ended(`process ${events.name}`), [processed]);
  });

  it('counts and times for one consumer and one topic', async () => {
    const registry = prometheusMetrics();
    const around = metrics(registry, { types: ['placed'] });
    const events = topic(uniqueKey(), { retention: 'none', codec: json(), use: [around.publish] });
    const bus = world.bus();
    const consumer = bus.consume(events, quickOptions({ use: [around.consume] }), () => undefined);
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await bus.publish(events, { type: 'placed', body: 1 });
    await bus.publish(events, { type: 'else', body: 1 });
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 2);
    const text = await registry.registry.metrics();
    const of = `stream="${events.name}"`;
    for (const type of ['placed', '_other']) {
      assert.ok(text.includes(`messaging_client_sent_messages_total{${of},type="${type}",outcome="ok"} 1\n`));
      assert.ok(text.includes(`messaging_client_consumed_messages_total{${of},group="${group}",type="${type}"} 1\n`));
    }
    assert.doesNotMatch(text, /bus_ownership_lost/, 'what middleware does not see is not told as 0');
  });

  it('tells no byte of a message, with everything switched on: logs, spans, metrics, channels, events', async () => {
    const canaries: string[] = [];
    const canary = (): string => {
      const made = randomBytes(9).toString('hex');
      canaries.push(made);
      return made;
    };
    const { log, lines } = pinoInMemory();
    const registry = prometheusMetrics();
    const logs = logging(log);
    const told: unknown[] = [];
    const listener = (message: unknown): void => void told.push(message);
    const channels = ['bus:publish', 'bus:process', 'bus:settle'];
    for (const name of channels) diagnostics.subscribe(name, listener);
    try {
      const bus = world.bus({ telemetry: otel({ metrics: registry }), use: [logs.publish] });
      const events = topic(uniqueKey(), { retention: 'none', codec: json() });
      const options = quickOptions({ use: [logs.consume], retry: { maxDeliveries: 2, backoff: () => 5 } });
      const consumer = bus.consume(events, options, ({ body }, { headers }) => {
        const word = `${JSON.stringify(body)} ${JSON.stringify(headers)}`;
        const cause = new Error(`because of ${word}`);
        if (told.length % 3 === 0) throw new Reject(word, { cause });
        throw Object.assign(new Error(word, { cause }), {
          name: told.length % 3 === 1 ? `not a class: ${word}` : 'OwnError',
        });
      });
      const eventsTold = everyEvent(consumer);
      const dead = collect(consumer, 'dead-lettered');
      await consumer.start();
      for (let n = 0; n < 9; n += 1) {
        const headers = { [canary()]: canary(), tracestate: `vendor=${canary()}` };
        await bus.publish(events, { type: canary(), key: canary(), headers, body: { [canary()]: [canary()] } });
      }
      const refused = { type: canary(), body: { [canary()]: 1n } };
      await assert.rejects(bus.publish(events, refused));
      await world.redis.xadd(events.name, '*', 'b', `{${canary()}`);
      await eventually(() => dead.length === 10);
      await bus.close();
      // The trace state of a link is trace context, which exporters are there to tell.
      const spans = sdk.spans().map(({ name, attributes, events: recorded, links, status }) => ({
        name,
        attributes,
        recorded,
        status,
        links: links.map(({ context: { traceId, spanId } }) => ({ traceId, spanId })),
      }));
      assert.ok(lines.length >= 19 && spans.length >= 30 && told.length >= 30 && eventsTold.length >= 30);
      const metricsText = await registry.registry.metrics();
      const emitted = [lines, spans, told, eventsTold].map((part) => JSON.stringify(part)).join('\n') + metricsText;
      for (const secret of canaries) {
        const at = emitted.indexOf(secret);
        assert.equal(at, -1, emitted.slice(Math.max(0, at - 200), at + 50));
      }
    } finally {
      for (const name of channels) diagnostics.unsubscribe(name, listener);
    }
  });
});

/** Everything that a consumer tells, without the handlers' own errors: those are the program's, which gets them to look at. */
function everyEvent(consumer: Consumer): unknown[] {
  const told: unknown[] = [];
  const names: readonly ConsumerEventName[] = [
    'delivered',
    'handled',
    'acknowledged',
    'settled-elsewhere',
    'handler-failed',
    'handler-timeout',
    'retry-scheduled',
    'dead-lettered',
    'dead-letter-failed',
    'settle-failed',
    'ownership-lost',
    'late-result',
    'heartbeat-failed',
    'reclaimed',
    'lost-to-trim',
    'released',
    'reader-failed',
    'reader-reconnected',
    'group-recreated',
    'started',
    'paused',
    'resumed',
    'fatal',
    'closed',
  ];
  for (const name of names)
    consumer.on(name, (event: object) => {
      const own = Object.entries(event).filter(([property]) => !property.startsWith('error'));
      told.push({ name, ...Object.fromEntries(own) });
    });
  return told;
}

function byText(a: object, b: object): number {
  return JSON.stringify(Object.entries(a).toSorted()) < JSON.stringify(Object.entries(b).toSorted()) ? -1 : 1;
}
