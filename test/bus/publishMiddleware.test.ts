/** Middleware around publishing, on a real server: what it sees, what it may add, and what its failures mean. */
import assert from 'node:assert/strict';
import { ConfigError, createBus, json, PublishError, topic } from '../../src/bus';
import type { OutgoingMessage, PublishMiddleware } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import { uniqueKey } from '../support/uniqueKey';
import { gate, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('publish middleware', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('is around a publication, the bus outermost, and sees the message and the id that it got', async () => {
    const trail: string[] = [];
    const seen: OutgoingMessage[] = [];
    const around =
      (name: string): PublishMiddleware =>
      async (outgoing, next) => {
        trail.push(`${name} before`);
        seen.push(outgoing);
        const published = await next();
        trail.push(`${name} after ${published.id}`);
        return published;
      };
    const orders = topic(uniqueKey(), { retention: 'none', codec: json(), use: [around('topic')] });
    const bus = world.bus({ env: 'dev', use: [around('first'), around('second')] });
    const headers = { 'content-type': 'a' };
    const { id } = await bus.publish(orders, { type: 't', key: 'k', headers, body: 1 }, { dedupeKey: 'd' });
    assert.deepEqual(trail, [
      'first before',
      'second before',
      'topic before',
      `topic after ${id}`,
      `second after ${id}`,
      `first after ${id}`,
    ]);
    const { headers: own, ...outgoing } = seen[0] ?? assert.fail();
    assert.deepEqual(outgoing, { stream: bus.keyOf(orders), type: 't', key: 'k', body: 1, dedupeKey: 'd' });
    assert.deepEqual({ ...own }, headers);
  });

  it('adds headers that are published, and leaves those of the caller alone', async () => {
    const bus = world.bus({
      use: [
        (outgoing, next) => {
          outgoing.headers.traceparent = '00-1-2-01';
          return next();
        },
      ],
    });
    const flat = uniqueKey();
    const given = {};
    await bus.publish(flat, { body: { n: '1' }, headers: given });
    const [[, pairs] = assert.fail()] = await world.redis.xrange(flat, '-', '+');
    assert.deepEqual(pairs, ['n', '1', 'traceparent', '00-1-2-01']);
    assert.deepEqual(given, {});
    const [result] = await bus.publishBatch(flat, [{ body: { n: '2' } }]);
    assert.equal(result?.status, 'published');
    const [[, second] = assert.fail()] = await world.redis.xrevrange(flat, '+', '-', 'COUNT', 1);
    assert.deepEqual(second, ['n', '2', 'traceparent', '00-1-2-01']);
  });

  it('leaves a batch in its order, however long each message takes, and fails only the message that it fails for', async () => {
    const letGo = gate();
    const use: PublishMiddleware = async (outgoing, next) => {
      const { n } = outgoing.body as { n: string };
      if (n === '0') await letGo.opened;
      if (n === '1') throw new Error('not this one');
      if (n === '2') letGo.open();
      return next();
    };
    const stream = uniqueKey();
    const bodies = ['0', '1', '2', '3'].map((n) => ({ body: { n } }));
    const results = await world.bus({ use: [use] }).publishBatch(stream, bodies);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['published', 'failed', 'published', 'published'],
    );
    const [, failed] = results;
    assert.ok(failed?.status === 'failed' && failed.error.reason === 'middleware' && !failed.error.ambiguous);
    const stored = await world.redis.xrange(stream, '-', '+');
    assert.deepEqual(
      stored.map(([id, pairs]) => [id, pairs[1]]),
      [0, 2, 3].map((at) => [results[at]?.status === 'published' ? results[at].id : '', String(at)]),
    );
  });

  it('fails with the reason middleware, and says whether the message was published', async () => {
    const stream = uniqueKey();
    const fails = new Error('no');
    const before = world.bus({ use: [() => Promise.reject(fails)] }).publish(stream, { body: { n: '1' } });
    await assert.rejects(
      before,
      (error) => PublishError.is(error, 'middleware') && !error.ambiguous && error.cause === fails,
    );
    assert.equal(await world.redis.xlen(stream), 0);
    const late: PublishMiddleware = async (_outgoing, next) => {
      await next();
      throw fails;
    };
    await assert.rejects(
      world.bus({ use: [late] }).publish(stream, { body: { n: '1' } }),
      (error) => PublishError.is(error, 'middleware') && error.ambiguous && error.message.includes('it was published'),
    );
    assert.equal(await world.redis.xlen(stream), 1);
  });

  it('sees the failure of the publication as it is', async () => {
    const seen: unknown[] = [];
    const use: PublishMiddleware = (_outgoing, next) =>
      next().catch((error: unknown) => {
        seen.push(error);
        throw error;
      });
    const proxy = await startFaultProxy(world.server.port);
    try {
      await proxy.setMode('refuse');
      const bus = world.bus({ redis: proxy.url, use: [use] });
      await assert.rejects(bus.publish('s', { body: { n: '1' } }), (error) => error === seen[0]);
      assert.ok(PublishError.is(seen[0], 'connection'));
    } finally {
      await proxy.stop();
    }
  });

  it('cannot publish a message twice', async () => {
    const stream = uniqueKey();
    const twice: PublishMiddleware = async (_outgoing, next) => {
      await next();
      return next();
    };
    await assert.rejects(world.bus({ use: [twice] }).publish(stream, { body: { n: '1' } }), PublishError);
    assert.equal(await world.redis.xlen(stream), 1);
  });

  it('is within the time of the publication: what comes too late is not sent, and nobody is in doubt', async () => {
    const stream = uniqueKey();
    const letGo = gate();
    const ended: unknown[] = [];
    const slow: PublishMiddleware = async (_outgoing, next) => {
      await letGo.opened;
      return next().finally(() => ended.push(true));
    };
    const bus = world.bus({ use: [slow] });
    await assert.rejects(
      bus.publish(stream, { body: { n: '1' } }, { timeoutMs: 20 }),
      (error) => PublishError.is(error, 'timeout') && !error.ambiguous && error.message.includes('nothing was sent'),
    );
    letGo.open();
    await eventually(() => ended.length === 1);
    assert.equal(await world.redis.xlen(stream), 0);
  });

  it('is checked where it is given, and its headers when they are sent', async () => {
    for (const use of [5, [5]])
      assert.throws(
        () => createBus({ redis: world.server.url, use: use as never }),
        (error) => ConfigError.is(error, 'invalid-option') && error.option === 'bus.use',
      );
    assert.throws(
      () => topic('s', { retention: 'none', use: ['a'] as never }),
      (error) => ConfigError.is(error, 'invalid-option') && error.option === 'topic.use',
    );
    const bus = world.bus({
      use: [
        (outgoing, next) => {
          Object.assign(outgoing.headers, { traceparent: 5 });
          return next();
        },
      ],
    });
    await assert.rejects(
      bus.publish('s', { body: { n: '1' } }),
      (error) => ConfigError.is(error, 'invalid-option') && error.option === 'message.headers.traceparent',
    );
    const [result] = await bus.publishBatch('s', [{ body: { n: '1' } }]);
    assert.ok(result?.status === 'failed' && ConfigError.is(result.error.cause));
  });
});
