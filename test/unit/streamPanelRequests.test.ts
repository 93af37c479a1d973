/** How the host answers the stream panel: every request, failures as data, and nothing that was not offered. */
import assert from 'node:assert/strict';
import { englishLocalizer as l10n } from '../../src/base/localize';
import { entryId, streamKey } from '../../src/bus/ids';
import type { Entry } from '../../src/bus/entries';
import { connectionView } from '../../src/panels/connectionView';
import { PanelError } from '../../src/panels/panelError';
import { isPanelIdentity, panelKey } from '../../src/panels/panelIdentity';
import type { StreamFacts, StreamReader } from '../../src/panels/streamReader';
import { streamRequests } from '../../src/panels/streamRequests';
import type { EntriesQuery } from '../../src/protocol/streamPanel';

const never = new AbortController().signal;
const id = entryId('1700000000000-0');
const overview: StreamFacts = {
  length: 0,
  firstId: null,
  lastId: null,
  groups: [],
  deadLetters: null,
  memoryBytes: { kind: 'exact', value: 0, source: '' },
  timeToLiveMs: null,
  serverTimeMs: 0,
};

interface Seen {
  readonly copied: string[];
  readonly opened: unknown[];
  readonly ran: string[];
  readonly queries: EntriesQuery[];
  readonly described: string[];
}

function requests(
  reader: Partial<StreamReader> = {},
  key = streamKey('orders'),
): { handlers: ReturnType<typeof streamRequests>; seen: Seen } {
  const seen: Seen = { copied: [], opened: [], ran: [], queries: [], described: [] };
  const missing = (): Promise<never> => Promise.reject(new Error('not asked in this test'));
  const handlers = streamRequests({
    key,
    l10n,
    reader: {
      overview: missing,
      entry: missing,
      fields: missing,
      entries: (query) => {
        seen.queries.push(query);
        return Promise.resolve({ entries: [], hasOlder: false, hasNewer: false });
      },
      ...reader,
    },
    session: () => ({ translations: {}, locale: 'en', selectedId: null, identity: { connectionId: 'c', stream: key } }),
    connection: () => connectionView(undefined, l10n),
    describeFailure: (_, what) => {
      seen.described.push(what);
      const nextStep = { title: 'Show Minimal ACL', command: 'redisStreams.showMinimalAcl' };
      return { reason: 'no-permission', message: `Cannot read ${what}.`, retriable: true, nextStep };
    },
    copyText: (text) => {
      seen.copied.push(text);
      return Promise.resolve();
    },
    openValue: (...value) => {
      seen.opened.push(value);
      return Promise.resolve();
    },
    openPanel: (...panel) => seen.opened.push(panel),
    runCommand: (command) => {
      seen.ran.push(command);
      return Promise.resolve();
    },
    connect: () => {
      seen.opened.push('connect');
      return Promise.resolve();
    },
    act: (action) => {
      seen.opened.push(action);
      return Promise.resolve();
    },
    onSelected: (selected) => seen.opened.push(selected),
  });
  return { handlers, seen };
}

async function refusal(work: () => unknown): Promise<PanelError['data']> {
  try {
    await work();
  } catch (error) {
    assert.ok(PanelError.is(error), String(error));
    return error.data;
  }
  return assert.fail('it was answered');
}

describe('the answers to the stream panel', () => {
  it('never load more than 500 entries, nor fewer than one', async () => {
    const { handlers, seen } = requests();
    for (const count of [1_000_000, 0, -5, 2.7]) await handlers.entries({ at: { kind: 'newest' }, count }, never);
    assert.deepEqual(
      seen.queries.map(({ count }) => count),
      [500, 1, 1, 2],
    );
  });

  it('say what could not be read, and run the next step that they offered but no other command', async () => {
    const { handlers, seen } = requests({ overview: () => Promise.reject(new Error('payload')) });
    assert.equal(
      (await refusal(() => handlers.nextStep({ command: 'redisStreams.showMinimalAcl' }, never))).reason,
      'refused',
    );
    assert.equal((await refusal(() => handlers.overview(null, never))).message, 'Cannot read orders.');
    await handlers.nextStep({ command: 'redisStreams.showMinimalAcl' }, never);
    assert.equal(
      (await refusal(() => handlers.nextStep({ command: 'workbench.action.quit' }, never))).reason,
      'refused',
    );
    assert.deepEqual(seen.ran, ['redisStreams.showMinimalAcl']);
  });

  it('refuse an id that is none', async () => {
    const { handlers } = requests({ entry: () => Promise.resolve(null) });
    const { message } = await refusal(() => handlers.entry({ id: '<b>\u202e'.repeat(1000) }, never));
    assert.ok(message.length < 1000 && !message.includes('\u202e'));
  });

  it('copy name, id, payload, value and lines', async () => {
    const entry: Entry = {
      id,
      fields: ['a', '1', 'blob'].map((text) => Buffer.from(text)).concat(Buffer.from([0xff, 0])),
    };
    const { handlers, seen } = requests({
      fields: () => Promise.resolve(entry),
      entry: () =>
        Promise.resolve({
          id,
          entry,
          standings: [],
          deadLetter: null,
          history: [],
          journal: { state: 'none', recordedSinceMs: undefined, malformed: 0, skipped: undefined },
          unknownEndings: [],
          serverTimeMs: 0,
        }),
    });
    await handlers.copy({ what: 'stream' }, never);
    await handlers.copy({ what: 'id', id }, never);
    await handlers.copy({ what: 'value', id, field: 0 }, never);
    await handlers.copy({ what: 'value', id, field: 1 }, never);
    await handlers.copy({ what: 'commands', id }, never);
    await handlers.copy({ what: 'commands', id: null }, never);
    assert.deepEqual(seen.copied, [
      'orders',
      id,
      '1',
      '"\\xff\\x00"',
      `XRANGE orders ${id} ${id}`,
      'XINFO STREAM orders\nXINFO GROUPS orders\nXREVRANGE orders + - COUNT 100',
    ]);
    for (const field of [2, -1, 1e9]) {
      assert.equal((await refusal(() => handlers.copy({ what: 'value', id, field }, never))).reason, 'refused');
    }
  });

  it('say that an entry is gone instead of copying nothing', async () => {
    const { handlers, seen } = requests({ fields: () => Promise.resolve(null) });
    assert.match(
      (await refusal(() => handlers.copy({ what: 'payload', id }, never))).message,
      /has no entry 1700000000000-0/,
    );
    assert.deepEqual(seen.copied, []);
  });

  it('open dead letters only when the stream has some', async () => {
    const without = requests({ overview: () => Promise.resolve(overview) });
    await without.handlers.overview(null, never);
    assert.equal((await refusal(() => without.handlers.openDeadLetters(null, never))).reason, 'refused');
    const deadLetters = { key: streamKey('orders:dlq'), length: 1 };
    const { handlers, seen } = requests({ overview: () => Promise.resolve({ ...overview, deadLetters }) });
    await handlers.overview(null, never);
    await handlers.openDeadLetters(null, never);
    assert.deepEqual(seen.opened, [['orders:dlq', undefined]]);
  });
});

describe('the identity of a panel', () => {
  it('differs for names that only look alike, and is checked when it comes back', () => {
    const keys = [
      { connectionId: 'a', stream: 'b"]' },
      { connectionId: 'a","b', stream: '' },
      { connectionId: 'a', stream: 'b' },
      { connectionId: 'a', stream: 'b\udcff' },
    ].map(panelKey);
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(isPanelIdentity(JSON.parse('{"connectionId":"a","stream":"b"}')), true);
    for (const other of [null, 1, {}, { connectionId: 1, stream: 'b' }]) assert.equal(isPanelIdentity(other), false);
  });
});

describe('the connection of a panel', () => {
  it('shows a removed one as such, and a failure only where there is one', () => {
    assert.equal(connectionView(undefined, l10n).state, 'disconnected');
    const profile = {
      id: 'c',
      name: 'prod\u202e',
      url: 'redis://x',
      environment: 'production',
      source: 'saved',
    } as never;
    const state = { kind: 'disconnected', byUser: false } as const;
    const { name, problem } = connectionView({ profile, state, isReadOnly: true }, l10n);
    assert.deepEqual([name, problem], ['prod\\u202e', undefined]);
    const byUser = connectionView({ profile, state: { kind: 'disconnected', byUser: true }, isReadOnly: true }, l10n);
    assert.equal(byUser.problem, 'prod\\u202e is disconnected.');
  });
});
