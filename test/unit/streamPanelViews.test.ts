/** What the stream panel says of a stream and its entries, from facts as they were read. */
import assert from 'node:assert/strict';
import { englishLocalizer as l10n } from '../../src/base/localize';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';
import type { Entry, PendingEntry } from '../../src/bus/entries';
import type { HistoryEvent } from '../../src/bus/history/historyEvent';
import { journalEventNames } from '../../src/bus/history/journalEvent';
import { mergeHistory } from '../../src/bus/history/mergeHistory';
import type { HistoryFacts } from '../../src/bus/history/mergeHistory';
import type { Standing } from '../../src/bus/inspect/standing';
import { historyLimits, historyView } from '../../src/panels/history';
import { whyNotPostable } from '../../src/panels/postable';
import { standingViews } from '../../src/panels/standings';
import type { EntryFacts } from '../../src/panels/streamReader';
import type { HistoryEventView } from '../../src/protocol/streamPanel';
import { detailView, overviewView, pageView, payloadText, rowView } from '../../src/panels/streamViews';

const addedMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const id = entryId(`${addedMs}-7`);
const serverTimeMs = addedMs + 3_600_000;
const entryOf = (...parts: (string | Uint8Array)[]): Entry => ({ id, fields: parts.map((part) => Buffer.from(part)) });

function facts(changes: Partial<EntryFacts> = {}): EntryFacts {
  const entry = entryOf('type', 'paid');
  const journal = { state: 'none', recordedSinceMs: undefined, malformed: 0, skipped: undefined } as const;
  const unknown = { history: [], journal, unknownEndings: [] };
  return { id, entry, standings: [], deadLetter: null, ...unknown, serverTimeMs, ...changes };
}

/** What several sources know, merged. */
function merged(changes: Partial<HistoryFacts> = {}): readonly HistoryEvent[] {
  return mergeHistory({
    id,
    hasEntry: true,
    standings: [],
    deadLetter: undefined,
    replayOf: undefined,
    deadLetters: [],
    replays: [],
    journal: [],
    ...changes,
  });
}

const common = { group: groupName('billing'), lastDeliveredId: entryId(`${addedMs}-9`) };

function pendingIn(changes: Partial<PendingEntry> = {}, state: 'pending' | 'gone' = 'pending'): Standing {
  const pending = { id, consumer: consumerName('w1'), idleMs: 60_000, deliveryCount: 1, ...changes };
  const lastDeliveredAtMs = pending.idleMs < 0 ? undefined : serverTimeMs - pending.idleMs;
  return { ...common, state, pending, lastDeliveredAtMs, isAheadOfGroup: false };
}

describe('where an entry stands', () => {
  const view = (standing: Standing, hasEntry = true): ReturnType<typeof standingViews>[number] => {
    const [only] = standingViews([standing], hasEntry, l10n);
    assert.ok(only);
    return only;
  };

  it('is pending with owner, count, idle and the last delivery', () => {
    const { state, consumer, deliveryCount, idleMs, lastDeliveredAtMs } = view(pendingIn({ deliveryCount: 3 }));
    assert.deepEqual(
      [state, consumer?.text, deliveryCount, idleMs, lastDeliveredAtMs],
      ['pending', 'w1', 3, 60_000, serverTimeMs - 60_000],
    );
  });

  it('is gone when it is pending without its message', () => {
    const gone = view(pendingIn({}, 'gone'));
    assert.equal(gone.state, 'gone');
    assert.match(gone.explanation, /deleted or trimmed/);
  });

  it('is passed, undelivered or absent, and says what nobody can tell', () => {
    assert.match(
      view({ ...common, state: 'passed' }).explanation,
      /acknowledged, read with NOACK, dropped with its consumer, or skipped because the group began .* behind it/,
    );
    assert.match(view({ ...common, state: 'passed' }, false).explanation, /no such entry, so nobody can tell/);
    assert.match(view({ ...common, state: 'undelivered' }).explanation, /delivered up to \d+-9/);
    assert.match(view({ ...common, state: 'absent' }).explanation, /holds no such entry, so it will not get this id/);
  });

  it('has no owner nor idle time when it was released', () => {
    const released = view(pendingIn({ consumer: consumerName(''), idleMs: -1, deliveryCount: 0 }));
    assert.deepEqual(
      [released.consumer, released.idleMs, released.lastDeliveredAtMs],
      [undefined, undefined, undefined],
    );
    assert.match(released.explanation, /nobody owns it/);
  });

  it('does not take a delivery count for true that cannot be', () => {
    for (const deliveryCount of [Number.MAX_SAFE_INTEGER, -5])
      assert.match(view(pendingIn({ deliveryCount })).explanation, /is no count/);
  });

  it('says that it comes again when the group was set back', () => {
    const standing = pendingIn();
    assert.ok(standing.state === 'pending');
    assert.match(view({ ...standing, isAheadOfGroup: true }).explanation, /set back/);
  });
});

describe('the delivery history', () => {
  const stream = streamKey('orders');
  const failure = {
    id,
    entry: id,
    group: groupName('billing'),
    consumer: consumerName('w1'),
    reason: 'handler-error',
    errorType: 'TypeError',
    errorMessage: 'Invalid slug',
    deliveries: 3,
    atMs: addedMs + 8000,
    replays: 0,
  };
  const letter = { deadId: entryId(`${addedMs + 9000}-0`), failure };
  const view = (changes: Partial<HistoryFacts>): readonly HistoryEventView[] =>
    historyView({ id: changes.id ?? id, history: merged(changes) }, stream, l10n);
  const told = (changes: Partial<HistoryFacts>): (readonly unknown[])[] =>
    view(changes).map(({ atMs, title, sources, attempt, entry }) => [
      atMs,
      entry ? `${title} ${entry.id}` : title,
      sources.join('+'),
      attempt,
    ]);

  it('starts with the entry and ends with its last delivery, each with its source', () => {
    assert.deepEqual(told({ standings: [pendingIn({ deliveryCount: 2 })] }), [
      [addedMs, 'Added to the stream', 'server', undefined],
      [serverTimeMs - 60_000, 'Last delivered, still pending', 'server', 2],
    ]);
  });

  it('tells of dead letters that carry the id, with their error', () => {
    const [, dead] = view({ deadLetters: [letter] });
    assert.deepEqual(dead, {
      atMs: addedMs + 8000,
      title: 'Dead-lettered: handler-error',
      sources: ['derived'],
      group: { text: 'billing', display: 'billing' },
      consumer: { text: 'w1', display: 'w1' },
      attempt: 3,
      outcome: 'bad',
      error: { type: 'TypeError', message: 'Invalid slug' },
    });
  });

  it('tells what a journal recorded: outcome, time that it took or will take, error, and who wrote it', () => {
    const writer = { host: 'h1', pid: '12', version: 'v3' };
    const common = {
      id,
      journalId: entryId('1-0'),
      group: groupName('billing'),
      consumer: consumerName('w1'),
      attempt: 1,
    };
    const error = { type: 'TypeError', message: 'no', stack: 'at x' };
    const journal = [
      { ...common, ...writer, event: 'claimed', atMs: addedMs + 1 },
      { ...common, event: 'failed', atMs: addedMs + 2, durationMs: 41, error },
      { ...common, event: 'retry-scheduled', atMs: addedMs + 3, durationMs: 5000 },
      { ...common, event: 'acknowledged', atMs: addedMs + 4, durationMs: 7, id: entryId('7-0') },
    ] as const;
    const views = view({ journal });
    assert.deepEqual(
      views.map(({ title, outcome, tookMs, delayMs, entry, writer: by }) => [
        title,
        outcome,
        tookMs,
        delayMs,
        entry,
        by,
      ]),
      [
        ['Added to the stream', 'neutral', undefined, undefined, undefined, undefined],
        ['Claimed from another consumer', 'neutral', undefined, undefined, undefined, 'h1, process 12, version v3'],
        ['Failed', 'bad', 41, undefined, undefined, undefined],
        ['Retry scheduled', 'neutral', undefined, 5000, undefined, undefined],
        ['Acknowledged', 'good', 7, undefined, { stream: 'orders', id: '7-0' }, undefined],
      ],
    );
    assert.deepEqual(views[2]?.error, error);
  });

  it('has words of its own for every kind of event', () => {
    const titles = new Set(
      (['pending', 'settled', ...journalEventNames] as const).map(
        (kind) => historyView({ id, history: [{ kind, sources: ['server'], atMs: 1, id }] }, stream, l10n)[0]?.title,
      ),
    );
    assert.equal(titles.size, journalEventNames.length + 2);
  });

  it('of a dead letter itself starts with the original', () => {
    const original = entryId(`${addedMs - 5000}-0`);
    const died = entryId(`${addedMs - 1000}-0`);
    assert.deepEqual(told({ deadLetter: { ...failure, id: original, entry: died, atMs: addedMs - 10, replays: 1 } }), [
      [addedMs - 5000, `First added ${original}`, 'derived', undefined],
      [addedMs - 1000, `Replayed ${died}`, 'derived', undefined],
      [addedMs - 10, `Dead-lettered: handler-error ${died}`, 'derived', 3],
    ]);
  });

  it('of a replay says so', () => {
    const original = entryId(`${addedMs - 5000}-0`);
    assert.deepEqual(told({ replayOf: { id: original, replays: 2 } }), [
      [addedMs - 5000, `First added ${original}`, 'derived', undefined],
      [addedMs, 'Replayed from the dead letters, replay 2', 'derived', undefined],
    ]);
  });

  it('puts what has no time first and invents none', () => {
    const odd = entryId('5-0');
    const [first] = view({ id: odd });
    assert.deepEqual([first?.atMs, first?.title], [null, 'Added to the stream']);
    assert.deepEqual(told({ hasEntry: false }), []);
  });

  it('of very many events shows the first and the newest, and says how many it leaves out and what else is not known', () => {
    const at = (n: number): HistoryEvent => ({ kind: 'failed', sources: ['recorded'], atMs: addedMs + n, id });
    const error = { type: 'E', message: 'm'.repeat(5000), stack: 's'.repeat(50_000) };
    const history = Array.from({ length: 5000 }, (_, n) => ({ ...at(n), ...(n === 3 ? { error } : {}) }));
    const views = historyView({ id, history }, stream, l10n);
    assert.equal(views.length, 300);
    assert.deepEqual([views[0]?.atMs, views.at(-1)?.atMs], [addedMs, addedMs + 4999]);
    assert.ok((views[3]?.error?.stack?.length ?? 0) <= 4096);
    const journal = {
      state: 'read',
      recordedSinceMs: addedMs + 5,
      malformed: 2,
      skipped: { fromMs: 1, toMs: 2 },
    } as const;
    const unknownEndings = Array.from({ length: 50 }, (_, n) => groupName(`g${n}`));
    const limits = historyLimits(facts({ history, journal, unknownEndings }), views.length);
    assert.deepEqual(
      { ...limits, unknownEndings: limits.unknownEndings.length },
      {
        journal: 'read',
        recordedSinceMs: addedMs + 5,
        malformed: 2,
        skipped: { fromMs: 1, toMs: 2 },
        hidden: 4700,
        unknownEndings: 20,
      },
    );
    const older = { ...journal, recordedSinceMs: addedMs - 5 };
    assert.equal(historyLimits(facts({ history: merged(), journal: older }), 1).recordedSinceMs, undefined);
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
    const detail = detailView(streamKey('s'), facts({ entry: { id, fields }, standings: [pendingIn()] }), l10n);
    assert.equal(whyNotPostable(detail), undefined);
    assert.equal(detail.fieldCount, 2000);
  });

  it('give the redis-cli lines for the entry and each group', () => {
    const { commands } = detailView(streamKey('a b'), facts({ standings: [pendingIn()] }), l10n);
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
      memoryBytes: { kind: 'unknown', reason: 'no permission' },
      timeToLiveMs: 5000,
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
