/** Working with dead letters, trimming what nobody needs, cleaning up after dead consumers. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BusError, compareEntryIds, ConfigError, groupName, streamKey } from '../../src/bus';
import type { EntryId } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import { serverUnderTest } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, collect, group, pendingRows, quickOptions, readAs, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { isScriptCall } from './support/scriptCalls';

describe('operating a stream', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  async function withDeadLetters(count: number): Promise<{ stream: string; ids: EntryId[] }> {
    const stream = uniqueKey();
    const consumer = world.bus().consume(stream, quickOptions({ retry: { maxDeliveries: 1 } }), ({ fields }) => {
      throw Number(fields.n) % 2 === 0 ? new Error('even') : Object.assign(new Error('odd'), { name: 'Reject' });
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const ids = await addNumbered(world.redis, stream, count);
    await eventually(() => dead.length === count);
    await consumer.close();
    return { stream, ids };
  }

  it('lists, counts, gets and discards dead letters, by pages and by reason', async () => {
    const { stream } = await withDeadLetters(250);
    const dead = world.bus().deadLetters(stream);
    assert.equal(await dead.count(), 250);
    const all = await dead.list({ limit: 1000 });
    assert.equal(all.length, 250);
    const rejected = await dead.list({ reason: 'rejected', limit: 3 });
    assert.deepEqual(
      rejected.map(({ failure }) => failure.reason),
      ['rejected', 'rejected', 'rejected'],
    );
    const after = await dead.list({ after: all[9]?.deadId ?? assert.fail(), limit: 2 });
    assert.deepEqual(
      after.map(({ deadId }) => deadId),
      [all[10]?.deadId, all[11]?.deadId],
    );
    assert.equal((await dead.list({ group: groupName('others') })).length, 0);
    const [first = assert.fail()] = all;
    assert.deepEqual(await dead.get(first.deadId), first);
    assert.ok((await dead.oldestAgeMs()) !== undefined);
    assert.equal(await dead.discard([first.deadId, first.deadId]), 1);
    assert.equal(await dead.get(first.deadId), undefined);
    assert.equal(await dead.count(), 249);
  });

  it('replays by filter, with a dry run first, and says so when asked again', async () => {
    const { stream, ids } = await withDeadLetters(6);
    const dead = world.bus().deadLetters(stream);
    const dry = await dead.replay({ where: { reason: 'rejected' } }, { dryRun: true });
    assert.deepEqual(
      dry.map(({ status }) => status),
      ['would-replay', 'would-replay', 'would-replay'],
    );
    assert.equal(await dead.count(), 6);
    const done = await dead.replay({ where: { reason: 'rejected' }, limit: 2 });
    assert.deepEqual(
      done.map(({ status }) => status),
      ['replayed', 'replayed'],
    );
    const again = await dead.replay({ ids: done.map(({ deadId }) => deadId) });
    assert.deepEqual(
      again.map((result) => ('id' in result ? [result.status, result.id] : [])),
      done.map((result) => ('id' in result ? ['already-replayed', result.id] : [])),
    );
    const tail = await world.redis.xrevrange(stream, '+', '-', 'COUNT', 2);
    assert.deepEqual(tail.map(([, fields]) => fields.slice(0, 4)).reverse(), [
      ['n', '1', 'dl.id', ids[1]],
      ['n', '3', 'dl.id', ids[3]],
    ]);
    assert.equal(await world.redis.xlen(stream), 8);
  });

  it('replays once when the link or the process dies in the middle of it (I8)', async () => {
    for (const fault of ['cut-before-forwarding', 'swallow-reply'] as const) {
      const { stream } = await withDeadLetters(1);
      const proxy = await startFaultProxy(world.server.port);
      try {
        const cut = world.bus({ redis: proxy.url });
        const [letter = assert.fail()] = await cut.deadLetters(stream).list();
        const hit = proxy.next(isScriptCall('replay'), fault);
        await assert.rejects(
          cut.deadLetters(stream).replay({ ids: [letter.deadId] }),
          (error) => BusError.is(error, 'connection-lost') && error.details.ambiguous === true,
        );
        await hit.fired;
        const [again] = await world
          .bus()
          .deadLetters(stream)
          .replay({ ids: [letter.deadId] });
        assert.equal(again?.status, fault === 'swallow-reply' ? 'already-replayed' : 'replayed');
        assert.equal(await world.redis.xlen(stream), 2, 'the entry that died and one copy');
        assert.equal(await world.redis.xlen(`${stream}:dlq`), 0);
        await cut.close();
      } finally {
        await proxy.stop();
      }
    }
  });

  it('replays at the rate that it is told, and stops when it is told', async () => {
    const { stream } = await withDeadLetters(8);
    const dead = world.bus().deadLetters(stream);
    const controller = new AbortController();
    const replaying = dead.replay({ where: {} }, { ratePerSecond: 20, signal: controller.signal });
    await eventually(async () => (await dead.count()) < 8, { intervalMs: 1 });
    controller.abort();
    const results = await replaying;
    assert.equal(results.length, 8);
    const replayed = results.filter(({ status }) => status === 'replayed').length;
    assert.ok(replayed > 0 && replayed < 8, `${replayed} of 8`);
    assert.equal(await dead.count(), 8 - replayed);
  });

  it('replays to another stream, and never makes one', async () => {
    const { stream } = await withDeadLetters(1);
    const dead = world.bus().deadLetters(stream);
    const other = streamKey(uniqueKey());
    await assert.rejects(dead.replay({ where: {} }, { to: other }), (error) => BusError.is(error, 'no-key'));
    assert.equal(await dead.count(), 1);
    await world.redis.xgroup('CREATE', other, 'g', '$', 'MKSTREAM');
    const [result] = await dead.replay({ where: {} }, { to: other });
    assert.equal(result?.status, 'replayed');
    assert.equal(await world.redis.xlen(other), 1);
  });

  it('replays what others dead-lettered in their own forms', async () => {
    const stream = uniqueKey();
    await world.redis.xgroup('CREATE', stream, 'g', '0', 'MKSTREAM');
    await world.redis.xadd(`${stream}:dlq`, '*', 'n', '1', 'originalId', '5-1', 'deliveries', '3', 'reason', 'x');
    const [result] = await world.bus().deadLetters(stream).replay({ where: {} });
    assert.equal(result?.status, 'replayed');
    const [[, fields] = assert.fail()] = await world.redis.xrange(stream, '-', '+');
    assert.deepEqual(fields, ['n', '1', 'dl.id', '5-1', 'dl.replays', '1']);
  });

  it('gives dead letters back to their group, whose consumer then runs them as the entries that they were', async () => {
    const { stream, ids } = await withDeadLetters(2);
    const bus = world.bus();
    const [letter = assert.fail()] = await bus.deadLetters(stream).list();
    assert.deepEqual(await bus.deadLetters(stream).replayToGroup([letter.deadId]), [
      { deadId: letter.deadId, status: 'returned' },
    ]);
    const runs: [string, number][] = [];
    const consumer = bus.consume(stream, quickOptions(), ({ id }, { deliveryCount }) => runs.push([id, deliveryCount]));
    await consumer.start();
    await eventually(() => runs.length === 1);
    assert.deepEqual(runs, [[ids[0], 1]]);
  });

  it('hands over what a dead consumer owned, and removes consumers that own nothing', async () => {
    const stream = uniqueKey();
    const ids = await addNumbered(world.redis, stream, 230);
    await readAs(world.redis, stream, 'dead', 230);
    const bus = world.bus();
    const moved = await bus.handOver(stream, group, { from: 'dead', to: 'alive', minIdleMs: 0 });
    assert.deepEqual(moved, { moved: 230, gone: 0, kept: 0 });
    assert.ok(
      (await pendingRows(world.redis, stream)).every((row) => row.consumer === 'alive' && row.deliveries === 1),
    );
    const reaped = await bus.reap(stream, group, { minIdleMs: 0 });
    assert.deepEqual(
      reaped.map(({ consumer, status }) => [consumer, status]),
      [
        ['alive', 'has-pending'],
        ['dead', 'reaped'],
      ],
    );
    assert.equal((await pendingRows(world.redis, stream)).length, ids.length);
  });

  it('trims as far as the policy wants and never what a group still needs, whatever groups there are (I11)', async function () {
    this.timeout(60_000);
    const bus = world.bus();
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          length: fc.integer({ min: 0, max: 450 }),
          groups: fc.array(
            fc.record({ read: fc.integer({ min: 0, max: 450 }), acknowledged: fc.integer({ min: 0, max: 450 }) }),
            { maxLength: 3 },
          ),
          keep: fc.integer({ min: 0, max: 450 }),
          byId: fc.boolean(),
        }),
        async ({ length, groups, keep, byId }) => {
          const stream = uniqueKey();
          await world.redis.xgroup('CREATE', stream, 'temporary', '0', 'MKSTREAM');
          await world.redis.xgroup('DESTROY', stream, 'temporary');
          const ids = length === 0 ? [] : await addNumbered(world.redis, stream, length);
          let needed = Infinity;
          for (const [index, { read, acknowledged }] of groups.entries()) {
            const name = `g${index}`;
            await world.redis.xgroup('CREATE', stream, name, '0');
            if (read > 0) await world.redis.xreadgroup('GROUP', name, 'c', 'COUNT', read, 'STREAMS', stream, '>');
            const done = ids.slice(0, Math.min(read, acknowledged));
            if (done.length > 0) await world.redis.xack(stream, name, ...done);
            needed = Math.min(needed, Math.min(read, acknowledged, length));
          }
          const wanted = byId ? Math.min(keep, length) : Math.max(0, length - keep);
          const boundary = ids[wanted];
          const policy = byId && boundary !== undefined ? { minId: boundary } : { maxLength: length - wanted };
          const { removed, heldBy } = await bus.trim(stream, policy);
          if (groups.length === 0) {
            assert.deepEqual([removed, heldBy], [0, length === 0 ? 'no-groups' : 'no-groups']);
            return;
          }
          const expected = Math.min(wanted, needed);
          assert.equal(removed, expected);
          const left = (await world.redis.xrange(stream, '-', '+')).map(([id]) => id);
          assert.deepEqual(left, ids.slice(expected));
          if (expected < wanted) {
            assert.ok(typeof heldBy === 'object');
            assert.ok(compareEntryIds(heldBy.from, ids[expected] ?? assert.fail()) === 0);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('tells how a stream and its groups stand, and changes nothing', async () => {
    const bus = world.bus({ env: 'dev' });
    const stream = uniqueKey();
    const key = `dev:${stream}`;
    await assert.rejects(bus.inspect(stream), (error) => BusError.is(error, 'no-key'));
    const ids = await addNumbered(world.redis, key, 5);
    await readAs(world.redis, key, 'ann', 2);
    await readAs(world.redis, key, 'bob', 1);
    await world.redis.xack(key, group, ids[0] ?? '');
    await world.redis.xgroup('CREATE', key, 'late', '$');
    const before = await pendingRows(world.redis, key);
    const found = await bus.inspect(stream);
    const [late, workers = assert.fail()] = [...found.groups].toSorted((a, b) => a.name.localeCompare(b.name));
    assert.deepEqual([found.key, found.length, found.firstId, found.lastId], [key, 5, ids[0], ids[4]]);
    assert.deepEqual(
      [late?.name, late?.lag, late?.pending, late?.oldestPendingMs, late?.consumers],
      ['late', 0, 0, null, []],
    );
    assert.deepEqual(
      [workers.name, workers.lag, workers.pending],
      [group, serverUnderTest().version.startsWith('6') ? null : 2, 2],
    );
    assert.equal(workers.lastDeliveredId, ids[2]);
    assert.equal(workers.oldestPendingMs, found.serverTimeMs - Number(ids[1]?.split('-')[0]));
    assert.deepEqual(
      workers.consumers.map(({ name, pending }) => [name, pending]),
      [
        ['ann', 1],
        ['bob', 1],
      ],
    );
    const after = await pendingRows(world.redis, key);
    assert.deepEqual(
      after.map((row) => ({ ...row, idleMs: 0 })),
      before.map((row) => ({ ...row, idleMs: 0 })),
    );
    assert.ok(after.every(({ idleMs }, index) => idleMs >= (before[index]?.idleMs ?? Infinity)));
    await world.redis.xdel(key, ids[3] ?? '');
    assert.equal((await bus.inspect(stream)).groups.find(({ name }) => name === group)?.lag, null);
  });

  it('refuses what it cannot work with', async () => {
    const bus = world.bus();
    assert.throws(
      () => bus.deadLetters('s', { kye: 'x' } as never),
      (error) => ConfigError.is(error, 'unknown-option'),
    );
    await assert.rejects(
      bus.deadLetters('s').list({ limit: 0 }),
      /deadLetters\.list\.limit: expected an integer of at least 1, got 0/,
    );
    assert.throws(() => bus.reap('s', group, { minIdleMs: -1 }), ConfigError);
  });
});
