import type { Localizer } from '../base/localize';
import type { EntryId, GroupInfo, PendingEntry, StreamKey } from '../bus';
import type { Inspector } from '../connections/inspector';
import type { LiveConnection, ReadOptions } from '../connections/liveConnection';
import { reasonOf } from '../connections/describeFailure';
import type { Figure } from '../protocol/streamPanel';
import { entryTimeMs } from './entryTime';
import type { DeadLetterFacts, DeadLettersFacts, GroupFacts, StreamFacts, StreamFigures } from './facts';
import { compareText } from './folders';
import type { FoundEntry, ListedStreams, ListOptions, TreeReads } from './reads';

/** How many keys a step of a scan passes: few steps, and none that holds a server up (5.5 ms over a million keys). */
const scanCount = 1000;

/** So many steps are nothing: a keyspace of 20,000 keys is always scanned to its end, so that the rows are the first by name. */
const cheapSteps = 20;

/** How many steps are made for a page where streams are rare. */
const maxSteps = 100;

/** Reads a connection's tree with the bus's inspecting functions. What one tick asks travels in one round trip. */
export function createInspectReads(connection: LiveConnection, l10n: Localizer): TreeReads {
  const read = <T>(work: (inspect: Inspector, signal: AbortSignal) => Promise<T>, options?: ReadOptions): Promise<T> =>
    connection.read(work, options);
  return {
    listStreams: (options) => read((inspect) => listStreams(inspect, options)),
    describeStreams: (keys) => read((inspect) => describeStreams(inspect, keys)),
    streamChildren: (key) => read((inspect) => streamChildren(inspect, key, l10n)),
    consumers: (key, group) =>
      read(async (inspect) => {
        const [serverTimeMs, consumers] = await Promise.all([
          inspect.serverTimeMs(),
          inspect.consumerInfos(key, group),
        ]);
        return consumers.map((consumer) => ({ ...consumer, serverTimeMs }));
      }),
    pending: (key, group, consumer, count) =>
      read(async (inspect) => {
        const query = { from: 'min', to: 'max', count: count + 1, consumer } as const;
        const [serverTimeMs, rows] = await Promise.all([inspect.serverTimeMs(), inspect.pending(key, group, query)]);
        const shown = rows.slice(0, count);
        const gone = await findGone(inspect, key, shown);
        return {
          items: shown.map((row) => ({ ...row, serverTimeMs, isGone: gone.has(row.id) })),
          hasMore: rows.length > count,
        };
      }),
    deadLetters: (key, count) =>
      read(async (inspect) => {
        const query = { from: 'min', to: 'max', count: count + 1, reverse: true } as const;
        const [serverTimeMs, entries] = await Promise.all([inspect.serverTimeMs(), inspect.range(key, query)]);
        const items = entries.slice(0, count).map((entry): DeadLetterFacts => {
          const { failure } = inspect.readDeadLetter(entry);
          return { ...failure, id: entry.id, originalId: failure.id, serverTimeMs };
        });
        return { items, hasMore: entries.length > count };
      }),
    payload: (key, id) =>
      read(async (inspect) => {
        const [entry] = await inspect.range(key, { from: id, to: id, count: 1 });
        return entry?.fields;
      }),
    findEntry: (id, signal) => read((inspect) => findEntry(inspect, id, signal), { signal, lane: 'bulk' }),
  };
}

async function listStreams(inspect: Inspector, { match, count, pages }: ListOptions): Promise<ListedStreams> {
  const keys = new Set<StreamKey>();
  let cursor = '0';
  let steps = 0;
  const isEnough = (): boolean => (keys.size >= count && steps >= cheapSteps) || steps >= maxSteps * pages;
  do {
    const step = await inspect.scanStreams(cursor, { count: scanCount, ...(match === '*' ? {} : { match }) });
    for (const key of step.keys) keys.add(key);
    cursor = step.cursor;
    steps += 1;
  } while (cursor !== '0' && !isEnough());
  const wanted = [...keys].sort(compareText).slice(0, count);
  return {
    streams: await describeStreams(inspect, wanted),
    hasMore: cursor !== '0' || keys.size > count,
    scannedKeys: steps * scanCount,
    isCostly: steps > cheapSteps,
  };
}

async function describeStreams(inspect: Inspector, keys: readonly StreamKey[]): Promise<readonly StreamFacts[]> {
  const [serverTimeMs, ...described] = await Promise.all([
    inspect.serverTimeMs(),
    ...keys.map((key) => describeStream(inspect, key)),
  ]);
  return keys.flatMap((key, index): StreamFacts[] => {
    const figures = described[index];
    if (figures === undefined || figures === 'gone') return [];
    return [{ key, figures: figures === 'unreadable' ? undefined : figures, serverTimeMs }];
  });
}

/** The figures of a stream; XLEN and XINFO GROUPS, since XINFO STREAM would carry the bodies of two entries along. */
async function describeStream(inspect: Inspector, key: StreamKey): Promise<StreamFigures | 'gone' | 'unreadable'> {
  try {
    const [length, groups] = await Promise.all([inspect.length(key), inspect.groupInfos(key)]);
    const pending = groups.reduce((sum, group) => sum + group.pending, 0);
    return { length, groups: groups.length, pending };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'no-permission') return 'unreadable';
    if (reason === 'no-key' || reason === 'wrong-type') return 'gone';
    throw error;
  }
}

async function streamChildren(
  inspect: Inspector,
  key: StreamKey,
  l10n: Localizer,
): Promise<{ groups: readonly GroupFacts[]; deadLetters: readonly DeadLettersFacts[] }> {
  const candidates = inspect.companionCandidates(key, 'dlq');
  const [serverTimeMs, length, groups, ...lengths] = await Promise.all([
    inspect.serverTimeMs(),
    inspect.length(key),
    inspect.groupInfos(key),
    ...candidates.map((candidate) => unlessGone(inspect.length(candidate))),
  ]);
  const dead = candidates.flatMap((candidate, index) => {
    const held = lengths[index] ?? 0;
    return held > 0 ? [{ key: candidate, length: held }] : [];
  });
  const [summaries, newest] = await Promise.all([
    Promise.all(
      groups.map((group) =>
        group.pending > 0 ? unlessGone(inspect.pendingSummary(key, group.name)) : Promise.resolve(undefined),
      ),
    ),
    Promise.all(
      dead.map(({ key: deadKey }) =>
        unlessGone(inspect.range(deadKey, { from: 'min', to: 'max', count: 1, reverse: true })),
      ),
    ),
  ]);
  return {
    groups: groups.map((group, index): GroupFacts => {
      const firstId = summaries[index]?.firstId ?? null;
      return {
        name: group.name,
        consumers: group.consumers,
        pending: group.pending,
        lastDeliveredId: group.lastDeliveredId,
        lag: lagOf(group, length, l10n),
        oldestPending: firstId === null ? null : { id: firstId, age: ageOf(firstId, serverTimeMs, l10n) },
        serverTimeMs,
      };
    }),
    deadLetters: dead.map((facts, index) => ({ ...facts, newestId: newest[index]?.[0]?.id ?? null, serverTimeMs })),
  };
}

/** A nil lag is unknown, and one above the length is the servers' known miscount after trims. */
function lagOf({ lag, lastDeliveredId }: GroupInfo, length: number, l10n: Localizer): Figure {
  if (lag === undefined) return unknown(l10n.t('this server does not tell the lag (before Redis 7.0)'));
  if (lag === null) {
    return unknown(
      l10n.t(
        'entries were deleted after {0}, or the group was set to an id that is not in the stream',
        lastDeliveredId,
      ),
    );
  }
  if (lag > length) return unknown(l10n.t('the server counts entries that were trimmed away'));
  return { kind: 'exact', value: lag, source: 'XINFO GROUPS' };
}

function ageOf(id: EntryId, serverTimeMs: number, l10n: Localizer): Figure {
  const addedMs = entryTimeMs(id);
  return addedMs === undefined
    ? unknown(l10n.t('ids of this stream are not times'))
    : { kind: 'exact', value: Math.max(0, serverTimeMs - addedMs), source: 'XPENDING' };
}

function unknown(reason: string): Figure {
  return { kind: 'unknown', reason };
}

async function findGone(
  inspect: Inspector,
  key: StreamKey,
  rows: readonly PendingEntry[],
): Promise<ReadonlySet<EntryId>> {
  const found = await Promise.all(rows.map(({ id }) => inspect.range(key, { from: id, to: id, count: 1 })));
  return new Set(rows.flatMap(({ id }, index) => (found[index]?.length === 0 ? [id] : [])));
}

async function findEntry(inspect: Inspector, id: EntryId, signal: AbortSignal): Promise<FoundEntry> {
  const keys = new Set<StreamKey>();
  let cursor = '0';
  do {
    const step = await inspect.scanStreams(cursor, { count: scanCount });
    const found = await Promise.all(
      step.keys.map((key) => unlessGone(inspect.range(key, { from: id, to: id, count: 1 }))),
    );
    step.keys.forEach((key, index) => {
      if ((found[index]?.length ?? 0) > 0) keys.add(key);
    });
    cursor = step.cursor;
  } while (cursor !== '0' && !signal.aborted);
  return { keys: [...keys], isComplete: cursor === '0' };
}

/** Undefined for what vanished, changed its type or may not be read, instead of failing what is read with it. */
async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['no-key', 'no-group', 'wrong-type', 'no-permission'].includes(reasonOf(error))) return undefined;
    throw error;
  }
}
