// Many at once: actors on the same entries while workers acknowledge them, and the test that decides what the verbs are for.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { confirmationOf, factsOf } from '../../src/commands/actions/actTexts';
import { tallyOf } from '../../src/commands/actions/resultTexts';
import { englishLocalizer } from '../../src/base/localize';
import { consumerName, createBus, entryId, groupName, streamKey } from '../../src/bus';
import { verbs } from '../../src/connections/verbs/index';
import { eventually } from '../support/eventually';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { openActWorld, seedPending, statuses } from './support/actWorld';
import type { ActWorld } from './support/actWorld';
import { gate as latch, group as workers, pendingRows, quickOptions } from './support/busWorld';

const words = { l10n: englishLocalizer, locale: 'en' };

describe('writing while others work', () => {
  let server: RedisServer;
  let redis: Redis;
  const worlds: ActWorld[] = [];
  const clients: Redis[] = [];

  before(async () => {
    server = await startRedis();
    redis = new Redis(server.port, server.host);
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });
  afterEach(() => {
    for (const world of worlds.splice(0)) world.dispose();
    for (const client of clients.splice(0)) client.disconnect();
  });

  async function open(): Promise<ActWorld> {
    const world = await openActWorld(server.url);
    worlds.push(world);
    return world;
  }

  function client(): Redis {
    const made = new Redis(server.port, server.host);
    clients.push(made);
    return made;
  }

  /** Acknowledges ids one call each, a hundred calls in flight; those that it was the one to acknowledge. */
  async function acknowledgeAll(stream: string, ids: readonly string[]): Promise<readonly string[]> {
    const connection = client();
    const mine: string[] = [];
    for (let from = 0; from < ids.length; from += 100) {
      const part = ids.slice(from, from + 100);
      const removed = await Promise.all(part.map((id) => connection.xack(stream, workers, id)));
      mine.push(...part.filter((_, index) => removed[index] === 1));
    }
    return mine;
  }

  function shuffled<T>(list: readonly T[], seed: number): readonly T[] {
    let state = seed;
    const keyed = list.map((value) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return { value, key: state };
    });
    return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
  }

  it('three movers on the same 20,000 entries and two workers: nothing is lost, nothing is doubled, the tallies are right', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 20_000);
    const movers = await Promise.all([1, 2, 3].map(open));
    const plans = await Promise.all(
      movers.map((world, index) => {
        const select = { ids: shuffled(ids, index + 1) };
        const request = { stream, group, select, guard: 'strict', reason: `mover ${index}` } as const;
        return world.gate.plan(world.connection, verbs.moveToDeadLetters, request);
      }),
    );
    const [reports, first, second] = await Promise.all([
      Promise.all(
        movers.flatMap((world, index) => {
          const plan = plans[index];
          return plan === undefined ? [] : [world.gate.run(plan)];
        }),
      ),
      acknowledgeAll(stream, shuffled(ids, 11)),
      acknowledgeAll(stream, shuffled(ids, 12)),
    ]);
    const moved = reports.flatMap(({ results }) => results.filter(({ outcome }) => outcome === 'done'));
    const acknowledged = [...first, ...second];
    assert.ok(moved.length > 0 && acknowledged.length > 0, 'both got some');
    assert.equal(new Set(moved.map(({ id }) => id)).size, moved.length, 'moved once each');
    assert.equal(new Set(acknowledged).size, acknowledged.length);
    const all = new Set<string>([...moved.map(({ id }) => id), ...acknowledged]);
    assert.equal(all.size, 20_000, 'every entry is moved or acknowledged');
    assert.equal(moved.length + acknowledged.length, 20_000, 'and none is both');
    assert.equal((await pendingRows(redis, stream)).length, 0);
    const letters = await redis.xrange(`${stream}:dlq`, '-', '+');
    assert.deepEqual(new Set(letters.map(([id]) => id)), new Set(moved.map(({ newId }) => newId)));
    for (const [index, report] of reports.entries()) {
      const done = report.results.filter(({ outcome }) => outcome === 'done').length;
      assert.equal(letters.filter(([, fields]) => fields.includes(`mover ${index}`)).length, done);
      assert.equal(report.results.length, 20_000);
      assert.ok(report.results.every(({ outcome }) => outcome === 'done' || outcome === 'refused'));
      const plan = plans[index];
      assert.ok(plan);
      const tally = tallyOf([{ plan: factsOf(plan), report }], words);
      assert.match(tally.message, new RegExp(`^Moved ${done.toLocaleString('en')} of 20,000 to the dead letters: `));
    }
  });

  it('one who moves, one who acknowledges and one who claims: each entry has one fate', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 2000);
    const [mover, acknowledger, claimer] = await Promise.all([open(), open(), open()]);
    const request = (seed: number) =>
      ({ stream, group, select: { ids: shuffled(ids, seed) }, guard: 'strict' }) as const;
    const move = await mover.gate.plan(mover.connection, verbs.moveToDeadLetters, { ...request(1), reason: 'x' });
    const acknowledge = await acknowledger.gate.plan(acknowledger.connection, verbs.acknowledge, request(2));
    const consumer = consumerName('ana');
    const claim = await claimer.gate.plan(claimer.connection, verbs.claim, { ...request(3), consumer, count: 'keep' });
    const reports = await Promise.all([
      mover.gate.run(move),
      acknowledger.gate.run(acknowledge),
      claimer.gate.run(claim),
    ]);
    const [moved, acknowledged, claimed] = reports.map(
      ({ results }) => new Set(results.filter(({ outcome }) => outcome === 'done').map(({ id }) => id)),
    );
    assert.ok(moved && acknowledged && claimed);
    assert.equal(moved.size + acknowledged.size + claimed.size, 2000);
    assert.equal(new Set([...moved, ...acknowledged, ...claimed]).size, 2000);
    const rows = await pendingRows(redis, stream);
    assert.deepEqual(new Set(rows.map(({ id }) => id)), claimed);
    assert.ok(rows.every((row) => row.consumer === 'ana' && row.deliveries === 1));
    assert.equal(await redis.xlen(`${stream}:dlq`), moved.size);
  });

  describe('with workers of three kinds', () => {
    it('Make Reclaimable is processed by who reclaims; Claim for who reads only new entries is not, and the question said so', async function () {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 2);
      const [first = entryId('1-1'), second = entryId('1-1')] = ids;
      const world = await open();
      if (!(await world.connection.read((inspect) => inspect.capabilities())).hasAutoClaim) this.skip();
      const stop = new AbortController();
      const processed: string[] = [];
      const reader = readOnlyNew(stream, 'new-only', processed, stop.signal);
      const reclaimer = reclaiming(stream, 'reclaimer', processed, stop.signal);
      try {
        const consumer = consumerName('new-only');
        const request = { stream, group, guard: 'strict' } as const;
        const claiming = { ...request, select: { ids: [first] }, consumer, count: 'keep' } as const;
        const claim = await world.gate.plan(world.connection, verbs.claim, claiming);
        const question = confirmationOf([factsOf(claim)], words);
        assert.ok(
          question?.detail.includes(
            'A consumer that reads only new entries (>) will not see them, unless it re-reads its own pending entries.',
          ),
        );
        assert.deepEqual(statuses(await world.gate.run(claim)), ['done claimed']);
        await world.act(verbs.makeReclaimable, { ...request, select: { ids: [second] } });
        await eventually(() => processed.includes(`reclaimer ${second}`));
        // The one that reads only new entries is alive: it takes one that is published now, and still not the claimed one.
        const later = String(await redis.xadd(stream, '*', 'n', '9'));
        await eventually(() => processed.includes(`new-only ${later}`));
        assert.ok(!processed.some((line) => line.endsWith(first)));
        assert.deepEqual(
          (await pendingRows(redis, stream)).map(({ id, consumer: owner }) => [id, owner]),
          [[first, 'new-only']],
        );
      } finally {
        stop.abort();
        await Promise.all([reader, reclaimer]);
      }
    });

    it('a worker that heartbeats makes the strict guard refuse', async () => {
      const stream = streamKey(uniqueKey());
      const id = entryId(String(await redis.xadd(stream, '*', 'n', '1')));
      const hold = latch();
      const bus = createBus({ redis: server.url });
      const options = quickOptions({ ownership: { minIdleMs: 3000, heartbeatMs: 200 } });
      const consumer = bus.consume(stream, options, () => hold.opened);
      try {
        await consumer.start();
        await eventually(async () => (await pendingRows(redis, stream)).length === 1);
        const world = await open();
        const request = { stream, group: groupName(workers), select: { ids: [id] }, guard: 'strict' } as const;
        const plan = await world.gate.plan(world.connection, verbs.acknowledge, request);
        const question = confirmationOf([factsOf(plan)], words);
        assert.match(
          question?.detail.join('\n') ?? '',
          /1 of them was delivered .* ago and is probably being processed\./,
        );
        const shown = plan.preview.items[0]?.before.deliveredAtMs ?? 0;
        await eventually(async () => {
          const again = await world.gate.plan(world.connection, verbs.acknowledge, request);
          // More than the few milliseconds by which two readings of one moment differ.
          return (again.preview.items[0]?.before.deliveredAtMs ?? 0) > shown + 100;
        });
        const report = await world.gate.run(plan);
        assert.match(statuses(report)[0] ?? '', /^refused delivered-later/);
        assert.match(
          tallyOf([{ plan: factsOf(plan), report }], words).message,
          /^Acknowledged 0 of 1: 1 delivered or heartbeaten by its worker meanwhile\.$/,
        );
      } finally {
        hold.open();
        await consumer.close();
        await bus.close();
      }
    });

    it('a crash loop makes the strict guard refuse and lets the relaxed one through', async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1, { deliveries: 3 });
      const world = await open();
      const request = { stream, group, select: { ids }, reason: 'kills its worker' } as const;
      const plan = await world.gate.plan(world.connection, verbs.moveToDeadLetters, { ...request, guard: 'strict' });
      // The next life of the worker takes it again, and dies again.
      await redis.xclaim(stream, group, 'life-4', 0, String(ids[0]));
      assert.deepEqual(statuses(await world.gate.run(plan)), ['refused owner-changed life-4']);
      const relaxed = await world.act(verbs.moveToDeadLetters, { ...request, guard: { atLeast: 3 } });
      assert.deepEqual(statuses(relaxed), ['done moved']);
      assert.equal((await pendingRows(redis, stream)).length, 0);
    });
  });

  async function readOnlyNew(
    stream: string,
    consumer: string,
    processed: string[],
    signal: AbortSignal,
  ): Promise<void> {
    const connection = client();
    while (!signal.aborted) {
      const reply = (await connection.xreadgroup(
        ...(['GROUP', workers, consumer, 'COUNT', 10, 'BLOCK', 100, 'STREAMS', stream, '>'] as const),
      )) as [string, [string, string[]][]][] | null;
      for (const [id] of reply?.[0]?.[1] ?? []) {
        await connection.xack(stream, workers, id);
        processed.push(`${consumer} ${id}`);
      }
    }
  }

  async function reclaiming(stream: string, consumer: string, processed: string[], signal: AbortSignal): Promise<void> {
    const connection = client();
    let cursor = '0-0';
    while (!signal.aborted) {
      // Longer than the entries have been idle by themselves.
      const [next, entries] = (await connection.xautoclaim(stream, workers, consumer, 3_600_000, cursor)) as [
        string,
        [string, string[]][],
      ];
      for (const [id] of entries) {
        await connection.xack(stream, workers, id);
        processed.push(`${consumer} ${id}`);
      }
      cursor = next;
      await connection.blpop('nothing-here', 0.05);
    }
  }
});
