/** The publisher on a real server: retention, environments, deduplication, batches, and what is told when it is in doubt. */
import assert from 'node:assert/strict';
import { ConfigError, EncodeError, PublishError, topic } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import type { FaultProxy } from '../support/faultProxy';
import { uniqueKey } from '../support/uniqueKey';
import { startBusWorld } from './support/busWorld';
import { isScriptCall } from './support/scriptCalls';
import type { BusWorld } from './support/busWorld';

describe('publishing', () => {
  let world: BusWorld;
  let proxy: FaultProxy;
  before(async () => {
    world = await startBusWorld();
    proxy = await startFaultProxy(world.server.port);
  });
  afterEach(async () => {
    await proxy.setMode('pass');
    await world.closeBuses();
  });
  after(async () => {
    await proxy.stop();
    await world.stop();
  });

  it('writes the fields as they are given, in their order', async () => {
    const stream = uniqueKey();
    const { id, duplicate } = await world.bus().publish(stream, { body: { b: '2', a: '1', '10': 'x' } });
    assert.equal(duplicate, false);
    const [[stored, pairs] = assert.fail()] = await world.redis.xrange(stream, '-', '+');
    assert.equal(stored, id);
    assert.deepEqual(pairs, Object.entries({ b: '2', a: '1', '10': 'x' }).flat());
  });

  it('prefixes names with the environment, once, and exact names never', async () => {
    const bus = world.bus({ env: 'dev' });
    const name = uniqueKey();
    assert.equal(bus.keyOf(name), `dev:${name}`);
    assert.equal(bus.keyOf({ exact: `dev:${name}` }), `dev:${name}`);
    assert.equal(bus.keyOf(topic(name, { retention: 'none' })), `dev:${name}`);
    assert.equal(bus.keyOf(topic(name, { retention: 'none', exact: true })), name);
    await bus.publish(name, { body: { n: '1' } });
    await bus.publish({ exact: `dev:${name}` }, { body: { n: '2' } });
    assert.equal(await world.redis.xlen(`dev:${name}`), 2);
    assert.equal(bus.deadLetters(name).constructor.name, 'DeadLetters');
    assert.equal(await bus.deadLetters(name).target(), `dev:${name}:dlq`);
  });

  it('trims a topic by its own policy only: a name without one, and a replay, never trim (a million entries stay)', async function () {
    this.timeout(60_000);
    const bus = world.bus();
    const stream = uniqueKey();
    const fill = "for i = 1, tonumber(ARGV[1]) do redis.call('XADD', KEYS[1], '*', 'n', i) end";
    for (let part = 0; part < 10; part += 1) await world.redis.eval(fill, 1, stream, 100_000);
    await bus.publish(stream, { body: { n: 'one more' } });
    assert.equal(await world.redis.xlen(stream), 1_000_001);
    await world.redis.xadd(`${stream}:dlq`, '*', 'n', 'dead');
    const [replayed] = await bus.deadLetters(stream).replay({ where: {} });
    assert.equal(replayed?.status, 'replayed');
    assert.equal(await world.redis.xlen(stream), 1_000_002);
    await bus.publish(topic(stream, { retention: { maxLength: 1000 } }), { body: { n: 'kept' } });
    const left = await world.redis.xlen(stream);
    assert.ok(left >= 1000 && left < 1_000_002, `${left} are left`);
  });

  it('trims by age as the server tells the time', async function () {
    const { hasExclusiveRanges } = await capabilities();
    if (!hasExclusiveRanges) this.skip();
    const bus = world.bus();
    const stream = uniqueKey();
    const fill = "for i = 1, 300 do redis.call('XADD', KEYS[1], i .. '-1', 'n', i) end";
    await world.redis.eval(fill, 1, stream);
    const aged = topic(stream, { retention: { maxAgeMs: 60_000 } });
    await bus.publish(aged, { body: { n: 'a' } });
    assert.equal(await world.redis.xlen(stream), 301, 'the first only tells the time');
    await bus.publish(aged, { body: { n: 'b' } });
    const left = await world.redis.xlen(stream);
    assert.ok(left < 301 && left >= 2, `whole nodes of old entries went, ${left} are left`);
  });

  async function capabilities(): Promise<{ hasExclusiveRanges: boolean }> {
    const { connectRedis } = await import('../../src/bus/redis/connect');
    const port = await connectRedis({ url: world.server.url });
    const found = await port.capabilities();
    await port.close();
    return found;
  }

  it('publishes a key once within its window and answers the first id', async () => {
    const bus = world.bus();
    const stream = uniqueKey();
    const publish = (dedupeKey: string): Promise<{ id: string; duplicate: boolean }> =>
      bus.publish(stream, { body: { n: '1' } }, { dedupeKey, dedupeWindowMs: 60_000 });
    const results = await Promise.all([publish('a'), publish('a'), publish('a'), publish('b')]);
    assert.deepEqual(
      results.map(({ duplicate }) => duplicate),
      [false, true, true, false],
    );
    assert.equal(new Set(results.slice(0, 3).map(({ id }) => id)).size, 1);
    assert.equal(await world.redis.xlen(stream), 2);
    await world.redis.del(`${stream}:dedupe:a`);
    assert.equal((await publish('a')).duplicate, false, 'after the window it is published again');
  });

  it('says that it is in doubt when the link breaks after the message was sent, and sends nothing twice', async () => {
    for (const [fault, length] of [
      ['cut-before-forwarding', 0],
      ['swallow-reply', 1],
    ] as const) {
      const stream = uniqueKey();
      const bus = world.bus({ redis: proxy.url });
      await bus.publish('warm', { body: { n: '0' } });
      const hit = proxy.next('XADD', fault);
      await assert.rejects(
        bus.publish(stream, { body: { n: '1' } }),
        (error) => PublishError.is(error, 'connection') && error.ambiguous && error.stream === stream,
      );
      await hit.fired;
      assert.equal(await world.redis.xlen(stream), length);
    }
  });

  it('is not in doubt when nothing could be sent', async () => {
    const bus = world.bus({ redis: proxy.url });
    await proxy.setMode('refuse');
    await assert.rejects(
      bus.publish('s', { body: { n: '1' } }),
      (error) => PublishError.is(error, 'connection') && !error.ambiguous,
    );
  });

  it('tries again by itself when there is a dedupe key, and publishes once', async () => {
    for (const fault of ['cut-before-forwarding', 'swallow-reply'] as const) {
      const stream = uniqueKey();
      const bus = world.bus({ redis: proxy.url });
      await bus.publish('warm', { body: { n: '0' } });
      const hit = proxy.next(isScriptCall('publishDeduplicated'), fault);
      const { id, duplicate } = await bus.publish(stream, { body: { n: '1' } }, { dedupeKey: 'k' });
      await hit.fired;
      assert.equal(duplicate, false, 'its own lost try is no duplicate');
      assert.deepEqual(
        (await world.redis.xrange(stream, '-', '+')).map(([stored]) => stored),
        [id],
      );
    }
  });

  it('gives up when its time is up or it is told to, and says that it is in doubt', async () => {
    const bus = world.bus({ redis: proxy.url });
    await bus.publish('warm', { body: { n: '0' } });
    const held = proxy.next('XADD', 'hold-reply');
    await assert.rejects(
      bus.publish('s', { body: { n: '1' } }, { timeoutMs: 50 }),
      (error) => PublishError.is(error, 'timeout') && error.ambiguous,
    );
    const controller = new AbortController();
    const aborted = assert.rejects(
      bus.publish('s', { body: { n: '2' } }, { signal: controller.signal }),
      (error) => PublishError.is(error, 'aborted') && error.ambiguous,
    );
    controller.abort();
    await aborted;
    await assert.rejects(
      bus.publish('s', { body: { n: '3' } }, { signal: controller.signal }),
      (error) => PublishError.is(error, 'aborted') && !error.ambiguous,
    );
    held.release();
    await eventually(async () => (await world.redis.xlen('s')) === 2);
  });

  it('tells a full server from a broken one', async () => {
    const bus = world.bus();
    await bus.publish('warm', { body: { n: '0' } });
    await world.redis.config('SET', 'maxmemory', '1');
    try {
      await assert.rejects(
        bus.publish('s', { body: { n: '1' } }),
        (error) => PublishError.is(error, 'out-of-memory') && !error.ambiguous,
      );
    } finally {
      await world.redis.config('SET', 'maxmemory', '0');
    }
  });

  it('publishes a batch in order and tells of each message what became of it', async () => {
    const bus = world.bus();
    const stream = uniqueKey();
    const bodies = Array.from({ length: 500 }, (_, n) => ({ body: { n: String(n) } }));
    const results = await bus.publishBatch(stream, bodies);
    const stored = await world.redis.xrange(stream, '-', '+');
    assert.deepEqual(
      results.map((result) => (result.status === 'published' ? result.id : result.error)),
      stored.map(([id]) => id),
    );
    assert.deepEqual(
      stored.map(([, pairs]) => pairs[1]),
      bodies.map(({ body }) => body.n),
    );
    const text = uniqueKey();
    await world.redis.set(text, 'no stream');
    const failed = await bus.publishBatch(text, bodies.slice(0, 2));
    assert.ok(failed.every((result) => result.status === 'failed' && result.error.reason === 'refused'));
  });

  it('refuses options and messages that it cannot work with, naming what was given', async () => {
    const bus = world.bus();
    const wrong = bus.publish('s', { body: { n: '1' } }, { timeoutMs: -5 });
    await assert.rejects(wrong, (error) => ConfigError.is(error, 'invalid-option') && error.message.includes('-5'));
    for (const [message, text] of [
      [{ body: {} }, /at least one field/],
      [{ body: { n: 1 } }, /body\.n is number: use json\(\)/],
      [{ body: 'text' }, /object of text only/],
      [{ type: 't', body: { n: '1' } }, /a type only with a typeField/],
    ] as const)
      await assert.rejects(
        bus.publish('s', message),
        (error) => PublishError.is(error, 'invalid') && error.cause instanceof EncodeError && text.test(error.message),
      );
    for (const [part, text] of [
      [{ key: 77_001 }, /message\.key: expected text that is not empty, got number/],
      [{ type: '' }, /message\.type: expected .* got empty text/],
      [{ headers: null }, /message\.headers: expected an object of text, got null/],
      [{ headers: { traceparent: 77_001 } }, /message\.headers\.traceparent: expected text, got number/],
    ] as const)
      await assert.rejects(
        bus.publish('s', { body: { n: '1' }, ...part } as never),
        (error) => ConfigError.is(error, 'invalid-option') && text.test(error.message),
      );
    await assert.rejects(bus.publish('s', { bdy: {} } as never), (error) => ConfigError.is(error, 'unknown-option'));
    assert.throws(() => topic('s', {} as never), /topic\.retention: expected .* got none/);
    assert.throws(() => topic('s', { retention: { maxLength: 1, maxAgeMs: 1 } }), /got both/);
    assert.throws(() => topic('s', { retention: 'all' as never }), ConfigError);
  });
});
