// Inspecting a real server as the documented read-only user: what is told, how many round trips it takes, that nothing changes.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { bytesToText } from '../../src/base/byteText';
import { deadLetterFields, readDeadLetter } from '../../src/bus/deadLetters';
import { BusError } from '../../src/bus/errors';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';
import type { EntryId, StreamKey } from '../../src/bus/ids';
import { createInspector } from '../../src/bus/inspect/inspector';
import type { Inspector } from '../../src/bus/inspect/inspector';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';

/** The documented ACL of a user who only looks. */
const readOnlyAcl =
  '+@read +@connection -@dangerous +info +command +role +time +cluster|info +cluster|slots +cluster|nodes';

const billing = groupName('billing');
const audit = groupName('audit');
const ann = consumerName('ann');
const bob = consumerName('bob');

describe('inspecting', function () {
  this.timeout(60_000);
  let server: RedisServer;
  let admin: Redis;
  let writer: RedisPort;
  let reader: RedisPort;
  let inspect: Inspector;
  before(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'reader', 'on', '>pw', '~*', ...readOnlyAcl.split(' '));
    writer = await connectRedis({ url: server.url });
    reader = await connectRedis({ url: `redis://reader:pw@127.0.0.1:${server.port}` });
    inspect = createInspector(reader);
    await inspect.capabilities();
  });
  after(async () => {
    admin.disconnect();
    await writer.close();
    await reader.close();
    await server.stop();
  });

  const newKey = (): StreamKey => streamKey(uniqueKey());
  const fieldsOf = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));
  const ids = (...texts: string[]): EntryId[] => texts.map(entryId);
  const add = async (key: StreamKey, ...texts: string[]): Promise<void> => {
    for (const id of ids(...texts)) await writer.add(key, fieldsOf('n', id), { id });
  };
  /** Five entries; billing has read three, acknowledged the first and lost the body of the third; audit has read none. */
  const makeStream = async (): Promise<StreamKey> => {
    const key = newKey();
    await add(key, '1-0', '2-0', '3-0', '4-0', '5-0');
    await writer.createGroup(key, billing, entryId('0-0'));
    await writer.createGroup(key, audit, entryId('0-0'));
    await writer.readGroup(key, billing, ann, { count: 3 });
    await writer.acknowledge(key, billing, ids('1-0'));
    await writer.claim(key, billing, bob, ids('3-0'), { minIdleMs: 0, count: { set: 4 }, idleMs: 60_000 });
    await writer.delete(key, ids('3-0'));
    return key;
  };
  /** Round trips that the work took. */
  const trips = async <T>(most: number, work: Promise<T>): Promise<T> => {
    const before = reader.traffic.flushes;
    const result = await work;
    const taken = reader.traffic.flushes - before;
    assert.ok(taken <= most, `it took ${taken} round trips, not ${most}`);
    return result;
  };

  describe('streams', () => {
    it('are listed with their length, groups and pending entries, in two round trips a step', async () => {
      const key = await makeStream();
      const empty = newKey();
      await writer.createGroup(empty, billing, '$', { makeStream: true });
      await admin.set(uniqueKey('text'), 'x');
      const page = await trips(2, inspect.listStreams({ match: `${key.slice(0, key.lastIndexOf(':'))}*` }));
      const all = new Map((await inspect.listStreams({ count: 10_000 })).streams.map((each) => [each.key, each]));
      assert.deepEqual(page.streams, [{ key, state: 'read', length: 4, groups: 2, pending: 2 }]);
      assert.equal(page.cursor, '0');
      assert.deepEqual(all.get(empty), { key: empty, state: 'read', length: 0, groups: 1, pending: 0 });
    });

    it('that the user may see but not read are named as such, with the reason', async () => {
      const [own, foreign] = [newKey(), newKey()];
      await add(own, '1-0');
      await add(foreign, '1-0');
      await admin.call('ACL', 'SETUSER', 'narrow', 'on', '>pw', `~${own}`, ...readOnlyAcl.split(' '));
      const port = await connectRedis({ url: `redis://narrow:pw@127.0.0.1:${server.port}` });
      const { streams } = await createInspector(port).listStreams({ count: 10_000 });
      assert.equal(streams.find(({ key }) => key === own)?.state, 'read');
      const seen = streams.find(({ key }) => key === foreign);
      // From some version on SCAN does not show keys out of reach at all.
      if (seen !== undefined) {
        assert.equal(seen.state, 'unreadable');
        assert.match(seen.reason, /failed: NOPERM /);
      }
      await port.close();
      await admin.call('ACL', 'LOG', 'RESET');
    });

    it('are described in one round trip', async () => {
      const key = await makeStream();
      await admin.pexpire(key, 1_000_000);
      const described = await trips(1, inspect.describeStream(key));
      assert.equal(described.info.length, 4);
      assert.equal(described.info.lastEntry?.id, '5-0');
      assert.ok((described.timeToLiveMs ?? 0) > 0);
      assert.ok(described.memoryBytes.kind === 'exact' && described.memoryBytes.value > 0);
      await assert.rejects(inspect.describeStream(newKey()), (error) => BusError.is(error, 'no-key'));
    });
  });

  describe('the lag of a group', () => {
    const lagOf = async (key: StreamKey) => {
      const [group] = await trips(2, inspect.describeGroups(key));
      return group?.lag ?? assert.fail('there is no group');
    };
    const countFrom = (key: StreamKey, id: string, cap = 1000) =>
      trips(1, inspect.countUnread(key, entryId(id), { cap }));

    it('is exact where the ids alone decide it, on every server', async () => {
      const key = newKey();
      await add(key, '1-0', '2-0', '3-0');
      await writer.createGroup(key, billing, entryId('0-0'));
      assert.deepEqual(pick(await lagOf(key)), ['exact', 3]);
      await writer.readGroup(key, billing, ann, { count: 10 });
      assert.deepEqual(pick(await lagOf(key)), ['exact', 0]);
      // The server tells null for a deletion of what was delivered last.
      await writer.delete(key, ids('3-0'));
      assert.deepEqual(pick(await lagOf(key)), ['exact', 0]);
      await writer.trim(key, { maxLength: 0, approximate: false });
      assert.deepEqual(pick(await lagOf(key)), ['exact', 0]);
    });

    it('is what is left after a trim past the group, whatever the server counts', async () => {
      const key = newKey();
      await add(key, '1-0', '2-0', '3-0', '4-0', '5-0');
      await writer.createGroup(key, billing, entryId('0-0'));
      await writer.readGroup(key, billing, ann, { count: 1 });
      await writer.trim(key, { maxLength: 2, approximate: false });
      assert.deepEqual(pick(await lagOf(key)), ['exact', 2]);
      const [group] = await inspect.describeGroups(key);
      if (group?.removedUnread.kind !== 'unknown') assert.deepEqual(pick(group?.removedUnread), ['atLeast', 2]);
    });

    it("is the server's in between, and unknown with a reason where it tells none", async () => {
      const key = newKey();
      await add(key, '1-0', '2-0', '3-0', '4-0', '5-0');
      await writer.createGroup(key, billing, entryId('0-0'));
      await writer.readGroup(key, billing, ann, { count: 2 });
      const [info] = await writer.groupInfos(key);
      const before = await lagOf(key);
      if (info?.lag === undefined) assert.equal(before.kind === 'unknown' && before.because, 'not-told-by-this-server');
      else assert.deepEqual(before, { kind: 'exact', value: 3, source: 'XINFO GROUPS' });
      await writer.delete(key, ids('4-0'));
      const after = await lagOf(key);
      assert.equal(after.kind, 'unknown');
      assert.match(after.reason, info?.lag === undefined ? /before Redis 7\.0/ : /deleted at or after 2-0/);
      assert.deepEqual(await countFrom(key, '2-0'), { kind: 'exact', value: 2, source: 'XRANGE' });
      assert.deepEqual(await countFrom(key, '2-0', 1), { kind: 'atLeast', value: 1, source: 'XRANGE' });
    });

    it('is unknown for a group that was set to some id, and when the server miscounts', async () => {
      const key = newKey();
      await add(key, '1-0', '2-0', '3-0', '4-0', '5-0', '6-0');
      await writer.createGroup(key, billing, entryId('2-0'));
      const [info] = await writer.groupInfos(key);
      if (info?.lag === undefined) return;
      const set = await lagOf(key);
      assert.equal(set.kind === 'unknown' && set.because, 'group-set-to-other-id');
      await admin.call('XGROUP', 'SETID', key, billing, '2-0', 'ENTRIESREAD', '1000');
      const wrong = await lagOf(key);
      const [told] = await writer.groupInfos(key);
      // Newer servers see by themselves that the count cannot be.
      if (told?.lag === null) assert.equal(wrong.kind, 'unknown');
      else if ((told?.lag ?? 0) < 0) assert.equal(wrong.kind === 'unknown' && wrong.because, 'miscounted-after-trim');
      else assert.equal(wrong.kind, 'exact');
    });
  });

  describe('groups and consumers', () => {
    it('are described with what is pending and who holds it', async () => {
      const key = await makeStream();
      const groups = await trips(2, inspect.describeGroups(key));
      assert.deepEqual(
        groups.map(({ name, consumers, pending, lastDeliveredId, firstPendingId, holders }) => ({
          name,
          consumers,
          pending,
          lastDeliveredId,
          firstPendingId,
          holders,
        })),
        [
          { name: audit, consumers: 0, pending: 0, lastDeliveredId: '0-0', firstPendingId: null, holders: [] },
          {
            name: billing,
            consumers: 2,
            pending: 2,
            lastDeliveredId: '3-0',
            firstPendingId: '2-0',
            holders: [
              { name: ann, pending: 1 },
              { name: bob, pending: 1 },
            ],
          },
        ],
      );
      await assert.rejects(inspect.describeGroups(newKey()), (error) => BusError.is(error, 'no-key'));
    });

    it('tell idle times by what the server means with them', async () => {
      const key = await makeStream();
      const isNew = (await writer.consumerInfos(key, billing))[0]?.inactiveMs !== undefined;
      const [consumer] = await trips(1, inspect.describeConsumers(key, billing));
      assert.equal(consumer?.name, ann);
      assert.equal(consumer.pending, 1);
      assert.equal(consumer.sinceAttemptMs.kind, isNew ? 'exact' : 'unknown');
      assert.equal(consumer.sinceSuccessMs.kind, 'exact');
      assert.match(JSON.stringify(consumer.sinceSuccessMs), isNew ? /"inactive of/ : /"idle of/);
      if (isNew) {
        await writer.readGroup(key, audit, ann, { count: 10 });
        await writer.readGroup(key, audit, consumerName('late'), { count: 1 });
        const late = (await inspect.describeConsumers(key, audit)).find(({ name }) => name === 'late');
        assert.equal(late?.sinceSuccessMs.kind, 'never');
      }
      const absent = groupName('absent');
      await assert.rejects(inspect.describeConsumers(key, absent), (error) => BusError.is(error, 'no-group'));
    });
  });

  describe('pending entries', () => {
    it('are listed beside their messages, and say when these are gone', async () => {
      const key = await makeStream();
      const page = await trips(2, inspect.pendingPage(key, billing, { count: 10 }));
      assert.deepEqual(
        page.rows.map(({ id, consumer, deliveryCount, entry }) => [id, consumer, deliveryCount, entry?.id]),
        [
          ['2-0', ann, 1, '2-0'],
          ['3-0', bob, 4, undefined],
        ],
      );
      assert.equal(page.next, undefined);
      const [, stuck] = page.rows;
      assert.ok(stuck?.lastDeliveredAtMs !== undefined && stuck.lastDeliveredAtMs <= page.serverTimeMs - 60_000);
      assert.equal(stuck.lastDeliveredAtMs, page.serverTimeMs - stuck.idleMs);
      const bobs = await inspect.pendingPage(key, billing, { count: 10, consumer: bob });
      assert.deepEqual(
        bobs.rows.map(({ id }) => id),
        ['3-0'],
      );
    });

    it('of one millisecond are each listed once', async () => {
      const key = newKey();
      const all = ['7-1', '7-2', '7-3', '7-4', '7-5', '8-0'];
      await add(key, ...all);
      await writer.createGroup(key, billing, entryId('0-0'));
      await writer.readGroup(key, billing, ann, { count: 100 });
      const listed: string[] = [];
      for (let after: EntryId | undefined; ;) {
        const query = { count: 2, ...(after === undefined ? {} : { after }) };
        const page = await inspect.pendingPage(key, billing, query);
        listed.push(...page.rows.map(({ id }) => id));
        after = page.next;
        if (after === undefined) break;
      }
      assert.deepEqual(listed, all);
    });
  });

  describe('entries', () => {
    it('are paged both ways, each once, knowing what lies beyond', async () => {
      const key = newKey();
      const all = ['7-1', '7-2', '7-3', '8-0', '8-1', '9-0', '9-1'];
      await add(key, ...all);
      const summary = async (...args: [Parameters<Inspector['entriesPage']>[1], number]) => {
        const { entries, hasOlder, hasNewer } = await trips(1, inspect.entriesPage(key, ...args));
        return [entries.map(({ id }) => id).join(' '), hasOlder, hasNewer];
      };
      const id = entryId;
      assert.deepEqual(await summary('oldest', 3), ['7-1 7-2 7-3', false, true]);
      assert.deepEqual(await summary({ after: id('7-3') }, 3), ['8-0 8-1 9-0', true, true]);
      assert.deepEqual(await summary({ after: id('9-0') }, 3), ['9-1', true, false]);
      assert.deepEqual(await summary({ after: id('9-1') }, 3), ['', true, false]);
      assert.deepEqual(await summary('newest', 3), ['8-1 9-0 9-1', true, false]);
      assert.deepEqual(await summary({ before: id('8-1') }, 3), ['7-2 7-3 8-0', true, true]);
      assert.deepEqual(await summary({ before: id('7-3') }, 3), ['7-1 7-2', false, true]);
      assert.deepEqual(await summary({ around: id('8-0') }, 3), ['7-3 8-0 8-1', true, true]);
      assert.deepEqual(await summary({ around: id('8-0') }, 4), ['7-2 7-3 8-0 8-1', true, true]);
      assert.deepEqual(await summary({ around: id('7-1') }, 3), ['7-1 7-2 7-3', false, true]);
      assert.deepEqual(await summary({ around: id('9-1') }, 3), ['8-1 9-0 9-1', true, false]);
      assert.deepEqual(await summary({ around: id('8-5') }, 2), ['8-1 9-0', true, true]);
      assert.deepEqual(await summary({ around: id('1-0') }, 100), [all.join(' '), false, false]);
      assert.deepEqual((await inspect.entriesPage(newKey(), 'newest', 3)).entries, []);
    });

    it('are found by their id, in one stream and in all of them', async () => {
      const [key, other] = [newKey(), streamKey(uniqueKey(bytesToText(Buffer.from([0xff, 0]))))];
      const id = entryId('4242-7');
      await add(key, '4242-7');
      await add(other, '4242-6', '4242-7');
      assert.equal((await trips(1, inspect.entryById(key, id)))?.id, id);
      assert.equal(await inspect.entryById(key, entryId('4242-6')), null);
      const found: string[] = [];
      let cursor = '0';
      let streams = 0;
      do {
        const step = await trips(2, inspect.findEntry(id, { cursor, count: 10 }));
        found.push(...step.found.map((one) => one.key));
        streams += step.streams;
        cursor = step.cursor;
      } while (cursor !== '0');
      assert.deepEqual([...new Set(found)].sort(), [key, other].sort());
      assert.ok(streams >= 2);
    });
  });

  describe('where an entry stands', () => {
    const standings = async (key: StreamKey, id: string) => {
      const { standings: all } = await trips(2, inspect.standingOf(key, entryId(id)));
      return Object.fromEntries(all.map((standing) => [standing.group, standing.state]));
    };

    it('is told for every group', async () => {
      const key = await makeStream();
      assert.deepEqual(await standings(key, '1-0'), { billing: 'passed', audit: 'undelivered' });
      assert.deepEqual(await standings(key, '2-0'), { billing: 'pending', audit: 'undelivered' });
      assert.deepEqual(await standings(key, '3-0'), { billing: 'gone', audit: 'absent' });
      assert.deepEqual(await standings(key, '5-0'), { billing: 'undelivered', audit: 'undelivered' });
      await assert.rejects(inspect.standingOf(newKey(), entryId('1-0')), (error) => BusError.is(error, 'no-key'));
    });

    it('tells owner, deliveries and the time of the last one', async () => {
      const key = await makeStream();
      const { entry, standings: all, serverTimeMs } = await inspect.standingOf(key, entryId('3-0'));
      assert.equal(entry, null);
      const gone = all.find(({ group }) => group === billing);
      assert.ok(gone?.state === 'gone');
      assert.equal(gone.pending.consumer, bob);
      assert.equal(gone.pending.deliveryCount, 4);
      assert.ok(gone.pending.idleMs >= 60_000);
      assert.equal(gone.lastDeliveredAtMs, serverTimeMs - gone.pending.idleMs);
      assert.equal(gone.isAheadOfGroup, false);
    });

    it('is pending also when the group was set back to before it', async () => {
      const key = await makeStream();
      await admin.call('XGROUP', 'SETID', key, billing, '0-0');
      const { standings: all } = await inspect.standingOf(key, entryId('2-0'));
      const pending = all.find(({ group }) => group === billing);
      assert.ok(pending?.state === 'pending' && pending.isAheadOfGroup);
    });
  });

  describe('dead letters', () => {
    const failure = {
      stream: streamKey('orders'),
      group: billing,
      consumer: ann,
      reason: 'handler-error',
      errorType: 'TypeError',
      errorMessage: 'No price',
      deliveries: 3,
      atMs: 1_700_000_000_000,
    };

    it('are found under every recognised name and the mapped ones, in two round trips', async () => {
      const key = newKey();
      await add(key, '1-0');
      const [died] = await writer.range(key, { from: 'min', to: 'max', count: 1 });
      assert.ok(died);
      const ours = streamKey(`${key}:dlq`);
      const wrapped = streamKey(`{${key}}:dead`);
      const mapped = newKey();
      for (const dead of [ours, wrapped, mapped])
        await writer.add(dead, deadLetterFields(died, failure), { id: entryId('9-0') });
      await admin.set(`${key}.dlq`, 'no stream');
      const found = await trips(2, inspect.deadLettersOf(key, { mapped: [mapped] }));
      assert.deepEqual(
        found.map(({ key: each, isOurs, length, newest }) => [each, isOurs, length, newest?.failure.reason]),
        [
          [mapped, false, 1, 'handler-error'],
          [ours, true, 1, 'handler-error'],
          [wrapped, false, 1, 'handler-error'],
        ],
      );
      assert.deepEqual(
        found[1]?.newest,
        readDeadLetter({ id: entryId('9-0'), fields: deadLetterFields(died, failure) }),
      );
      assert.deepEqual(await inspect.deadLettersOf(newKey()), []);
    });

    it('are listed newest first, in whichever form they were written', async () => {
      const dead = newKey();
      const died = { id: entryId('1-0'), fields: fieldsOf('a', '1') };
      await writer.add(dead, deadLetterFields(died, failure), { id: entryId('1-0') });
      await writer.add(dead, fieldsOf('originalId', '3-0', 'deliveries', '2', 'reason', 'boom'), {
        id: entryId('1-1'),
      });
      await writer.add(dead, fieldsOf('plain', 'x'), { id: entryId('2-0') });
      const first = await trips(1, inspect.deadLettersPage(dead, { count: 2 }));
      assert.deepEqual(
        first.deadLetters.map(({ deadId, form }) => [deadId, form]),
        [
          ['2-0', 'unknown'],
          ['1-1', 'camelCase'],
        ],
      );
      assert.equal(first.next, '1-1');
      const second = await inspect.deadLettersPage(dead, { before: entryId('1-1'), count: 2 });
      assert.deepEqual(
        second.deadLetters.map(({ deadId, form }) => [deadId, form]),
        [['1-0', 'block']],
      );
      assert.equal(second.next, undefined);
    });

    it('out of reach are left out, and asked for only once', async () => {
      const key = newKey();
      await add(key, '1-0');
      await writer.add(streamKey(`${key}:dlq`), fieldsOf('a', '1'));
      await admin.call('ACL', 'SETUSER', 'narrow', 'on', '>pw', 'resetkeys', `~${key}*`, ...readOnlyAcl.split(' '));
      const port = await connectRedis({ url: `redis://narrow:pw@127.0.0.1:${server.port}` });
      const narrow = createInspector(port);
      assert.deepEqual((await narrow.deadLettersOf(key)).length, 1);
      await admin.call('ACL', 'LOG', 'RESET');
      assert.deepEqual((await narrow.deadLettersOf(key)).length, 1);
      assert.deepEqual(await admin.call('ACL', 'LOG'), []);
      await port.close();
    });
  });

  it('changes nothing, runs only reading commands, and alarms nobody', async () => {
    const key = await makeStream();
    await writer.add(streamKey(`${key}:dlq`), fieldsOf('a', '1'));
    await admin.call('ACL', 'LOG', 'RESET');
    const before = await admin.dumpBuffer(key);
    await admin.config('RESETSTAT');
    const port = await connectRedis({ url: `redis://reader:pw@127.0.0.1:${server.port}`, clientName: 'looking' });
    const look = createInspector(port);
    await look.capabilities();
    await look.serverTimeMs();
    await look.listStreams();
    await look.describeStream(key);
    await look.describeGroups(key);
    await look.countUnread(key, entryId('1-0'));
    await look.describeConsumers(key, billing);
    await look.pendingPage(key, billing, { count: 100 });
    for (const at of ['oldest', 'newest', { around: entryId('2-0') }] as const) await look.entriesPage(key, at, 3);
    await look.entryById(key, entryId('1-0'));
    await look.standingOf(key, entryId('2-0'));
    await look.findEntry(entryId('2-0'));
    await look.deadLettersOf(key);
    await look.deadLettersPage(streamKey(`${key}:dlq`), { count: 10 });
    const tail = await port.openReader();
    await tail.read(key, entryId('5-0'), { count: 1, blockMs: 1 });
    await port.close();
    assert.ok(before.equals(await admin.dumpBuffer(key)), 'the stream and its groups are unchanged');
    assert.deepEqual(await admin.call('ACL', 'LOG'), []);
    const stats = await admin.info('commandstats');
    const ran = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name = '']) => name.replace('|', ' '));
    const allowed = [
      ...['auth', 'hello', 'info', 'time', 'scan', 'type', 'pttl', 'memory', 'memory usage', 'command'],
      ...['command info', 'command docs', 'xlen', 'xrange', 'xrevrange', 'xread', 'xpending', 'xinfo'],
      ...['xinfo stream', 'xinfo groups', 'xinfo consumers'],
      // What this test itself asks.
      ...['config', 'config resetstat', 'dump', 'acl', 'acl log'],
    ];
    assert.deepEqual(
      ran.filter((name) => !allowed.includes(name)),
      [],
    );
    assert.ok(ran.includes('xpending') && ran.includes('scan'));
  });
});

function pick(figure: { kind: string; value?: number } | undefined): unknown[] {
  return [figure?.kind, figure?.value];
}
