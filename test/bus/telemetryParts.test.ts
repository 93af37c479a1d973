/** What telemetry tells besides OpenTelemetry: diagnostics channels, labels that cannot explode, gauges that cost little. */
import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { connectRedis, groupName, json, streamKey, topic } from '../../src/bus';
import type { Consumer, StreamPort } from '../../src/bus';
import { Sampler } from '../../src/bus/telemetry/sampler';
import { prometheusMetrics } from '../../src/worker/telemetry/prometheusMetrics';
import { eventually } from '../support/eventually';
import { isBefore7 } from '../support/redisServer';
import { startFaultProxy } from '../support/faultProxy';
import { manualClock } from '../support/manualClock';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, gate, group, quickOptions, readAs, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('Telemetry of the bus', () => {
  let world: BusWorld;

  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  describe('on diagnostics channels', () => {
    it('tells publishing, handling and settling to who subscribes, with no bus option', async () => {
      const stream = uniqueKey();
      const told: [string, Record<string, unknown>][] = [];
      const listener = (message: unknown, name: string | symbol): void => {
        const { durationMs, ...rest } = message as Record<string, unknown>;
        assert.ok(durationMs === undefined || (typeof durationMs === 'number' && durationMs >= 0));
        if (rest.stream === stream) told.push([String(name), rest]);
      };
      const names = ['bus:publish', 'bus:process', 'bus:settle'];
      for (const name of names) diagnostics.subscribe(name, listener);
      try {
        const bus = world.bus();
        const { id } = await bus.publish(stream, { body: { n: '1' } });
        const options = quickOptions({ name: 'ana', retry: { maxDeliveries: 2, backoff: () => 5 } });
        const consumer = bus.consume(stream, options, (_message, { deliveryCount }) => {
          if (deliveryCount === 1) throw new SyntaxError('secret');
        });
        const acknowledged = collect(consumer, 'acknowledged');
        await consumer.start();
        await eventually(() => acknowledged.length > 0);
        const who = { stream, group, consumer: 'ana' };
        const message = { ...who, id, type: '' };
        assert.deepEqual(told, [
          ['bus:publish', { stream, id, type: '', outcome: 'ok' }],
          ['bus:process', { ...message, deliveryCount: 1, phase: 'begin' }],
          ['bus:process', { ...message, deliveryCount: 1, phase: 'end', outcome: 'failed', errorKind: 'SyntaxError' }],
          ['bus:settle', { ...who, operation: 'nack', ids: [id], outcome: 'ok' }],
          ['bus:process', { ...message, deliveryCount: 2, phase: 'begin' }],
          ['bus:process', { ...message, deliveryCount: 2, phase: 'end', outcome: 'completed', errorKind: undefined }],
          ['bus:settle', { ...who, operation: 'ack', ids: [id], outcome: 'ok' }],
        ]);
      } finally {
        for (const name of names) diagnostics.unsubscribe(name, listener);
      }
    });

    it('tells a publication that failed', async () => {
      const stream = uniqueKey();
      await world.redis.set(stream, 'no stream');
      const told: unknown[] = [];
      const listener = (message: unknown): void => void told.push(message);
      diagnostics.subscribe('bus:publish', listener);
      try {
        await assert.rejects(world.bus().publish(stream, { body: { n: '1' } }));
      } finally {
        diagnostics.unsubscribe('bus:publish', listener);
      }
      const [message] = told as Record<string, unknown>[];
      assert.deepEqual([message?.id, message?.outcome], [undefined, 'refused']);
    });
  });

  describe('has labels that no message can make more of:', () => {
    it('types that neither topic nor handlers name are _other', async () => {
      const metrics = prometheusMetrics();
      const bus = world.bus({ telemetry: { metrics } });
      const events = topic(uniqueKey(), { retention: 'none', codec: json() });
      for (let n = 0; n < 30; n += 1) await bus.publish(events, { type: `made-up-${n}`, body: n });
      await bus.publish(events, { type: 'known', body: 1 });
      await bus.publish(events, { body: 1 });
      const handled: (string | undefined)[] = [];
      const consumers = [
        bus.consume(events, quickOptions({ group: 'all' }), ({ type }) => handled.push(type)),
        bus.consume(events, quickOptions({ group: 'named', unroutable: 'acknowledge' }), {
          known: ({ type }) => handled.push(type),
        }),
      ];
      for (const consumer of consumers) await consumer.start();
      await eventually(() => handled.length === 33);
      const text = await metrics.registry.metrics();
      assert.doesNotMatch(text, /made-up/);
      const types = (name: string, labels: string): string[] =>
        [...text.matchAll(/^(\w+)\{([^}]*)\} \d/gm)]
          .filter(([, metric, given]) => metric === name && given?.includes(labels))
          .map(([, , given]) => /type="([^"]*)"/.exec(given ?? '')?.[1] ?? 'none')
          .toSorted();
      const of = `stream="${events.name}"`;
      assert.deepEqual(types('messaging_client_sent_messages_total', of), ['', '_other']);
      assert.deepEqual(types('messaging_client_consumed_messages_total', `${of},group="all"`), ['', '_other']);
      assert.deepEqual(types('messaging_client_consumed_messages_total', `${of},group="named"`), ['known']);
    });

    it('every label is stream, group, type or outcome', async () => {
      const metrics = prometheusMetrics();
      const stream = uniqueKey();
      const bus = world.bus({ telemetry: { metrics } });
      await bus.publish(stream, { body: { n: '1' } });
      const consumer = bus.consume(stream, quickOptions(), () => undefined);
      const acknowledged = collect(consumer, 'acknowledged');
      await consumer.start();
      await eventually(() => acknowledged.length > 0);
      const names = new Set(
        [...(await metrics.registry.metrics()).matchAll(/([a-z_]+)="/g)].map(([, name]) => name ?? ''),
      );
      assert.deepEqual([...names].toSorted(), ['group', 'le', 'outcome', 'stream', 'type'], 'le is of the buckets');
    });

    it('a program that publishes to streams without end has labels for 200 of them', async () => {
      const metrics = prometheusMetrics();
      const bus = world.bus({ telemetry: { metrics } });
      const stream = uniqueKey();
      await Promise.all(Array.from({ length: 230 }, (_, n) => bus.publish(`${stream}:${n}`, { body: { n: '1' } })));
      const text = await metrics.registry.metrics();
      const sent = [...text.matchAll(/^messaging_client_sent_messages_total\{stream="([^"]*)".* (\d+)$/gm)];
      assert.equal(sent.length, 201);
      assert.equal(sent.find(([, label]) => label === '_other')?.[2], '30');
    });
  });

  describe('measures gauges', () => {
    const calls = async (name: string): Promise<number> => {
      const stats = await world.redis.info('commandstats');
      return [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
        .filter(([, command]) => command?.startsWith(name))
        .reduce((sum, [, , count]) => sum + Number(count), 0);
    };

    it('only when somebody collects, at most once a second, and by commands that read', async () => {
      const stream = uniqueKey();
      const metrics = prometheusMetrics();
      const bus = world.bus({ telemetry: { metrics } });
      await addNumbered(world.redis, stream, 3);
      const consumers: Consumer[] = [];
      for (const name of ['a', 'b']) {
        const consumer = bus.consume(stream, quickOptions({ group: name, reclaim: false }), () => undefined);
        const acknowledged = collect(consumer, 'acknowledged');
        consumers.push(consumer);
        await consumer.start();
        await eventually(() => acknowledged.length > 0);
      }
      await world.redis.config('RESETSTAT');
      assert.equal(await calls('xinfo'), 0, 'nobody collects');
      await Promise.all([metrics.registry.metrics(), metrics.registry.metrics()]);
      await metrics.registry.metrics();
      assert.equal(await calls('xinfo'), 6, 'stream, groups and consumers of two groups, once');
      const stats = await world.redis.info('commandstats');
      const asked = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, command]) => command ?? '');
      const ofOthers = ['xreadgroup', 'config', 'config|resetstat', 'info', 'client', 'client|unblock'];
      const infos = isBefore7() ? ['xinfo'] : ['xinfo|consumers', 'xinfo|groups', 'xinfo|stream'];
      assert.deepEqual(asked.filter((command) => !ofOthers.includes(command)).toSorted(), [
        'time',
        ...infos,
        'xlen',
        'xpending',
      ]);
    });

    it('of many groups in one round trip', async () => {
      const port = await connectRedis({ url: world.server.url });
      try {
        await port.capabilities();
        let open = 0;
        let rounds = 0;
        const counted = new Proxy(port, {
          get: (target, name, receiver) => {
            const value: unknown = Reflect.get(target, name, receiver);
            if (typeof value !== 'function' || name === 'capabilities') return value;
            return async (...args: unknown[]): Promise<unknown> => {
              if (open === 0) rounds += 1;
              open += 1;
              try {
                return await (Reflect.apply(value, target, args) as Promise<unknown>);
              } finally {
                open -= 1;
              }
            };
          },
        });
        const sampler = new Sampler({ port: counted, clock: manualClock() });
        for (let n = 0; n < 20; n += 1) {
          const stream = streamKey(uniqueKey());
          for (const name of ['a', 'b']) {
            await port.createGroup(stream, groupName(name), '$', { makeStream: true });
            sampler.add({ stream, group: groupName(name), deadLetters: undefined, inFlight: () => 0 });
          }
        }
        const measured = await sampler.measure();
        assert.equal(measured.length, 40 * 6);
        assert.equal(rounds, 1);
      } finally {
        await port.close();
      }
    });

    it('and leaves out what the server does not know, instead of telling 0', async () => {
      const stream = uniqueKey();
      const metrics = prometheusMetrics();
      const bus = world.bus({ telemetry: { metrics } });
      const ids = await addNumbered(world.redis, stream, 5);
      await readAs(world.redis, stream, 'other', 1);
      const consumer = bus.consume(stream, quickOptions(), () => undefined);
      consumer.pause();
      await consumer.start();
      const lag = /^bus_group_lag\{.*\} (\d+)$/m;
      assert.equal(lag.exec(await metrics.registry.metrics())?.[1], isBefore7() ? undefined : '4');
      await world.redis.xdel(stream, ids[2] ?? '');
      await eventually(
        async () => {
          const text = await metrics.registry.metrics();
          assert.doesNotMatch(text, lag);
          assert.match(text, /^bus_group_pending\{.*\} 1$/m);
        },
        { intervalMs: 200 },
      );
    });

    it('of this process alone while the server is away, without holding the collector up', async () => {
      const stream = uniqueKey();
      const proxy = await startFaultProxy(world.server.port);
      const clock = manualClock();
      const port: StreamPort = await connectRedis({ url: proxy.url });
      try {
        await port.capabilities();
        const sampler = new Sampler({ port, clock });
        const sampled = { stream: streamKey(stream), group: groupName(group), deadLetters: undefined };
        sampler.add({ ...sampled, inFlight: () => 2 });
        sampler.add({ ...sampled, inFlight: () => 1 });
        await proxy.setMode('black-hole');
        const measuring = sampler.measure();
        await eventually(() => clock.waiting > 0);
        clock.advance(2000);
        const measured = await measuring;
        assert.deepEqual(
          measured.map(({ metric, value }) => [metric.name, value]),
          [['bus.inflight', 3]],
        );
      } finally {
        await port.close();
        await proxy.stop();
      }
    });

    it('of consumers until they are closed', async () => {
      const stream = uniqueKey();
      const metrics = prometheusMetrics();
      const bus = world.bus({ telemetry: { metrics } });
      await addNumbered(world.redis, stream, 1);
      const held = gate();
      const consumer = bus.consume(stream, quickOptions(), () => held.opened);
      await consumer.start();
      await eventually(() => consumer.health().inFlight === 1);
      assert.match(await metrics.registry.metrics(), /^bus_inflight\{.*\} 1$/m);
      held.open();
      await consumer.close();
      assert.doesNotMatch(await metrics.registry.metrics(), /^bus_inflight\{/m);
    });
  });
});
