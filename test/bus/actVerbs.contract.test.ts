// Every verb on a real server, through the gate, checked with a plain client. Runs on every server version.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus';
import { lastUndoable, restoreRequestOf } from '../../src/connections/lastAction';
import { acknowledge } from '../../src/connections/verbs/acknowledge';
import { claim } from '../../src/connections/verbs/claim';
import { deleteEntry } from '../../src/connections/verbs/deleteEntry';
import { makeReclaimable, reclaimableIdleMs } from '../../src/connections/verbs/makeReclaimable';
import { moveToDeadLetters } from '../../src/connections/verbs/moveToDeadLetters';
import { publish } from '../../src/connections/verbs/publish';
import { replay } from '../../src/connections/verbs/replay';
import { replayEntry } from '../../src/connections/verbs/replayEntry';
import { replayToGroup } from '../../src/connections/verbs/replayToGroup';
import { restore } from '../../src/connections/verbs/restore';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { openActWorld, seedPending, statuses } from './support/actWorld';
import type { ActWorld } from './support/actWorld';
import { pendingRows } from './support/busWorld';

const binary = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0x22]);

describe('the verbs', () => {
  let server: RedisServer;
  let redis: Redis;
  let world: ActWorld;

  before(async () => {
    server = await startRedis();
    redis = new Redis(server.port, server.host);
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    world = await openActWorld(server.url);
  });
  afterEach(() => {
    world.dispose();
  });

  const pending = async (stream: string): Promise<Record<string, [string, number]>> =>
    Object.fromEntries((await pendingRows(redis, stream)).map((row) => [row.id, [row.consumer, row.deliveries]]));

  it('make entries reclaimable: owner and count stay, and the group reclaims them at once', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 2, { deliveries: 3, idleMs: 5000 });
    const report = await world.act(makeReclaimable, { stream, group, select: { ids }, guard: 'strict' });
    assert.deepEqual(statuses(report), ['done claimed', 'done claimed']);
    for (const row of await pendingRows(redis, stream)) {
      assert.deepEqual([row.consumer, row.deliveries], ['dead', 3]);
      assert.ok(row.idleMs >= reclaimableIdleMs);
    }
  });

  it('claim for a new consumer and keep the count, or count it when that is chosen', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 2, { deliveries: 3 });
    const [first = entryId('1-1'), second = entryId('1-1')] = ids;
    const consumer = consumerName('ana');
    const request = { stream, group, consumer, guard: 'strict' as const };
    const plan = await world.gate.plan(world.connection, claim, {
      ...request,
      select: { ids: [first] },
      count: 'keep',
    });
    assert.equal(plan.preview.consumerExists, false);
    await world.gate.run(plan);
    await world.act(claim, { ...request, select: { ids: [second] }, count: 'increment' });
    assert.deepEqual(await pending(stream), { [first]: ['ana', 3], [second]: ['ana', 4] });
  });

  it('acknowledge entries, and of a consumer all whose message is gone', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 4);
    const [first = '', second = '', third = '', fourth = ''] = ids;
    await redis.xdel(stream, first, second);
    const select = { all: 'gone', consumer: consumerName('dead') } as const;
    const report = await world.act(acknowledge, { stream, group, select, guard: 'strict' });
    assert.deepEqual(
      report.results.map(({ id, outcome }) => [id, outcome]),
      [first, second].map((id) => [id, 'done']),
    );
    await world.act(acknowledge, { stream, group, select: { ids: [entryId(third)] }, guard: 'strict' });
    const rows = await pending(stream);
    assert.equal(rows[third], undefined);
    assert.deepEqual(rows[fourth], ['dead', 1]);
  });

  it('move entries to the dead letters byte for byte, with the reason, and leave the stream as it is', async () => {
    const stream = streamKey(uniqueKey());
    const id = await redis.xadd(stream, '*', 'a', binary, 'a', '', binary, '1');
    await redis.xgroup('CREATE', stream, 'workers', '0');
    await redis.xreadgroup('GROUP', 'workers', 'dead', 'COUNT', 1, 'STREAMS', stream, '>');
    const select = { ids: [entryId(String(id))] };
    const report = await world.act(moveToDeadLetters, {
      stream,
      group: groupName('workers'),
      select,
      guard: 'strict',
      reason: 'no address',
    });
    assert.deepEqual(statuses(report), ['done moved']);
    assert.deepEqual(await pending(stream), {});
    assert.equal(await redis.xlen(stream), 1);
    const [[deadId, fields] = [Buffer.alloc(0), []]] = (await redis.xrangeBuffer(`${stream}:dlq`, '-', '+')) as [
      Buffer,
      Buffer[],
    ][];
    assert.equal(deadId.toString(), report.results[0]?.newId);
    assert.deepEqual(fields.slice(0, 6), [
      Buffer.from('a'),
      binary,
      Buffer.from('a'),
      Buffer.alloc(0),
      binary,
      Buffer.from('1'),
    ]);
    const block = fields.slice(6).map((value) => value.toString());
    assert.deepEqual(block.slice(0, 2), ['dl.id', String(id)]);
    assert.deepEqual(block.slice(10, 12), ['dl.reason', 'manual']);
    assert.deepEqual(block.slice(14, 16), ['dl.error.message', 'no address']);
    assert.equal(fields.length, 6 + 22);
  });

  it('replay a dead letter only to the group in which it died, while its entry exists', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1, { deliveries: 5 });
    await redis.xgroup('CREATE', stream, 'others', '$');
    const moved = await world.act(moveToDeadLetters, { stream, group, select: { ids }, guard: 'strict', reason: '' });
    const deadIds = moved.results.flatMap(({ newId }) => newId ?? []);
    const deadLetters = streamKey(`${stream}:dlq`);
    const report = await world.act(replayToGroup, { deadLetters, stream, group, ids: deadIds });
    assert.deepEqual(statuses(report), ['done returned']);
    assert.deepEqual(await pending(stream), { [String(ids[0])]: ['replay', 0] });
    assert.equal(await redis.xlen(stream), 1);
    assert.equal(await redis.xlen(deadLetters), 0);
  });

  it('replay a dead letter to its stream once: a second replay says as what', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
    const moved = await world.act(moveToDeadLetters, { stream, group, select: { ids }, guard: 'strict', reason: '' });
    const request = {
      deadLetters: streamKey(`${stream}:dlq`),
      target: stream,
      ids: moved.results.flatMap(({ newId }) => newId ?? []),
    };
    const plans = await Promise.all([1, 2].map(() => world.gate.plan(world.connection, replay, request)));
    assert.deepEqual(plans[0]?.preview.receivers, [group]);
    const reports = await Promise.all(plans.map((plan) => world.gate.run(plan)));
    const [once] = reports.flatMap(({ results }) => results).filter(({ outcome }) => outcome === 'done');
    const [twice] = reports.flatMap(({ results }) => results).filter(({ outcome }) => outcome === 'refused');
    assert.deepEqual([once?.status, twice?.status, twice?.newId], ['replayed', 'already-replayed', once?.newId]);
    const entries = await redis.xrange(stream, '-', '+');
    assert.deepEqual(entries.at(-1)?.[1], ['n', '0', 'dl.id', ids[0], 'dl.replays', '1']);
    assert.equal(entries.length, 2);
  });

  it('replay any entry to another stream, once', async () => {
    const { stream, ids } = await seedPending(redis, uniqueKey(), 1);
    const target = streamKey(uniqueKey());
    await redis.xadd(target, '*', 'n', '9');
    const first = await world.act(replayEntry, { stream, target, ids });
    const second = await world.act(replayEntry, { stream, target, ids });
    assert.deepEqual(statuses(first), ['done replayed']);
    assert.deepEqual(statuses(second), ['refused already-replayed']);
    assert.equal(second.results[0]?.newId, first.results[0]?.newId);
    assert.equal(await redis.xlen(target), 2);
    assert.equal(await redis.xlen(stream), 1);
  });

  it('publish an entry without trimming, and make a stream only when that was said', async () => {
    const stream = streamKey(uniqueKey());
    const fields = [Buffer.from('a'), binary, Buffer.from('a'), Buffer.from('2')];
    await assert.rejects(world.act(publish, { stream, fields, makeStream: false }), { reason: 'cancelled' });
    const report = await world.act(publish, { stream, fields, makeStream: true });
    assert.deepEqual(statuses(report), ['done published']);
    const [entry] = (await redis.xrangeBuffer(stream, '-', '+')) as [Buffer, Buffer[]][];
    assert.deepEqual(entry?.[1], fields);
  });

  it('delete an entry only when every group has read and acknowledged it', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 3);
    const [first = '', second = '', third = ''] = ids;
    await redis.xack(stream, group, first, third);
    await redis.xgroup('CREATE', stream, 'late', second);
    const plan = await world.gate.plan(world.connection, deleteEntry, { stream, ids });
    assert.deepEqual(plan.preview.items, [{ id: first }]);
    assert.deepEqual(plan.preview.skipped, [
      { id: second, why: 'pending', detail: group },
      { id: third, why: 'unread', detail: 'late' },
    ]);
    assert.deepEqual(statuses(await world.gate.run(plan)), ['done deleted']);
    assert.deepEqual(
      (await redis.xrange(stream, '-', '+')).map(([id]) => id),
      [second, third],
    );
  });

  it('refuse with the strict guard what changed since it was shown, and let the relaxed one through', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 4);
    const [first = '', second = '', third = '', fourth = ''] = ids;
    const plan = await world.gate.plan(world.connection, acknowledge, {
      stream,
      group,
      select: { ids },
      guard: 'strict',
    });
    await redis.call('XCLAIM', stream, group, 'other', '0', first, 'JUSTID');
    await redis.call('XCLAIM', stream, group, 'dead', '0', second, 'RETRYCOUNT', '2', 'IDLE', '90000', 'JUSTID');
    await redis.call('XCLAIM', stream, group, 'dead', '0', third, 'JUSTID');
    await redis.xack(stream, group, fourth);
    const [one, two, three, four] = statuses(await world.gate.run(plan));
    assert.equal(one, 'refused owner-changed other');
    assert.equal(two, 'refused deliveries-changed 2');
    assert.match(three ?? '', /^refused delivered-later \d+$/);
    assert.equal(four, 'refused not-pending');
    const relaxed = { stream, group, select: { ids: ids.slice(0, 3) }, guard: { atLeast: 2 } };
    assert.deepEqual(statuses(await world.act(acknowledge, relaxed)), [
      'refused too-few-deliveries 1',
      'done acknowledged',
      'refused too-few-deliveries 1',
    ]);
  });

  describe('taken back', () => {
    const undo = async (): Promise<readonly string[]> => {
      const action = lastUndoable(await world.log.recent());
      const request = action && restoreRequestOf(action, Date.now());
      assert.ok(request);
      return statuses(await world.act(restore, request));
    };

    it('an acknowledgement makes the entry pending again with owner and count, unless it is pending already or gone', async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 3, { deliveries: 4, idleMs: 70_000 });
      const [first = '', second = '', third = ''] = ids;
      await world.act(acknowledge, { stream, group, select: { ids }, guard: 'strict' });
      assert.deepEqual(await pending(stream), {});
      await redis.call('XCLAIM', stream, group, 'other', '0', second, 'FORCE', 'RETRYCOUNT', '9', 'JUSTID');
      await redis.xdel(stream, third);
      const action = lastUndoable(await world.log.recent());
      const request = action && restoreRequestOf(action, Date.now());
      assert.ok(request);
      const plan = await world.gate.plan(world.connection, restore, request);
      assert.deepEqual(
        plan.preview.skipped.map(({ id, why }) => [id, why]),
        [
          [second, 'pending'],
          [third, 'gone'],
        ],
      );
      // Also what the preview could not know yet is left alone, on the server.
      const all = {
        ...plan,
        preview: { ...plan.preview, items: request.entries.map((entry) => ({ id: entry.id, entry })) },
      };
      assert.deepEqual(statuses(await world.gate.run(all)), [
        'done restored',
        'refused pending-or-gone',
        'refused pending-or-gone',
      ]);
      assert.deepEqual(await pending(stream), { [first]: ['dead', 4], [second]: ['other', 9] });
      const [row] = await pendingRows(redis, stream);
      assert.ok((row?.idleMs ?? 0) >= 70_000);
    });

    it('a claim gives the entry back with its count', async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1, { deliveries: 2 });
      const consumer = consumerName('ana');
      await world.act(claim, { stream, group, select: { ids }, guard: 'strict', consumer, count: 'increment' });
      assert.deepEqual(await undo(), ['done restored']);
      assert.deepEqual(await pending(stream), { [String(ids[0])]: ['dead', 2] });
    });

    it('a move takes the entry back from the dead letters with owner and count', async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1, { deliveries: 7 });
      await world.act(moveToDeadLetters, { stream, group, select: { ids }, guard: 'strict', reason: 'oops' });
      assert.deepEqual(await undo(), ['done restored']);
      assert.deepEqual(await pending(stream), { [String(ids[0])]: ['dead', 7] });
      assert.equal(await redis.xlen(`${stream}:dlq`), 0);
    });
  });
});
