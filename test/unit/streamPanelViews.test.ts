/** What the stream panel says of a stream and its entries, from facts as they were read. */
import assert from 'node:assert/strict';
import { englishLocalizer as l10n } from '../../src/base/localize';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';
import type { Entry, GroupInfo, StreamInfo } from '../../src/bus/entries';
import { historyView } from '../../src/panels/history';
import { lagFigure } from '../../src/panels/lagFigure';
import { whyNotPostable } from '../../src/panels/postable';
import { standingViews } from '../../src/panels/standings';
import type { EntryFacts, GroupStanding } from '../../src/panels/streamReader';
import { detailView, overviewView, pageView, payloadText, rowView } from '../../src/panels/streamViews';

const addedMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const id = entryId(`${addedMs}-7`);
const serverTimeMs = addedMs + 3_600_000;
const entryOf = (...parts: (string | Uint8Array)[]): Entry => ({ id, fields: parts.map((part) => Buffer.from(part)) });

function facts(changes: Partial<EntryFacts> = {}): EntryFacts {
  const entry = entryOf('type', 'paid');
  return { id, entry, standings: [], deadLetter: null, replayOf: null, deadLetters: [], serverTimeMs, ...changes };
}

function standing(
  changes: Partial<NonNullable<GroupStanding['pending']>> | null,
  lastDelivered = `${addedMs}-9`,
): GroupStanding {
  const pending = { consumer: consumerName('w1'), idleMs: 60_000, deliveryCount: 1 };
  return {
    group: groupName('billing'),
    lastDeliveredId: entryId(lastDelivered),
    pending: changes && { ...pending, ...changes },
  };
}

describe('where an entry stands', () => {
  const view = (group: GroupStanding, changes: Partial<EntryFacts> = {}): ReturnType<typeof standingViews>[number] => {
    const [only] = standingViews(facts({ standings: [group], ...changes }), l10n);
    assert.ok(only);
    return only;
  };

  it('is pending with owner, count, idle and the last delivery, which is the server time minus idle', () => {
    const { state, consumer, deliveryCount, idleMs, lastDeliveredAtMs } = view(standing({ deliveryCount: 3 }));
    assert.deepEqual(
      [state, consumer?.text, deliveryCount, idleMs, lastDeliveredAtMs],
      ['pending', 'w1', 3, 60_000, serverTimeMs - 60_000],
    );
  });

  it('is gone when it is pending without its message', () => {
    const gone = view(standing({}), { entry: null });
    assert.equal(gone.state, 'gone');
    assert.match(gone.explanation, /deleted or trimmed/);
  });

  it('is passed when the group read past it, and says that nobody can tell how', () => {
    const passed = view(standing(null));
    assert.equal(passed.state, 'passed');
    assert.match(passed.explanation, /acknowledged, read with NOACK, or its consumer was deleted/);
    assert.equal(view(standing(null, id)).state, 'passed', 'also when it is the last delivered itself');
  });

  it('is undelivered after the last delivered id, also within the same millisecond', () => {
    assert.equal(view(standing(null, `${addedMs}-6`)).state, 'undelivered');
    assert.equal(view(standing(null, `${addedMs}-6`), { entry: null }).state, 'absent');
  });

  it('has no owner nor idle time when it was released', () => {
    const released = view(standing({ consumer: consumerName(''), idleMs: -1, deliveryCount: 0 }));
    assert.deepEqual(
      [released.consumer, released.idleMs, released.lastDeliveredAtMs],
      [undefined, undefined, undefined],
    );
    assert.match(released.explanation, /nobody owns it/);
  });

  it('does not take a delivery count for true that cannot be', () => {
    for (const deliveryCount of [Number.MAX_SAFE_INTEGER, -5])
      assert.match(view(standing({ deliveryCount })).explanation, /is no count/);
  });

  it('says that it comes again when the group was set back', () => {
    assert.match(view(standing({}, '0-0')).explanation, /set back/);
  });
});

describe('the delivery history', () => {
  const letter = {
    format: 'own' as const,
    id: entryId(`${addedMs + 9000}-0`),
    originalId: id,
    diedId: id,
    group: groupName('billing'),
    consumer: consumerName('w1'),
    reason: 'handler-error',
    errorType: 'TypeError',
    errorMessage: 'Invalid slug',
    deliveries: 3,
    atMs: addedMs + 8000,
    replays: 0,
  };
  const told = (changes: Partial<EntryFacts>): (readonly unknown[])[] =>
    historyView(facts(changes), l10n).map(({ atMs, title, source, attempt }) => [atMs, title, source, attempt]);

  it('starts with the entry and ends with its last delivery, each with its source', () => {
    assert.deepEqual(told({ standings: [standing({ deliveryCount: 2 })] }), [
      [addedMs, 'Added to the stream', 'server', undefined],
      [serverTimeMs - 60_000, 'Last delivered, still pending', 'server', 2],
    ]);
  });

  it('tells of dead letters that carry the id, with their error', () => {
    const [, dead] = historyView(facts({ deadLetters: [letter] }), l10n);
    assert.deepEqual(dead, {
      atMs: addedMs + 8000,
      title: 'Dead-lettered: handler-error',
      source: 'derived',
      group: { text: 'billing', display: 'billing' },
      consumer: { text: 'w1', display: 'w1' },
      attempt: 3,
      outcome: 'bad',
      error: { type: 'TypeError', message: 'Invalid slug' },
    });
  });

  it('of a dead letter itself starts with the original', () => {
    const original = entryId(`${addedMs - 5000}-0`);
    const died = entryId(`${addedMs - 1000}-0`);
    assert.deepEqual(told({ deadLetter: { ...letter, originalId: original, diedId: died, atMs: addedMs - 10 } }), [
      [addedMs - 5000, `First added as ${original}`, 'derived', undefined],
      [addedMs - 1000, `Replayed as ${died}`, 'derived', undefined],
      [addedMs - 10, 'Dead-lettered: handler-error', 'derived', 3],
    ]);
  });

  it('of a replay says so', () => {
    const original = entryId(`${addedMs - 5000}-0`);
    assert.deepEqual(told({ replayOf: { id: original, replays: 2 } }), [
      [addedMs - 5000, `First added as ${original}`, 'derived', undefined],
      [addedMs, 'Replayed from the dead letters, replay 2', 'derived', undefined],
    ]);
  });

  it('puts what has no time first and invents none', () => {
    const odd = entryId('5-0');
    const [first] = historyView(facts({ id: odd, entry: { id: odd, fields: [] } }), l10n);
    assert.deepEqual([first?.atMs, first?.title], [null, 'Added to the stream']);
    assert.deepEqual(told({ entry: null }), []);
  });
});

describe('the lag of a group', () => {
  const info = (changes: Partial<StreamInfo> = {}): StreamInfo => ({
    length: 5,
    groups: 1,
    lastGeneratedId: entryId('9-0'),
    firstEntry: { id: entryId('5-0'), fields: [] },
    lastEntry: { id: entryId('9-0'), fields: [] },
    ...changes,
  });
  const lag = (group: Partial<GroupInfo>, stream: Partial<StreamInfo> = {}): ReturnType<typeof lagFigure> =>
    lagFigure(
      { name: groupName('g'), consumers: 0, pending: 0, lastDeliveredId: entryId('6-0'), ...group },
      info(stream),
    );

  it('is the server’s when it can be true, and unknown with its reason when not', () => {
    assert.deepEqual(lag({ lag: 3 }), { kind: 'exact', value: 3, source: 'XINFO GROUPS' });
    assert.deepEqual(lag({}), { kind: 'unknown', reason: 'servers before Redis 7.0 do not tell the lag' });
    assert.deepEqual(lag({ lag: null }, { maxDeletedId: entryId('7-0') }), {
      kind: 'unknown',
      reason: 'entries were deleted at or after 6-0',
    });
    assert.match(JSON.stringify(lag({ lag: null }, { maxDeletedId: entryId('2-0') })), /without a count/);
    for (const wrong of [6, -994]) assert.equal(lag({ lag: wrong }).kind, 'unknown');
  });

  it('is exact where ids decide it, whatever the server counts', () => {
    assert.deepEqual(
      [lag({ lag: null, lastDeliveredId: entryId('9-0') })].map((figure) => ('value' in figure ? figure.value : null)),
      [0],
    );
    assert.deepEqual(
      [lag({ lag: 4, lastDeliveredId: entryId('1-0') }, { length: 2 })].map((figure) =>
        'value' in figure ? figure.value : null,
      ),
      [2],
    );
    assert.equal(lag({ lag: null }, { firstEntry: null, lastEntry: null, length: 0 }).kind, 'exact');
  });
});

describe('rows and details', () => {
  it('preview the first fields with a size and a time', () => {
    const row = rowView(entryOf('type', 'paid', 'note', 'a\nb'));
    assert.deepEqual(row, {
      id,
      timeMs: addedMs,
      fieldCount: 2,
      bytes: 15,
      preview: [
        { name: 'type', value: 'paid' },
        { name: 'note', value: 'a\\nb' },
      ],
    });
  });

  it('have no time when the id is none', () => {
    const odd = entryId('18446744073709551615-18446744073709551615');
    assert.equal(rowView({ id: odd, fields: [] }).timeMs, null);
  });

  it('fit into one message for five hundred rows of ten megabytes, and for an entry of thousands of large fields', () => {
    const large = Buffer.alloc(10 * 1024 * 1024, 0xff);
    const row = { id, fields: [Buffer.from('blob'), large, Buffer.from('blob'), large] };
    const page = pageView({ entries: Array.from({ length: 500 }, () => row), hasOlder: true, hasNewer: false });
    assert.equal(whyNotPostable(page), undefined);
    const fields = Array.from({ length: 4000 }, () => large.subarray(0, 100_000));
    const detail = detailView(streamKey('s'), facts({ entry: { id, fields }, standings: [standing({})] }), l10n);
    assert.equal(whyNotPostable(detail), undefined);
    assert.equal(detail.fieldCount, 2000);
  });

  it('give the redis-cli lines for the entry and each group', () => {
    const { commands } = detailView(streamKey('a b'), facts({ standings: [standing({})] }), l10n);
    assert.deepEqual(commands, [`XRANGE "a b" ${id} ${id}`, `XPENDING "a b" billing ${id} ${id} 1`]);
  });

  it('describe the stream with names that are safe to show', () => {
    const connection = { name: 'x', environment: 'local', state: 'connected', isReadOnly: false } as const;
    const view = overviewView(streamKey('a\u202eb'), connection, {
      length: 1,
      firstId: id,
      lastId: id,
      groups: [],
      deadLetters: { key: streamKey('a:dlq'), length: 2 },
      serverTimeMs,
    });
    assert.deepEqual(
      [view.stream.display, view.deadLetters?.stream.text, view.deadLetters?.length],
      ['a\\u202eb', 'a:dlq', 2],
    );
    assert.equal(whyNotPostable(view), undefined);
  });

  it('copy a payload as JSON pairs, so that order, repeats and bytes survive', () => {
    assert.deepEqual(JSON.parse(payloadText(entryOf('b', '1', 'a', '2', 'b', '3'))), [
      ['b', '1'],
      ['a', '2'],
      ['b', '3'],
    ]);
    assert.match(payloadText(entryOf('x', new Uint8Array([0xff]))), /"\\udcff"/);
  });
});
