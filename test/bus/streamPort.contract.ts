// What every StreamPort must do, whatever is behind it. Registered by redisPort.contract.test.ts for real servers, and by the
// embedded engine's tests for its adapter. What depends on a server's version is asserted by capability, or by what it tells.
import assert from 'node:assert/strict';
import { bytesToText } from '../../src/base/byteText';
import type { EntryFields } from '../../src/bus/entries';
import { BusError } from '../../src/bus/errors';
import type { BusErrorReason } from '../../src/bus/errors';
import { consumerName, entryId, groupName, maxEntryId, nextEntryId, streamKey } from '../../src/bus/ids';
import type { EntryId, StreamKey } from '../../src/bus/ids';
import type { Capabilities, KeyspacePort, StreamPort } from '../../src/bus/port';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';

/** A port and what the suite needs besides to put its server into a state. */
export interface PortUnderTest {
  readonly port: StreamPort & KeyspacePort;
  /** Another port to the same server. */
  openAnother(): Promise<StreamPort & KeyspacePort>;
  /** Makes the key hold something that is no stream. */
  makeOtherKey(key: StreamKey): Promise<void>;
  /** How many reads are blocked on the server now. */
  countBlocked(): Promise<number>;
  /** Lets the key expire, far in the future. */
  expire(key: StreamKey): Promise<void>;
  close(): Promise<void>;
}

/** Registers the suite for one kind of port. */
export function describeStreamPort(name: string, open: () => Promise<PortUnderTest>): void {
  describe(name, function () {
    this.timeout(30_000);
    let under: PortUnderTest;
    let port: StreamPort & KeyspacePort;
    let can: Capabilities;
    before(async () => {
      under = await open();
      port = under.port;
      can = await port.capabilities();
    });
    after(() => under.close());

    const group = groupName('workers');
    const ann = consumerName('ann');
    const bob = consumerName('bob');
    const newKey = (): StreamKey => streamKey(uniqueKey());
    const add = async (key: StreamKey, ...ids: string[]): Promise<EntryId[]> => {
      const added = await Promise.all(ids.map((id) => port.add(key, fieldsOf('n', id), { id: entryId(id) })));
      return added.map((id) => id ?? assert.fail('nothing was added'));
    };
    /** A stream whose group has delivered all of the ids to ann. */
    const makePending = async (...ids: string[]): Promise<StreamKey> => {
      const key = newKey();
      await add(key, ...ids);
      await port.createGroup(key, group, entryId('0-0'));
      const read = await port.readGroup(key, group, ann, { count: 1000 });
      assert.equal(read.length, ids.length);
      return key;
    };
    const idsOf = (entries: readonly { readonly id: EntryId }[]): string[] => entries.map(({ id }) => id);
    const pendingRows = (key: StreamKey) => port.pending(key, group, { from: 'min', to: 'max', count: 1000 });

    describe('adding and reading entries', () => {
      it('keeps field names and values as bytes, in order, with duplicates, empty ones and names like __proto__', async () => {
        const key = newKey();
        const fields: EntryFields = [
          ...fieldsOf('a', '1', 'a', '2', '', '', '__proto__', 'x', 'constructor', '007'),
          Buffer.from([0, 0xff, 0x0d, 0x0a]),
          Buffer.from([0xc3, 0x28, 0]),
        ];
        const id = await port.add(key, fields);
        assert.deepEqual(await port.range(key, { from: 'min', to: 'max', count: 10 }), [{ id, fields }]);
      });

      it('keeps keys that are not UTF-8, empty, or hold line breaks', async () => {
        const binary = streamKey(uniqueKey(bytesToText(Buffer.from([0xff, 0, 0x80, 0x0a, 0xc3, 0xa9]))));
        for (const key of [binary, streamKey('')]) {
          const [id] = await add(key, '1-1');
          assert.deepEqual(idsOf(await port.range(key, { from: 'min', to: 'max', count: 1 })), [id]);
          assert.equal(await port.typeOf(key), 'stream');
          assert.equal(await port.delete(key, [entryId('1-1')]), 1);
        }
      });

      it('carries a value of 10 MB', async () => {
        const key = newKey();
        const value = Buffer.alloc(10 * 1024 * 1024, 'redis streams ');
        await port.add(key, [Buffer.from('big'), value]);
        const [entry] = await port.range(key, { from: 'min', to: 'max', count: 1 });
        assert.ok(entry?.fields[1]?.equals(value));
        await port.trim(key, { maxLength: 0, approximate: false });
      });

      it('keeps ids exact beyond 2^53 and up to the largest', async () => {
        const key = newKey();
        const ids = ['9007199254740993-9007199254740993', '18446744073709551614-18446744073709551615', maxEntryId];
        assert.deepEqual(await add(key, ...ids), ids);
        assert.deepEqual(idsOf(await port.range(key, { from: 'min', to: 'max', count: 10 })), ids);
        const info = await port.streamInfo(key);
        assert.equal(info.lastGeneratedId, maxEntryId);
      });

      it('tells when the last possible id is used up, and when an id is not above the last one', async () => {
        const key = newKey();
        await add(key, '5-5');
        await rejects(port.add(key, fieldsOf('a', '1'), { id: entryId('5-5') }), 'id-not-greater');
        await rejects(port.add(key, fieldsOf('a', '1'), { id: entryId('0-0') }), 'id-not-greater');
        await add(key, maxEntryId);
        await rejects(port.add(key, fieldsOf('a', '1')), 'exhausted-ids');
      });

      it('makes a missing stream unless told not to', async () => {
        const key = newKey();
        if (!can.hasAutoClaim) {
          await rejects(port.add(key, fieldsOf('a', '1'), { makeStream: false }), 'unknown-command');
        } else {
          assert.equal(await port.add(key, fieldsOf('a', '1'), { makeStream: false }), null);
        }
        assert.equal(await port.typeOf(key), 'none');
        assert.notEqual(await port.add(key, fieldsOf('a', '1')), null);
        if (can.hasAutoClaim) assert.notEqual(await port.add(key, fieldsOf('a', '1'), { makeStream: false }), null);
      });

      it('trims while adding, and on its own, by length and by id', async () => {
        const key = newKey();
        await add(key, '1-0', '2-0', '3-0', '4-0', '5-0', '6-0');
        await port.add(key, fieldsOf('a', '1'), { id: entryId('7-0'), trim: { maxLength: 5, approximate: false } });
        assert.equal(await port.length(key), 5);
        assert.equal(await port.trim(key, { maxLength: 4, approximate: false }), 1);
        if (can.hasAutoClaim) assert.equal(await port.trim(key, { minId: entryId('6-0'), approximate: false }), 2);
        else await rejects(port.trim(key, { minId: entryId('6-0'), approximate: false }), 'unknown-command');
        // Approximate trims may leave more, but never fewer.
        await port.trim(key, { maxLength: 1, approximate: true });
        assert.ok((await port.length(key)) >= 1);
        assert.equal(await port.trim(newKey(), { maxLength: 0, approximate: false }), 0);
      });

      it('pages both ways, also inside of one millisecond', async () => {
        const key = newKey();
        const ids = await add(key, '7-1', '7-2', '7-3', '7-18446744073709551615', '8-0', '8-1');
        const forward: string[] = [];
        for (let after: EntryId | undefined; ;) {
          const from = after === undefined ? 'min' : { after };
          const page = await port.range(key, { from, to: 'max', count: 2 });
          forward.push(...idsOf(page));
          after = page.at(-1)?.id;
          if (after === undefined) break;
        }
        assert.deepEqual(forward, ids);
        const backward: string[] = [];
        for (let before: EntryId | undefined; ;) {
          const to = before === undefined ? 'max' : { before };
          const page = await port.range(key, { from: 'min', to, count: 4, reverse: true });
          backward.push(...idsOf(page));
          before = page.at(-1)?.id;
          if (before === undefined) break;
        }
        assert.deepEqual(backward, ids.toReversed());
      });

      it('takes both ends of a range as included unless they say otherwise', async () => {
        const key = newKey();
        await add(key, '1-0', '2-0', '3-0');
        const at = (from: EntryId | { after: EntryId }, to: EntryId | { before: EntryId }) =>
          port.range(key, { from, to, count: 10 });
        assert.deepEqual(idsOf(await at(entryId('1-0'), entryId('3-0'))), ['1-0', '2-0', '3-0']);
        assert.deepEqual(idsOf(await at({ after: entryId('1-0') }, { before: entryId('3-0') })), ['2-0']);
        assert.deepEqual(idsOf(await at(entryId('3-0'), entryId('1-0'))), []);
        assert.deepEqual(idsOf(await at({ after: maxEntryId }, maxEntryId)), []);
        assert.deepEqual(idsOf(await at(entryId('0-0'), { before: entryId('0-0') })), []);
      });

      it('finds nothing in a missing stream or with a count of 0', async () => {
        const key = newKey();
        assert.deepEqual(await port.range(key, { from: 'min', to: 'max', count: 5 }), []);
        assert.equal(await port.length(key), 0);
        await add(key, '1-0');
        assert.deepEqual(await port.range(key, { from: 'min', to: 'max', count: 0 }), []);
      });

      it('counts what was really deleted', async () => {
        const key = newKey();
        await add(key, '1-0', '2-0');
        assert.equal(await port.delete(key, ['1-0', '1-0', '9-9'].map(entryId)), 1);
        assert.equal(await port.delete(key, []), 0);
        assert.equal(await port.delete(newKey(), [entryId('1-0')]), 0);
      });

      it('says that a key holds something else', async () => {
        const key = newKey();
        await under.makeOtherKey(key);
        await rejects(port.add(key, fieldsOf('a', '1')), 'wrong-type');
        await rejects(port.length(key), 'wrong-type');
        await rejects(port.range(key, { from: 'min', to: 'max', count: 1 }), 'wrong-type');
        await rejects(port.streamInfo(key), 'wrong-type');
        await rejects(port.acknowledge(key, group, [entryId('1-0')]), 'wrong-type');
      });
    });

    describe('groups', () => {
      it('are created once, on a stream that exists unless asked to make it', async () => {
        const key = newKey();
        await rejects(port.createGroup(key, group, '$'), 'no-key');
        assert.equal(await port.createGroup(key, group, '$', { makeStream: true }), true);
        assert.equal(await port.createGroup(key, group, entryId('0-0')), false);
        assert.deepEqual(idsOf(await port.readGroup(key, group, ann, { count: 5 })), []);
      });

      it('start at the beginning, at the end, or after an id', async () => {
        const key = newKey();
        await add(key, '1-0', '2-0', '3-0');
        const starts = { beginning: entryId('0-0'), end: '$', middle: entryId('2-0') } as const;
        const read: Record<string, string[]> = {};
        for (const [start, at] of Object.entries(starts)) {
          await port.createGroup(key, groupName(start), at);
          read[start] = idsOf(await port.readGroup(key, groupName(start), ann, { count: 10 }));
        }
        assert.deepEqual(read, { beginning: ['1-0', '2-0', '3-0'], end: [], middle: ['3-0'] });
      });

      it('are destroyed once, with their pending entries', async () => {
        const key = await makePending('1-0');
        assert.equal(await port.destroyGroup(key, group), true);
        assert.equal(await port.destroyGroup(key, group), false);
        assert.equal(await port.destroyGroup(newKey(), group), false);
        await rejects(pendingRows(key), 'no-group');
      });

      it('and consumers may have any name', async () => {
        const key = newKey();
        const names = ['', bytesToText(Buffer.from([0xff, 0, 0x0a])), 'ünïcode', '0'];
        await add(key, '1-0');
        for (const each of names) {
          await port.createGroup(key, groupName(each), entryId('0-0'));
          await port.readGroup(key, groupName(each), consumerName(each), { count: 1 });
          const [row] = await port.pending(key, groupName(each), { from: 'min', to: 'max', count: 1 });
          assert.equal(row?.consumer, each);
          assert.deepEqual(
            (await port.consumerInfos(key, groupName(each))).map((info) => info.name),
            [each],
          );
        }
        assert.deepEqual((await port.groupInfos(key)).map((info) => info.name).sort(), [...names].sort());
      });

      it('deliver each entry once, at most as many as asked for', async () => {
        const key = newKey();
        const ids = await add(key, '1-0', '2-0', '3-0');
        await port.createGroup(key, group, entryId('0-0'));
        const first = await port.readGroup(key, group, ann, { count: 2 });
        assert.deepEqual(first, [
          { id: ids[0], fields: fieldsOf('n', '1-0') },
          { id: ids[1], fields: fieldsOf('n', '2-0') },
        ]);
        assert.deepEqual(idsOf(await port.readGroup(key, group, bob, { count: 2 })), ['3-0']);
        assert.deepEqual(await port.readGroup(key, group, bob, { count: 2 }), []);
      });

      it('that are missing are told as such', async () => {
        const key = newKey();
        await add(key, '1-0');
        const absent = groupName('absent');
        await rejects(port.readGroup(key, absent, ann, { count: 1 }), 'no-group');
        await rejects(port.readGroup(newKey(), absent, ann, { count: 1 }), 'no-group');
        await rejects(port.pendingSummary(key, absent), 'no-group');
        await rejects(port.consumerInfos(key, absent), 'no-group');
        await rejects(port.claim(key, absent, ann, [entryId('1-0')], { minIdleMs: 0, count: 'keep' }), 'no-group');
        assert.equal(await port.acknowledge(key, absent, [entryId('1-0')]), 0);
      });
    });

    describe('pending entries', () => {
      it('are acknowledged by anyone, each once', async () => {
        const key = await makePending('1-0', '2-0');
        assert.equal(await port.acknowledge(key, group, ['1-0', '1-0', '9-0'].map(entryId)), 1);
        assert.equal(await port.acknowledge(key, group, ['1-0'].map(entryId)), 0);
        assert.equal(await port.acknowledge(key, group, []), 0);
        assert.deepEqual(idsOf(await pendingRows(key)), ['2-0']);
      });

      it('are listed in pages and by consumer, with owner, idle time and count', async () => {
        const key = await makePending('7-1', '7-2', '7-3');
        await port.claim(key, group, bob, [entryId('7-2')], { minIdleMs: 0, count: 'keep', idleMs: 100_000 });
        const rows = await pendingRows(key);
        assert.deepEqual(
          rows.map(({ id, consumer, deliveryCount }) => [id, consumer, deliveryCount]),
          [
            ['7-1', ann, 1],
            ['7-2', bob, 1],
            ['7-3', ann, 1],
          ],
        );
        assert.ok((rows[1]?.idleMs ?? 0) >= 100_000);
        const page = await port.pending(key, group, { from: { after: entryId('7-1') }, to: 'max', count: 1 });
        assert.deepEqual(idsOf(page), ['7-2']);
        const last = await port.pending(key, group, { from: entryId('7-3'), to: entryId('7-3'), count: 5 });
        assert.deepEqual(idsOf(last), ['7-3']);
        const anns = await port.pending(key, group, { from: 'min', to: 'max', count: 5, consumer: ann });
        assert.deepEqual(idsOf(anns), ['7-1', '7-3']);
        const nobody = consumerName('nobody');
        assert.deepEqual(await port.pending(key, group, { from: 'min', to: 'max', count: 5, consumer: nobody }), []);
        assert.deepEqual(await port.pending(key, group, { from: 'min', to: 'max', count: 0 }), []);
        const idle = port.pending(key, group, { from: 'min', to: 'max', count: 5, minIdleMs: 50_000 });
        if (can.hasAutoClaim) assert.deepEqual(idsOf(await idle), ['7-2']);
        else await rejects(idle, 'unknown-command');
      });

      it('are summed up, by consumer, and empty as nothing', async () => {
        const key = await makePending('1-0', '2-0', '3-0');
        await port.claim(key, group, bob, [entryId('3-0')], { minIdleMs: 0, count: 'keep' });
        assert.deepEqual(await port.pendingSummary(key, group), {
          count: 3,
          firstId: '1-0',
          lastId: '3-0',
          consumers: [
            { name: 'ann', pending: 2 },
            { name: 'bob', pending: 1 },
          ],
        });
        await port.acknowledge(key, group, ['1-0', '2-0', '3-0'].map(entryId));
        assert.deepEqual(await port.pendingSummary(key, group), {
          count: 0,
          firstId: null,
          lastId: null,
          consumers: [],
        });
      });
    });

    describe('claiming', () => {
      it('keeps, raises or sets the count of deliveries', async () => {
        const key = await makePending('1-0', '2-0', '3-0');
        assert.deepEqual(await port.claim(key, group, bob, [entryId('1-0')], { minIdleMs: 0, count: 'keep' }), ['1-0']);
        assert.deepEqual(await port.claim(key, group, bob, [entryId('2-0')], { minIdleMs: 0, count: 'increment' }), [
          '2-0',
        ]);
        assert.deepEqual(await port.claim(key, group, bob, [entryId('3-0')], { minIdleMs: 0, count: { set: 7 } }), [
          '3-0',
        ]);
        assert.deepEqual(
          (await pendingRows(key)).map(({ consumer, deliveryCount }) => [consumer, deliveryCount]),
          [
            [bob, 1],
            [bob, 2],
            [bob, 7],
          ],
        );
      });

      it('takes only what was idle for long enough', async () => {
        const key = await makePending('1-0', '2-0');
        await port.claim(key, group, ann, [entryId('2-0')], { minIdleMs: 0, count: 'keep', idleMs: 100_000 });
        const ids = ['1-0', '2-0'].map(entryId);
        assert.deepEqual(await port.claim(key, group, bob, ids, { minIdleMs: 90_000, count: 'keep' }), ['2-0']);
        assert.deepEqual(await port.claim(key, group, bob, [], { minIdleMs: 0, count: 'keep' }), []);
      });

      it('makes a pending entry only by force, and only of an entry that exists', async () => {
        const key = newKey();
        await add(key, '1-0');
        await port.createGroup(key, group, '$');
        const claim = (id: string, force: boolean) =>
          port.claim(key, group, ann, [entryId(id)], { minIdleMs: 0, count: { set: 1 }, force });
        assert.deepEqual(await claim('1-0', false), []);
        assert.deepEqual(await claim('1-0', true), ['1-0']);
        assert.deepEqual(await claim('2-0', true), []);
        assert.deepEqual(
          (await pendingRows(key)).map(({ id, deliveryCount }) => [id, deliveryCount]),
          [['1-0', 1]],
        );
      });

      it('goes through the list step by step, and tells which messages are gone', async () => {
        const key = await makePending('1-0', '2-0', '3-0', '4-0');
        await port.delete(key, [entryId('2-0')]);
        const step = (cursor: EntryId) => port.autoClaim(key, group, bob, { minIdleMs: 0, cursor, count: 2 });
        if (!can.hasAutoClaim) {
          await rejects(step(entryId('0-0')), 'unknown-command');
          return;
        }
        const claimed: string[] = [];
        const gone: string[] = [];
        for (let cursor: EntryId | undefined = entryId('0-0'); cursor !== undefined;) {
          const reply = await step(cursor);
          for (const { id, fields } of reply.entries) (fields === null ? gone : claimed).push(id);
          gone.push(...reply.deletedIds);
          cursor = reply.cursor === '0-0' ? undefined : reply.cursor;
        }
        assert.deepEqual(claimed, ['1-0', '3-0', '4-0']);
        assert.deepEqual(gone, ['2-0']);
        const rows = await pendingRows(key);
        assert.ok(rows.every(({ consumer }) => consumer === bob));
      });
    });

    describe('information', () => {
      it('about a stream tells its length, groups, ids and first and last entry', async () => {
        const key = await makePending('1-0', '2-0', '3-0');
        await port.delete(key, [entryId('2-0')]);
        const info = await port.streamInfo(key);
        assert.equal(info.length, 2);
        assert.equal(info.groups, 1);
        assert.equal(info.lastGeneratedId, '3-0');
        assert.deepEqual(info.firstEntry, { id: '1-0', fields: fieldsOf('n', '1-0') });
        assert.deepEqual(info.lastEntry, { id: '3-0', fields: fieldsOf('n', '3-0') });
        if (info.entriesAdded !== undefined) {
          assert.equal(info.entriesAdded, 3);
          assert.equal(info.maxDeletedId, '2-0');
        }
        await rejects(port.streamInfo(newKey()), 'no-key');
      });

      it('about an empty stream says that there is no entry', async () => {
        const key = newKey();
        await port.createGroup(key, group, '$', { makeStream: true });
        const info = await port.streamInfo(key);
        assert.equal(info.length, 0);
        assert.equal(info.firstEntry, null);
        assert.equal(info.lastEntry, null);
        assert.equal(info.lastGeneratedId, '0-0');
      });

      it('about groups tells a lag that the server cannot know as null, not as 0', async () => {
        const key = await makePending('1-0', '2-0');
        await add(key, '3-0', '4-0');
        const [before] = await port.groupInfos(key);
        assert.equal(before?.name, group);
        assert.equal(before.consumers, 1);
        assert.equal(before.pending, 2);
        assert.equal(before.lastDeliveredId, '2-0');
        if (before.lag === undefined) return;
        assert.equal(before.lag, 2);
        assert.equal(before.entriesRead, 2);
        await port.delete(key, [entryId('3-0')]);
        const [after] = await port.groupInfos(key);
        assert.equal(after?.lag, null);
        await rejects(port.groupInfos(newKey()), 'no-key');
      });

      it('about consumers tells pending entries and idle times', async () => {
        const key = await makePending('1-0', '2-0');
        const [info] = await port.consumerInfos(key, group);
        assert.equal(info?.name, ann);
        assert.equal(info.pending, 2);
        assert.ok(info.idleMs >= 0);
        if (info.inactiveMs !== undefined) {
          // From 7.2 on a read that finds nothing makes the consumer, which then was never active.
          await port.readGroup(key, group, bob, { count: 1 });
          const infos = await port.consumerInfos(key, group);
          assert.equal(infos.find(({ name: each }) => each === bob)?.inactiveMs, -1);
        }
      });

      it("of the server's clock agrees with the ids that it makes", async () => {
        const key = newKey();
        const before = await port.serverTimeMs();
        const id = (await port.add(key, fieldsOf('a', '1'))) ?? assert.fail('nothing was added');
        const after = await port.serverTimeMs(key);
        const ms = Number(id.split('-')[0]);
        assert.ok(Number.isInteger(before) && before <= ms && ms <= after);
      });

      it('of capabilities is asked once', async () => {
        assert.strictEqual(await port.capabilities(), can);
        assert.notEqual(can.version, '');
        assert.equal(can.role, 'master');
      });
    });

    describe('a reader', () => {
      const isBlocked = (count: number) => eventually(async () => assert.equal(await under.countBlocked(), count));

      it('waits for an entry, and gives up after its time', async () => {
        const key = newKey();
        await port.createGroup(key, group, '$', { makeStream: true });
        const reader = await port.openReader();
        const reading = reader.readGroup(key, group, ann, { count: 10, blockMs: 20_000 });
        await isBlocked(1);
        await add(key, '1-0');
        assert.deepEqual(await reading, [{ id: '1-0', fields: fieldsOf('n', '1-0') }]);
        assert.deepEqual(await reader.readGroup(key, group, ann, { count: 10, blockMs: 1 }), []);
        assert.deepEqual(await reader.readGroup(key, group, ann, { count: 10, blockMs: 0 }), []);
        reader.close();
      });

      it('reads without a group, changing nothing', async () => {
        const key = await makePending('1-0', '2-0');
        const before = await port.groupInfos(key);
        const reader = await port.openReader();
        assert.deepEqual(idsOf(await reader.read(key, entryId('1-0'), { count: 10, blockMs: 0 })), ['2-0']);
        assert.deepEqual(idsOf(await reader.read(key, entryId('0-0'), { count: 1, blockMs: 0 })), ['1-0']);
        const reading = reader.read(key, entryId('2-0'), { count: 10, blockMs: 20_000 });
        await add(key, '3-0');
        assert.deepEqual(idsOf(await reading), ['3-0']);
        const [group0] = await port.groupInfos(key);
        assert.equal(group0?.lastDeliveredId, before[0]?.lastDeliveredId);
        assert.equal(group0?.pending, before[0]?.pending);
        reader.close();
      });

      it('is interrupted at once, also right after the read began, and goes on reading', async () => {
        const key = newKey();
        await port.createGroup(key, group, '$', { makeStream: true });
        const reader = await port.openReader();
        await reader.interrupt();
        for (let round = 0; round < 20; round += 1) {
          const reading = reader.readGroup(key, group, ann, { count: 10, blockMs: 600_000 });
          await reader.interrupt();
          assert.deepEqual(await reading, []);
        }
        await add(key, '1-0');
        assert.deepEqual(idsOf(await reader.readGroup(key, group, ann, { count: 10, blockMs: 600_000 })), ['1-0']);
        reader.close();
      });

      it('that is closed rejects its read, and the next one', async () => {
        const key = newKey();
        await port.createGroup(key, group, '$', { makeStream: true });
        const reader = await port.openReader();
        const reading = rejects(reader.readGroup(key, group, ann, { count: 1, blockMs: 600_000 }), 'closed');
        await isBlocked(1);
        reader.close();
        await reading;
        await rejects(reader.readGroup(key, group, ann, { count: 1, blockMs: 1 }), 'closed');
        reader.close();
        await isBlocked(0);
        await add(key, '1-0');
        assert.deepEqual(idsOf(await port.readGroup(key, group, bob, { count: 1 })), ['1-0']);
      });

      it('refuses a second read at the same time', async () => {
        const key = newKey();
        await add(key, '1-0');
        const reader = await port.openReader();
        const reading = reader.read(key, entryId('1-0'), { count: 1, blockMs: 600_000 });
        await rejects(reader.read(key, entryId('0-0'), { count: 1, blockMs: 0 }), 'invalid-argument');
        await reader.interrupt();
        assert.deepEqual(await reading, []);
        reader.close();
      });

      it('tells that the group is missing', async () => {
        const reader = await port.openReader();
        const key = newKey();
        await rejects(reader.readGroup(key, group, ann, { count: 1, blockMs: 1 }), 'no-group');
        reader.close();
      });

      it('takes over idle entries where the server can', async () => {
        const key = await makePending('1-0', '2-0');
        await add(key, '3-0');
        await port.claim(key, group, ann, [entryId('1-0')], { minIdleMs: 0, count: 'keep', idleMs: 100_000 });
        const options = { count: 10, claimMinIdleMs: 90_000 };
        if (!can.hasReadClaim) {
          await assert.rejects(port.readGroup(key, group, bob, options), BusError);
          return;
        }
        const read = await port.readGroup(key, group, bob, options);
        assert.deepEqual(
          read.map(({ id, before }) => [id, before?.deliveryCount, (before?.idleMs ?? 0) >= 100_000]),
          [
            ['1-0', 1, true],
            ['3-0', 0, false],
          ],
        );
      });
    });

    describe('calls of one tick', () => {
      it('keep their order', async () => {
        const key = newKey();
        const calls: Promise<unknown>[] = [];
        for (let n = 1; n <= 100; n += 1) {
          calls.push(port.add(key, fieldsOf('n', String(n)), { id: entryId(`${n}-0`) }), port.length(key));
        }
        const lengths = (await Promise.all(calls)).filter((_, index) => index % 2 === 1);
        assert.deepEqual(
          lengths,
          Array.from({ length: 100 }, (_, index) => index + 1),
        );
      });

      it('fail one by one', async () => {
        const key = newKey();
        const results = await Promise.allSettled([
          port.add(key, fieldsOf('a', '1'), { id: entryId('2-0') }),
          port.add(key, fieldsOf('a', '1'), { id: entryId('1-0') }),
          port.add(key, fieldsOf('a', '1'), { id: entryId('3-0') }),
        ]);
        assert.deepEqual(
          results.map(({ status }) => status),
          ['fulfilled', 'rejected', 'fulfilled'],
        );
      });
    });

    describe('the keyspace', () => {
      it('is scanned for streams only', async () => {
        const prefix = uniqueKey('scan');
        const streams = Array.from({ length: 25 }, (_, index) => streamKey(`${prefix}:${index}`));
        await Promise.all(streams.map((key) => add(key, '1-0')));
        await under.makeOtherKey(streamKey(`${prefix}:other`));
        const found = new Set<string>();
        let cursor = '0';
        do {
          const page = await port.scanStreams(cursor, { match: `${prefix}:*`, count: 10 });
          for (const key of page.keys) found.add(key);
          cursor = page.cursor;
        } while (cursor !== '0');
        assert.deepEqual([...found].sort(), [...streams].sort());
      });

      it('tells type, expiry and size of a key', async () => {
        const [key, other, missing] = [newKey(), newKey(), newKey()];
        await add(key, '1-0');
        await under.makeOtherKey(other);
        assert.equal(await port.typeOf(key), 'stream');
        assert.equal(await port.typeOf(missing), 'none');
        assert.notEqual(await port.typeOf(other), 'stream');
        assert.equal(await port.timeToLiveMs(key), null);
        assert.equal(await port.timeToLiveMs(missing), null);
        await under.expire(key);
        assert.ok(((await port.timeToLiveMs(key)) ?? 0) > 0);
        assert.ok(((await port.memoryUsage(key)) ?? 0) > 0);
        assert.equal(await port.memoryUsage(missing), null);
        assert.equal(port.slotOf(streamKey('{orders}:x')), 105);
      });
    });

    describe('closing', () => {
      it('rejects what is in flight, what comes later, and the reads of its readers', async () => {
        const own = await under.openAnother();
        const key = newKey();
        const ids = await add(key, '1-0');
        const reader = await own.openReader();
        const reading = rejects(
          reader.read(key, nextEntryId(ids[0] ?? entryId('1-0')) ?? maxEntryId, { count: 1, blockMs: 600_000 }),
          'closed',
        );
        await eventually(async () => assert.equal(await under.countBlocked(), 1));
        const asking = rejects(own.length(key), 'closed');
        await own.close();
        await asking;
        await reading;
        await rejects(own.length(key), 'closed');
        await rejects(own.openReader(), 'closed');
        await own.close();
      });
    });
  });
}

async function rejects(call: Promise<unknown>, reason: BusErrorReason): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof BusError, `not a BusError: ${String(error)}`);
    assert.equal(error.reason, reason, error.message);
    return true;
  });
}

function fieldsOf(...texts: string[]): Buffer[] {
  return texts.map((text) => Buffer.from(text));
}
