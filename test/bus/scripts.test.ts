/** The scripts on a real server: guards, racing actors, wide entries, ids and counts beyond 2^53, OOM, wrong types. */
import assert from 'node:assert/strict';
import {
  consumerName,
  deadLetter,
  deleteEntries,
  entryId,
  groupName,
  guardedAcknowledge,
  guardedClaim,
  handOver,
  heartbeat,
  minEntryId,
  readDeadLetter,
  reapConsumer,
  reclaim,
  release,
  replay,
  replayToGroup,
  safeTrim,
  streamKey,
} from '../../src/bus';
import type { DeadLetterItem, EntryId, PendingGuard, StreamKey } from '../../src/bus';
import { luaIso } from '../../src/bus/scripts/lua';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, age, group as groupText, pendingRows, readAs, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

const group = groupName(groupText);
const biggest = '18446744073709551615';

describe('the scripts', () => {
  let world: BusWorld;
  let port: RedisPort;
  before(async () => {
    world = await startBusWorld();
    port = await connectRedis({ url: world.server.url });
  });
  after(async () => {
    await port.close();
    await world.stop();
  });

  async function pendingStream(count: number, consumer = 'a'): Promise<{ stream: StreamKey; ids: EntryId[] }> {
    const stream = streamKey(uniqueKey());
    const ids = await addNumbered(world.redis, stream, count);
    await readAs(world.redis, stream, consumer, count);
    return { stream, ids };
  }

  const item = (id: EntryId, guard: PendingGuard = {}): DeadLetterItem => ({
    id,
    guard,
    reason: 'manual',
    errorType: '',
    errorMessage: '',
  });

  const statuses = (results: readonly { readonly status: string }[]): string[] => results.map(({ status }) => status);

  const move = async (stream: StreamKey, items: readonly DeadLetterItem[]): Promise<string[]> => {
    const reply = await port.run(deadLetter, { source: stream, target: streamKey(`${stream}:dlq`), group, items });
    return reply.status === 'done' ? statuses(reply.results) : [reply.status];
  };

  it('change an entry only while its guard holds, and say what they found instead', async () => {
    const { stream, ids } = await pendingStream(1);
    const [id = assert.fail()] = ids;
    const now = await port.serverTimeMs();
    const refused: readonly [PendingGuard, string][] = [
      [{ owner: consumerName('b') }, 'owner-changed'],
      [{ owner: consumerName('') }, 'owner-changed'],
      [{ minIdleMs: 60_000 }, 'too-fresh'],
      [{ deliveries: { exactly: 2 } }, 'deliveries-changed'],
      [{ deliveries: { atLeast: 2 } }, 'too-few-deliveries'],
      [{ deliveredUntilMs: now - 60_000 }, 'delivered-later'],
    ];
    for (const [guard, status] of refused) {
      assert.deepEqual(await move(stream, [item(id, guard)]), [status]);
      const items = [{ id, guard }];
      assert.deepEqual(statuses(await port.run(guardedAcknowledge, { stream, group, items })), [status]);
      assert.deepEqual(statuses(await port.run(guardedClaim, { stream, group, items, count: 'keep' })), [status]);
    }
    const guard: PendingGuard = {
      owner: consumerName('a'),
      minIdleMs: 0,
      deliveries: { exactly: 1 },
      deliveredUntilMs: now + 60_000,
    };
    assert.deepEqual(await move(stream, [item(id, guard), item(id, guard)]), ['moved', 'not-pending']);
    assert.deepEqual(await port.run(guardedAcknowledge, { stream, group, items: [{ id, guard: {} }] }), [
      { status: 'not-pending' },
    ]);
  });

  it('compare counts beyond 2^53 as the server shows them, and ids of 64 bits exactly', async () => {
    const stream = streamKey(uniqueKey());
    const low = entryId(`${biggest}-9007199254740992`);
    const high = entryId(`${biggest}-9007199254740993`);
    await world.redis.xadd(stream, low, 'n', '0');
    await world.redis.xadd(stream, high, 'n', '1');
    await readAs(world.redis, stream, 'a', 2);
    await world.redis.call('XCLAIM', stream, group, 'a', '0', low, 'RETRYCOUNT', '9223372036854775807', 'JUSTID');
    const [row = assert.fail()] = await port.pending(stream, group, { from: low, to: low, count: 1 });
    const exactly = { deliveries: { exactly: row.deliveryCount } };
    assert.deepEqual(await move(stream, [item(low, { deliveries: { exactly: 1 } }), item(low, exactly)]), [
      'deliveries-changed',
      'moved',
    ]);
    const deleted = await port.run(deleteEntries, { stream, ids: [low, high] });
    assert.deepEqual(deleted, [{ status: 'deleted' }, { status: 'pending', group }]);
    const trimmed = await port.run(safeTrim, { stream, policy: { maxLength: 0 } });
    assert.deepEqual(trimmed, { status: 'trimmed', removed: 0, more: false, heldBy: { group, from: high } });
    const [[, fields] = assert.fail()] = await world.redis.xrange(`${stream}:dlq`, '-', '+');
    assert.equal(fields[fields.indexOf('dl.entry') + 1], low);
  });

  it('move an entry byte for byte, carry its first id over replays, and leave a field of the same name alone (I8)', async () => {
    const stream = streamKey(uniqueKey());
    const target = streamKey(`${stream}:dlq`);
    const odd = Buffer.from([0, 0xff, 0x0d, 0x0a]);
    const first = String(await world.redis.xadd(stream, '*', 'dl.id', 'mine', odd, odd, 'a', '1', 'a', '2'));
    let id = entryId(first);
    for (let replays = 0; replays < 3; replays += 1) {
      await readAs(world.redis, stream, 'a', 10);
      assert.deepEqual(await move(stream, [item(id)]), ['moved']);
      const [entry = assert.fail()] = await port.range(target, { from: 'min', to: 'max', count: 1 });
      const letter = readDeadLetter(entry);
      assert.deepEqual(letter.fields.map(String), ['dl.id', 'mine', String(odd), String(odd), 'a', '1', 'a', '2']);
      assert.deepEqual(letter.fields[2], odd);
      assert.equal(letter.failure.id, first);
      assert.equal(letter.failure.entry, id);
      assert.equal(letter.failure.replays, replays);
      const reply = await port.run(replay, {
        deadLetters: target,
        target: stream,
        makeStream: false,
        items: [{ deadId: entry.id }],
      });
      assert.ok(reply.status === 'done' && reply.results[0]?.status === 'replayed');
      id = reply.results[0].id;
      const [again = assert.fail()] = await port.range(stream, { from: id, to: id, count: 1 });
      assert.deepEqual(again.fields.slice(-4).map(String), ['dl.id', first, 'dl.replays', String(replays + 1)]);
    }
  });

  it('tell the time of a dead letter as every calendar does', async () => {
    const { stream, ids } = await pendingStream(1);
    const before = await port.serverTimeMs();
    await move(
      stream,
      ids.map((id) => item(id)),
    );
    const after = await port.serverTimeMs();
    const [entry = assert.fail()] = await port.range(streamKey(`${stream}:dlq`), { from: 'min', to: 'max', count: 1 });
    const at = readDeadLetter(entry).failure.atMs ?? NaN;
    assert.ok(at >= before && at <= after, `${at} is between ${before} and ${after}`);
    const script = `${luaIso} local all = {} for i = 1, #ARGV do all[i] = iso(tonumber(ARGV[i])) end return all`;
    const times = [0, 951_782_399_999, 951_868_800_000, 4_107_542_400_000, 253_402_300_799_999];
    for (let n = 0; n < 500; n += 1) times.push(Math.floor(Math.random() * 4e12));
    assert.deepEqual(
      await world.redis.eval(script, 0, ...times),
      times.map((ms) => new Date(ms).toISOString()),
    );
  });

  it('let exactly one of many racing movers and replayers win each entry (I8)', async () => {
    const { stream, ids } = await pendingStream(300);
    const target = streamKey(`${stream}:dlq`);
    const ports = await Promise.all([1, 2, 3, 4].map(() => connectRedis({ url: world.server.url })));
    try {
      const moved = await Promise.all(
        ports.flatMap((own) =>
          [0, 100, 200].map((from) =>
            own.run(deadLetter, {
              source: stream,
              target,
              group,
              items: ids.slice(from, from + 100).map((id) => item(id)),
            }),
          ),
        ),
      );
      const won = moved.flatMap((reply) => (reply.status === 'done' ? statuses(reply.results) : []));
      assert.equal(won.filter((status) => status === 'moved').length, 300);
      assert.equal(won.filter((status) => status === 'not-pending').length, 900);
      assert.equal(await world.redis.xlen(target), 300);
      const dead = (await port.range(target, { from: 'min', to: 'max', count: 1000 })).map(({ id }) => ({
        deadId: id,
      }));
      const replayed = await Promise.all(
        ports.flatMap((own) =>
          [0, 100, 200].map((from) =>
            own.run(replay, {
              deadLetters: target,
              target: stream,
              makeStream: false,
              items: dead.slice(from, from + 100),
            }),
          ),
        ),
      );
      const results = replayed.flatMap((reply) => (reply.status === 'done' ? reply.results : []));
      const published = results.filter(({ status }) => status === 'replayed');
      assert.equal(published.length, 300);
      const again = results.flatMap((result) => (result.status === 'already-replayed' ? [result.id] : []));
      assert.equal(again.length, 900);
      assert.deepEqual(new Set(again), new Set(published.map((result) => ('id' in result ? result.id : ''))));
      assert.equal(await world.redis.xlen(stream), 600);
    } finally {
      await Promise.all(ports.map((own) => own.close()));
    }
  });

  it('refuse a target that is no stream, an entry that is gone, one too wide, and a stream that is not there', async () => {
    const { stream, ids } = await pendingStream(2);
    await world.redis.set(`${stream}:dlq`, 'text');
    assert.deepEqual(
      await move(
        stream,
        ids.map((id) => item(id)),
      ),
      ['bad-target'],
    );
    await world.redis.del(`${stream}:dlq`);
    await world.redis.xdel(stream, ids[0] ?? '');
    assert.deepEqual(
      await move(
        stream,
        ids.slice(0, 1).map((id) => item(id)),
      ),
      ['gone'],
    );
    const wide = await world.redis.xadd(stream, '*', ...Array.from({ length: 8000 }, (_, n) => String(n)));
    await readAs(world.redis, stream, 'a', 1);
    assert.deepEqual(await move(stream, [item(entryId(String(wide)))]), ['too-wide']);
    assert.equal((await pendingRows(world.redis, stream)).length, 3, 'nothing was changed');
    const missing = streamKey(uniqueKey());
    const items = [{ deadId: entryId('1-1') }];
    const args = { deadLetters: streamKey(`${stream}:dlq`), target: missing, items };
    assert.deepEqual(await port.run(replay, { ...args, makeStream: false }), { status: 'no-stream' });
    assert.deepEqual(await port.run(replay, { ...args, makeStream: true }), {
      status: 'done',
      results: [{ status: 'gone' }],
    });
  });

  it('leave no pending entry behind in groups that read the dead letters', async () => {
    const { stream, ids } = await pendingStream(1);
    const target = streamKey(`${stream}:dlq`);
    await move(
      stream,
      ids.map((id) => item(id)),
    );
    await readAs(world.redis, target, 'auditor', 1);
    const [[deadId] = assert.fail()] = await world.redis.xrange(target, '-', '+');
    const items = [{ deadId: entryId(deadId) }];
    await port.run(replay, { deadLetters: target, target: stream, makeStream: false, items });
    assert.deepEqual(await pendingRows(world.redis, target), []);
  });

  it('give a dead letter back to its own group only, while the entry is there and read', async () => {
    const { stream, ids } = await pendingStream(2);
    const deadLetters = streamKey(`${stream}:dlq`);
    await world.redis.xgroup('CREATE', stream, 'others', '$');
    await move(
      stream,
      ids.map((id) => item(id)),
    );
    const dead = (await world.redis.xrange(deadLetters, '-', '+')).map(([id]) => entryId(id));
    await world.redis.xdel(stream, ids[1] ?? '');
    const back = (name: string, index: number): Promise<readonly { readonly status: string }[]> =>
      port.run(replayToGroup, {
        deadLetters,
        stream,
        group: groupName(name),
        consumer: consumerName('replay'),
        idleMs: 100_000,
        items: [{ deadId: dead[index] ?? minEntryId, entry: ids[index] ?? minEntryId }],
      });
    assert.deepEqual(await back('nobody', 0), [{ status: 'no-group' }]);
    assert.deepEqual(await back(groupText, 1), [{ status: 'original-gone' }]);
    assert.deepEqual(await back(groupText, 0), [{ status: 'returned' }]);
    assert.deepEqual(await back(groupText, 0), [{ status: 'gone' }]);
    const [row = assert.fail()] = await pendingRows(world.redis, stream);
    assert.deepEqual([row.id, row.consumer, row.deliveries], [ids[0], 'replay', 0]);
    assert.ok(row.idleMs >= 100_000);
    assert.deepEqual(await pendingRows(world.redis, stream, 'others'), []);
  });

  it('never let a former owner take an entry back, wind it or give it away (I12)', async () => {
    const { stream, ids } = await pendingStream(1);
    const [id = assert.fail()] = ids;
    await world.redis.xclaim(stream, group, 'new owner', 0, id);
    const former = { stream, group, consumer: consumerName('a') };
    assert.deepEqual(await port.run(heartbeat, { ...former, ids }), [
      { id, status: 'owner-changed', owner: 'new owner' },
    ]);
    assert.deepEqual(await port.run(release, { ...former, ids, idleMs: 5000 }), [
      { status: 'owner-changed', owner: 'new owner' },
    ]);
    const [row = assert.fail()] = await pendingRows(world.redis, stream);
    assert.deepEqual([row.consumer, row.deliveries], ['new owner', 2]);
    assert.ok(row.idleMs < 5000);
  });

  it('take nothing over twice, whoever asks at the same time', async () => {
    const { stream, ids } = await pendingStream(200, 'dead');
    await age(world.redis, stream, 'dead', ids);
    const pages = await Promise.all(
      ['b', 'c', 'd'].map((name) =>
        port.run(reclaim, {
          stream,
          group,
          consumer: consumerName(name),
          maxDeliveries: 3,
          minIdleMs: 6000,
          from: minEntryId,
          scan: 200,
          limit: 200,
          busy: name === 'b' ? ids.slice(0, 1) : [],
        }),
      ),
    );
    const taken = pages.map((page) => page.taken.length);
    assert.deepEqual(taken, [199, 1, 0]);
    assert.ok(
      pages
        .flatMap((page) => page.taken)
        .every(({ deliveries, previousOwner }) => deliveries === 2 && previousOwner === 'dead'),
    );
  });

  it('remove a consumer only when it owns nothing and is quiet, and hand over first what it owns', async () => {
    const { stream, ids } = await pendingStream(150);
    const consumer = consumerName('a');
    const reap = (minIdleMs: number): Promise<{ readonly status: string }> =>
      port.run(reapConsumer, { stream, group, consumer, minIdleMs });
    assert.deepEqual(await reap(0), { status: 'has-pending', pending: 150 });
    const first = await port.run(handOver, {
      stream,
      group,
      from: consumer,
      to: consumerName('b'),
      minIdleMs: 0,
      start: minEntryId,
      count: 100,
    });
    assert.deepEqual(first, { moved: 100, gone: 0, kept: 0, scannedTo: ids[99] });
    assert.deepEqual(await reap(0), { status: 'has-pending', pending: 50 });
    await world.redis.xack(stream, group, ...ids);
    assert.equal((await reap(60_000)).status, 'too-fresh');
    assert.deepEqual(await reap(0), { status: 'reaped' });
    assert.deepEqual(await reap(0), { status: 'missing' });
  });

  it('delete only what every group has read and acknowledged', async () => {
    const { stream, ids } = await pendingStream(2);
    await world.redis.xgroup('CREATE', stream, 'slow', '0');
    const [first = assert.fail(), second = assert.fail()] = ids;
    await world.redis.xack(stream, group, first);
    assert.deepEqual(await port.run(deleteEntries, { stream, ids: [first, second] }), [
      { status: 'unread', group: 'slow' },
      { status: 'unread', group: 'slow' },
    ]);
    await world.redis.xgroup('SETID', stream, 'slow', second);
    assert.deepEqual(await port.run(deleteEntries, { stream, ids: [first, first, second] }), [
      { status: 'deleted' },
      { status: 'missing' },
      { status: 'pending', group },
    ]);
  });

  it('change nothing when there is no memory for the copy', async () => {
    const { stream, ids } = await pendingStream(3);
    await world.redis.config('SET', 'maxmemory', '1');
    try {
      await assert.rejects(
        move(
          stream,
          ids.map((id) => item(id)),
        ),
        (error) => error instanceof Error && 'reason' in error && error.reason === 'out-of-memory',
      );
    } finally {
      await world.redis.config('SET', 'maxmemory', '0');
    }
    assert.equal((await pendingRows(world.redis, stream)).length, 3);
    assert.equal(await world.redis.exists(`${stream}:dlq`), 0);
  });
});
