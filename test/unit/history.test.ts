/** Reading journal entries and merging what several sources know of a message. Reading it all from a server: test/bus/history.test.ts. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Entry } from '../../src/bus/entries';
import { journalEventNames } from '../../src/bus/history/journalEvent';
import type { JournalEvent } from '../../src/bus/history/journalEvent';
import { mergeHistory, unknownEndings } from '../../src/bus/history/mergeHistory';
import type { HistoryFacts } from '../../src/bus/history/mergeHistory';
import { readJournalEntry } from '../../src/bus/history/readJournalEntry';
import { consumerName, entryId, groupName } from '../../src/bus/ids';
import type { Standing } from '../../src/bus/inspect/standing';

const addedMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const id = entryId(`${addedMs}-7`);
const billing = groupName('billing');
const w1 = consumerName('w1');

const journalEntry = (fields: Readonly<Record<string, string>>, own = `${addedMs + 1}-0`): Entry => ({
  id: entryId(own),
  fields: Object.entries(fields).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]),
});

describe('an entry of a journal', () => {
  it('is one event with everything that it tells', () => {
    const read = readJournalEntry(
      journalEntry({
        event: 'failed',
        id,
        group: 'billing',
        consumer: 'w1',
        attempt: '2',
        at: '2026-01-02T03:04:06.007Z',
        durationMs: '41',
        'error.type': 'TypeError',
        'error.message': 'Invalid slug',
        'error.stack': 'at x',
        host: 'h',
        pid: '12',
        version: 'v1',
        'a field': 'of somebody else',
      }),
    );
    assert.deepEqual(read, [
      {
        journalId: `${addedMs + 1}-0`,
        event: 'failed',
        id,
        atMs: addedMs + 1007,
        attempt: 2,
        durationMs: 41,
        group: 'billing',
        consumer: 'w1',
        error: { type: 'TypeError', message: 'Invalid slug', stack: 'at x' },
        host: 'h',
        pid: '12',
        version: 'v1',
      },
    ]);
  });

  it('tells of several ids with one value for all or one for each, and takes a list of another length for not known', () => {
    const tell = (attempt: string, durationMs: string): unknown =>
      readJournalEntry(
        journalEntry({ event: 'acknowledged', id: '5-0,6-0', at: '1767323045000', attempt, durationMs }),
      )?.map((event) => [event.id, event.attempt, event.durationMs]);
    assert.deepEqual(tell('1', '3,4'), [
      ['5-0', 1, 3],
      ['6-0', 1, 4],
    ]);
    assert.deepEqual(tell('', '3,4,5'), [
      ['5-0', undefined, undefined],
      ['6-0', undefined, undefined],
    ]);
    assert.deepEqual(tell('2,', 'x'), [
      ['5-0', 2, undefined],
      ['6-0', undefined, undefined],
    ]);
  });

  it('without a time is from when it was written, and empty fields are as good as missing ones', () => {
    const empty = { group: '', consumer: '', attempt: '', at: '', durationMs: '', 'error.type': '', host: '', pid: '' };
    const [read] = readJournalEntry(journalEntry({ event: 'delivered', id, ...empty })) ?? [];
    assert.deepEqual(read, { journalId: `${addedMs + 1}-0`, event: 'delivered', id, atMs: addedMs + 1 });
  });

  it('is none when its event or its id is not known, whatever else is in it', () => {
    for (const fields of [
      {},
      { event: 'delivered' },
      { id },
      { event: 'exploded', id },
      { event: 'delivered', id: 'x' },
      { event: 'delivered', id: `${id},` },
      { event: 'delivered', id: Array.from({ length: 1001 }, () => '5-0').join(',') },
    ])
      assert.equal(
        readJournalEntry(journalEntry({ at: '1767323045000', ...fields })),
        undefined,
        JSON.stringify(fields),
      );
    assert.equal(
      readJournalEntry(journalEntry({ event: 'delivered', id, at: 'yesterday' }, '5-0')),
      undefined,
      'no time at all',
    );
  });

  it('of any bytes is read without failing, and never at length', () => {
    const name = fc.constantFrom('event', 'id', 'at', 'attempt', 'durationMs', 'error.stack', 'group', 'other');
    const value = fc.oneof(
      fc.constantFrom(...journalEventNames, '5-0', '5-0,6-0', '1', '9'.repeat(40)),
      fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        const fields = pairs.flatMap(([one, other]) => [Buffer.from(one), Buffer.from(other)]);
        for (const event of readJournalEntry({ id: entryId('1-0'), fields }) ?? [])
          assert.ok(
            Number.isFinite(event.atMs) && (event.attempt === undefined || Number.isSafeInteger(event.attempt)),
          );
      }),
    );
    const long = 'x'.repeat(10_000_000);
    const [read] = readJournalEntry(journalEntry({ event: 'failed', id, group: long, 'error.stack': long })) ?? [];
    assert.ok(JSON.stringify(read).length < 20_000);
  });
});

const event = (changes: Partial<JournalEvent>): JournalEvent => ({
  journalId: entryId('1-0'),
  event: 'delivered',
  id,
  atMs: addedMs + 10,
  group: billing,
  consumer: w1,
  attempt: 1,
  ...changes,
});

const standing = (changes: Partial<Extract<Standing, { state: 'pending' | 'gone' }>> = {}): Standing => ({
  group: billing,
  lastDeliveredId: id,
  state: 'pending',
  pending: { id, consumer: w1, idleMs: 5, deliveryCount: 1 },
  lastDeliveredAtMs: addedMs + 10,
  isAheadOfGroup: false,
  ...changes,
});

const facts = (changes: Partial<HistoryFacts> = {}): HistoryFacts => ({
  id,
  hasEntry: true,
  deadLetter: undefined,
  replayOf: undefined,
  standings: [],
  deadLetters: [],
  replays: [],
  journal: [],
  ...changes,
});

const letter = {
  deadId: entryId(`${addedMs + 9000}-0`),
  failure: {
    id,
    entry: id,
    group: billing,
    consumer: w1,
    reason: 'handler-error',
    errorType: 'TypeError',
    errorMessage: 'no',
    deliveries: 3,
    atMs: addedMs + 8000,
    replays: 0,
  },
};

describe('the history of a message', () => {
  const told = (changes: Partial<HistoryFacts>): readonly unknown[] =>
    mergeHistory(facts(changes)).map(({ kind, atMs, attempt, sources }) => [
      kind,
      (atMs ?? NaN) - addedMs,
      attempt,
      ...sources,
    ]);

  it('puts what was recorded in the order of time, and keeps the order of the journal within a millisecond', () => {
    const journal = [
      event({ event: 'acknowledged', atMs: addedMs + 20, consumer: consumerName('w2') }),
      event({ event: 'delivered', atMs: addedMs + 10 }),
      event({ event: 'claimed', atMs: addedMs + 10, attempt: 2 }),
    ];
    assert.deepEqual(told({ journal }), [
      ['added', 0, undefined, 'server'],
      ['delivered', 10, 1, 'recorded'],
      ['claimed', 10, 2, 'recorded'],
      ['acknowledged', 20, 1, 'recorded'],
    ]);
  });

  it('puts nothing before the entry that it happened to because of a rounded time', () => {
    const copy = entryId(`${addedMs + 20_000}-0`);
    const journal = [event({ id: copy, atMs: addedMs + 19_999 })];
    const standings = [standing({ lastDeliveredAtMs: addedMs - 1 })];
    assert.deepEqual(told({ standings, journal, replays: [{ id: copy, replays: 1 }] }), [
      ['added', 0, undefined, 'server'],
      ['pending', -1, 1, 'server'],
      ['replayed', 20_000, 1, 'derived'],
      ['delivered', 19_999, 1, 'recorded'],
    ]);
  });

  it('keeps the order in which one consumer recorded, also when its calls took their time to arrive', () => {
    const journal = [
      event({ event: 'delivered', atMs: addedMs + 15 }),
      event({ event: 'acknowledged', atMs: addedMs + 12 }),
      event({ event: 'delivered', atMs: addedMs + 14, group: groupName('mail') }),
    ];
    assert.deepEqual(told({ journal }), [
      ['added', 0, undefined, 'server'],
      ['delivered', 14, 1, 'recorded'],
      ['delivered', 15, 1, 'recorded'],
      ['acknowledged', 12, 1, 'recorded'],
    ]);
  });

  it('shows a death that was recorded and left a dead letter once, with both sources, the reason and the stack', () => {
    const error = { type: 'TypeError', message: 'no', stack: 'at x' };
    const journal = [event({ event: 'dead-lettered', atMs: addedMs + 8003, attempt: 3, error })];
    const dead = mergeHistory(facts({ journal, deadLetters: [letter] })).filter(({ kind }) => kind === 'dead-lettered');
    assert.deepEqual(dead, [
      {
        kind: 'dead-lettered',
        sources: ['recorded', 'derived'],
        atMs: addedMs + 8000,
        id,
        group: 'billing',
        consumer: 'w1',
        attempt: 3,
        reason: 'handler-error',
        error,
      },
    ]);
  });

  it('keeps deaths apart that are not the same: of another group, another attempt, or long after', () => {
    for (const other of [{ group: groupName('g2') }, { attempt: 2 }, { atMs: addedMs + 100_000 }]) {
      const journal = [event({ event: 'dead-lettered', atMs: addedMs + 8003, attempt: 3, ...other })];
      const dead = mergeHistory(facts({ journal, deadLetters: [letter] })).filter(
        ({ kind }) => kind === 'dead-lettered',
      );
      assert.equal(dead.length, 2, JSON.stringify(other));
    }
  });

  it('marks the delivery that is pending now, and shows the pending entry by itself when the journal does not have it', () => {
    assert.deepEqual(told({ journal: [event({})], standings: [standing()] }), [
      ['added', 0, undefined, 'server'],
      ['delivered', 10, 1, 'recorded', 'server'],
    ]);
    const later = standing({
      lastDeliveredAtMs: addedMs + 60_000,
      pending: { id, consumer: w1, idleMs: 1, deliveryCount: 2 },
    });
    assert.deepEqual(told({ journal: [event({})], standings: [later] }), [
      ['added', 0, undefined, 'server'],
      ['delivered', 10, 1, 'recorded'],
      ['pending', 60_000, 2, 'server'],
    ]);
  });

  it('follows a message through its replays, each once however many groups recorded it', () => {
    const copy = entryId(`${addedMs + 20_000}-0`);
    const replayed = event({ event: 'replayed', atMs: addedMs + 20_000 });
    const journal = [replayed, { ...replayed, group: groupName('g2') }, event({ id: copy, atMs: addedMs + 20_001 })];
    assert.deepEqual(told({ journal, replays: [{ id: copy, replays: 1 }] }), [
      ['added', 0, undefined, 'server'],
      ['replayed', 20_000, 1, 'derived', 'recorded'],
      ['delivered', 20_001, 1, 'recorded'],
    ]);
    const [, seen] = mergeHistory(facts({ journal, replays: [{ id: copy, replays: 1 }] }));
    assert.equal(seen?.copy, copy);
    assert.deepEqual(told({ id: copy, replayOf: { id, replays: 1 }, journal }).slice(0, 2), [
      ['added', 0, undefined, 'derived'],
      ['replayed', 20_000, 1, 'derived', 'recorded'],
    ]);
  });

  it('does not repeat as observed what was recorded', () => {
    const observed = [
      { kind: 'delivered', sources: ['observed'], atMs: addedMs + 500, id, group: billing, consumer: w1, attempt: 1 },
      {
        kind: 'delivered',
        sources: ['observed'],
        atMs: addedMs + 50_000,
        id,
        group: billing,
        consumer: w1,
        attempt: 2,
      },
    ] as const;
    assert.deepEqual(told({ journal: [event({ event: 'claimed' })], observed }), [
      ['added', 0, undefined, 'server'],
      ['claimed', 10, 1, 'recorded', 'observed'],
      ['delivered', 50_000, 2, 'observed'],
    ]);
  });

  it('takes what was seen to be settled for the ending that was recorded meanwhile, and else shows that nobody knows how', () => {
    const settled = { kind: 'settled', sources: ['observed'], id, group: billing, sinceMs: addedMs + 5000 } as const;
    const observed = [{ ...settled, atMs: addedMs + 20_000 }];
    const journal = [event({ event: 'acknowledged', atMs: addedMs + 9000 })];
    assert.deepEqual(told({ journal, observed }).slice(1), [['acknowledged', 9000, 1, 'recorded', 'observed']]);
    const other = [event({ event: 'acknowledged', atMs: addedMs + 9000, group: groupName('mail') })];
    assert.deepEqual(told({ journal: other, observed }).slice(1), [
      ['acknowledged', 9000, 1, 'recorded'],
      ['settled', 20_000, undefined, 'observed'],
    ]);
  });

  it('invents nothing of an entry that is not there, and no time', () => {
    assert.deepEqual(told({ hasEntry: false }), []);
    const odd = entryId('5-0');
    assert.deepEqual(mergeHistory(facts({ id: odd })), [
      { kind: 'added', sources: ['server'], atMs: undefined, id: odd },
    ]);
  });

  it('names the groups of which nobody knows how it ended, and no other', () => {
    const passed = (group: string): Standing => ({ group: groupName(group), lastDeliveredId: id, state: 'passed' });
    const standings = [passed('billing'), passed('mail'), passed('audit'), standing({ group: groupName('busy') })];
    const journal = [event({ event: 'acknowledged' }), event({ event: 'delivered', group: groupName('audit') })];
    const dead = { ...letter, failure: { ...letter.failure, group: groupName('mail') } };
    assert.deepEqual(unknownEndings(facts({ standings, journal, deadLetters: [dead] })), ['audit']);
    const otherCopy = [event({ event: 'acknowledged', id: entryId('6-0') })];
    assert.deepEqual(unknownEndings(facts({ standings: [passed('billing')], journal: otherCopy })), ['billing']);
  });
});
