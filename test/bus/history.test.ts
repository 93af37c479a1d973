/** The history of a message from a real server: journals, dead letters, replays and pending entries together, in bounds, and read only. */
import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { createInspector, parseEntryId, Reject, streamKey } from '../../src/bus';
import type { HistoryEvent } from '../../src/bus';
import { openRedisPort } from '../../src/connections/openRedisPort';
import type { InspectPort } from '../../src/connections/inspectPort';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, quickOptions, readAs, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('the history of a message', () => {
  let world: BusWorld;
  let port: InspectPort;
  before(async () => {
    world = await startBusWorld();
    port = await openRedisPort(world.server.url, { onClosed: () => undefined });
  });
  afterEach(() => world.closeBuses());
  after(async () => {
    await port.close();
    await world.stop();
  });

  const told = ({ kind, attempt, sources }: HistoryEvent): string => `${kind} ${attempt ?? ''} ${sources.join('+')}`;

  it('is one timeline from being added over failing and dying to being handled as a replay, seen from either copy', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    let isMended = false;
    const options = quickOptions({ journal: true, retry: { maxDeliveries: 2, backoff: () => 5 } });
    const consumer = bus.consume(stream, options, () => {
      if (!isMended) throw new TypeError('not yet');
    });
    const dead = collect(consumer, 'dead-lettered');
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    const [first = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => dead.length === 1);
    const life = [
      'added  server',
      'delivered 1 recorded',
      'failed 1 recorded',
      'retry-scheduled 1 recorded',
      'delivered 2 recorded',
      'failed 2 recorded',
    ];
    await eventually(async () => (await bus.history(stream, first)).events.at(-1)?.sources.length === 2);
    const died = await bus.history(stream, first);
    assert.deepEqual(died.events.map(told), [...life, 'dead-lettered 2 recorded+derived']);
    assert.equal(died.events.at(-1)?.reason, 'handler-error');
    assert.match(died.events[2]?.error?.stack ?? '', /history\.test/);
    isMended = true;
    const [replayed = assert.fail()] = await bus.deadLetters(stream).replay({ where: {} });
    assert.ok(replayed.status === 'replayed');
    await eventually(() => acknowledged.length === 1);
    await consumer.close();
    const rest = [
      'dead-lettered 2 recorded',
      'replayed 1 derived+recorded',
      'delivered 1 recorded',
      'acknowledged 1 recorded',
    ];
    assert.deepEqual((await bus.history(stream, first)).events.map(told), [...life, ...rest]);
    const copy = await bus.history(stream, replayed.id);
    assert.deepEqual(copy.events.map(told), ['added  derived', ...life.slice(1), ...rest]);
    assert.deepEqual(copy.events.at(-3)?.copy, replayed.id);
    assert.deepEqual(copy.unknownEndings, []);
  });

  it('has what the server tells of entries that are pending with consumers that keep no journal', async () => {
    const stream = uniqueKey();
    const [first = assert.fail(), second = assert.fail()] = await addNumbered(world.redis, stream, 2);
    await readAs(world.redis, stream, 'plain', 2);
    await world.redis.xack(stream, 'workers', second);
    const bus = world.bus();
    const pending = await bus.history(stream, first);
    assert.deepEqual(pending.events.map(told), ['added  server', 'pending 1 server']);
    assert.deepEqual([pending.journal.state, pending.unknownEndings], ['none', []]);
    assert.deepEqual((await bus.history(stream, second)).unknownEndings, ['workers']);
  });

  it('passes over what is no event and counts it, and says since when anything was recorded', async () => {
    const stream = uniqueKey();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    const journal = `${stream}:journal`;
    await world.redis.xadd(journal, '*', 'any', 'thing');
    await world.redis.xadd(journal, '*', 'event', 'exploded', 'id', id);
    await world.redis.xadd(journal, '*', 'event', 'delivered', 'id', Buffer.from([0xff, 0x00]));
    await world.redis.xadd(journal, '*', 'event', 'delivered', 'id', id, 'group', Buffer.from([0xff]));
    const { events, journal: reading } = await world.bus().history(stream, id);
    assert.deepEqual(events.map(told), ['added  server', 'delivered  recorded']);
    assert.equal(events[1]?.group, '\udcff');
    assert.equal(reading.malformed, 3);
    const [[oldest] = assert.fail()] = await world.redis.xrange(journal, '-', '+', 'COUNT', 1);
    assert.equal(reading.recordedSinceMs, Number(oldest.split('-')[0]));
  });

  it('looks at a bounded part of a long journal, from the message on and the newest, and says what it skipped', async () => {
    const stream = uniqueKey();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    const journal = `${stream}:journal`;
    await world.redis.xadd(journal, '*', 'event', 'delivered', 'id', id, 'attempt', '1');
    for (let from = 0; from < 3000; from += 1000) {
      const pipeline = world.redis.pipeline();
      for (let n = 0; n < 1000; n += 1) pipeline.xadd(journal, '*', 'event', 'delivered', 'id', '5-0');
      await pipeline.exec();
    }
    await world.redis.xadd(journal, '*', 'event', 'acknowledged', 'id', id, 'attempt', '1');
    const inspector = createInspector(port);
    const short = await inspector.messageHistory(streamKey(stream), id, { journalLimit: 600 });
    assert.deepEqual(short.events.map(told), ['added  server', 'delivered 1 recorded', 'acknowledged 1 recorded']);
    assert.ok(short.journal.skipped && short.journal.skipped.fromMs <= short.journal.skipped.toMs);
    const whole = await inspector.messageHistory(streamKey(stream), id, { journalLimit: 10_000 });
    assert.equal(whole.journal.skipped, undefined);
    assert.equal(whole.journal.malformed, 0);
  });

  it('changes nothing and stays within the read-only ACL, also where journal and dead letters may not be read', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions({ journal: true }), () => {
      throw new Reject('never');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => dead.length === 1);
    await consumer.close();
    const rules = ['+@read', '+@connection', '-@dangerous', '+info', '+command', '+role', '+time'];
    await world.redis.call('ACL', 'SETUSER', 'looker', 'reset', 'on', '>pw', ...rules, '~*');
    await world.redis.call('ACL', 'LOG', 'RESET');
    const before = await dump(world.redis, stream);
    const url = world.server.url.replace('//', '//looker:pw@');
    const looker = await openRedisPort(url, { onClosed: () => undefined });
    try {
      const seen = await createInspector(looker).messageHistory(streamKey(stream), id);
      assert.equal(seen.events.at(-1)?.kind, 'dead-lettered');
      assert.deepEqual(await world.redis.call('ACL', 'LOG'), []);
      assert.deepEqual(await dump(world.redis, stream), before);
      await world.redis.call('ACL', 'SETUSER', 'looker', 'resetkeys', `~${stream}`);
      const denied = new Set<ReturnType<typeof streamKey>>();
      const inspector = createInspector(looker, { denied });
      const partial = await inspector.messageHistory(streamKey(stream), id);
      assert.deepEqual(partial.events.map(told), ['added  server']);
      assert.equal(partial.journal.state, 'not-permitted');
      await world.redis.call('ACL', 'LOG', 'RESET');
      assert.equal((await inspector.messageHistory(streamKey(stream), id)).journal.state, 'not-permitted');
      assert.deepEqual(await world.redis.call('ACL', 'LOG'), [], 'what was denied once is not asked for again');
    } finally {
      await looker.close();
    }
  });

  it('of a dead letter itself is that of the message that died, from the stream that it died in', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const consumer = bus.consume(stream, quickOptions({ journal: true }), () => {
      throw new Reject('never');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => dead.length === 1);
    await consumer.close();
    const deadId = parseEntryId(String(dead[0]?.deadId)) ?? assert.fail();
    const { events, deadLetter } = await bus.history({ exact: `${stream}:dlq` }, deadId);
    assert.equal(deadLetter?.failure.reason, 'rejected');
    assert.deepEqual(events.map(told), [
      'added  derived',
      'delivered 1 recorded',
      'failed 1 recorded',
      'dead-lettered 1 recorded+derived',
    ]);
  });
});

async function dump(redis: Redis, stream: string): Promise<unknown> {
  const keys = [stream, `${stream}:dlq`, `${stream}:journal`];
  return Promise.all(
    keys.map((key) => Promise.all([redis.xlen(key), redis.xinfo('GROUPS', key), redis.dumpBuffer(key)])),
  );
}
