import type { Localizer } from '../base/localize';
import type { ConsumerDescription, EntryId, GroupDescription, StreamKey } from '../bus';
import type { Inspector } from '../connections/inspector';
import type { LiveConnection, ReadOptions } from '../connections/liveConnection';
import { reasonOf } from '../connections/describeFailure';
import type { Figure } from '../protocol/streamPanel';
import type { ConsumerFacts, DeadLetterFacts, GroupFacts, StreamFacts, StreamFigures } from './facts';
import { compareText } from './folders';
import type { FoundEntry, ListedStreams, ListOptions, StreamChildren, TreeReads } from './reads';

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
          inspect.serverTimeMs(key),
          inspect.describeConsumers(key, group),
        ]);
        return consumers.map((consumer) => consumerFacts(consumer, serverTimeMs));
      }),
    pending: (key, group, consumer, count) =>
      read(async (inspect) => {
        const { rows, next, serverTimeMs } = await inspect.pendingPage(key, group, { consumer, count });
        const items = rows.map(({ id, consumer: owner, idleMs, deliveryCount, entry }) => ({
          id,
          consumer: owner,
          idleMs,
          deliveryCount,
          isGone: entry === null,
          addedAtMs: pastTimeOf(inspect, id, serverTimeMs),
          serverTimeMs,
        }));
        return { items, hasMore: next !== undefined };
      }),
    deadLetters: (key, count) =>
      read(async (inspect) => {
        const { deadLetters, next, serverTimeMs } = await inspect.deadLettersPage(key, { count });
        const items = deadLetters.map(({ deadId, failure }): DeadLetterFacts => ({
          ...failure,
          id: deadId,
          originalId: failure.id,
          serverTimeMs,
        }));
        return { items, hasMore: next !== undefined };
      }),
    payload: (key, id) => read(async (inspect) => (await inspect.entryById(key, id))?.fields),
    findEntry: (id, signal) => read((inspect) => findEntry(inspect, id, signal), { signal, lane: 'bulk' }),
  };
}

/** One description of all at the end instead of one a step, as the bus's `listStreams` does it: only what is shown is described. */
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
  const listed = new Set(keys);
  return keys.flatMap((key, index): StreamFacts[] => {
    const figures = described[index];
    if (figures === undefined || figures === 'gone') return [];
    const companion = companionFacts(inspect, key, listed);
    if (figures === 'unreadable') return [{ key, figures: undefined, serverTimeMs, ...companion }];
    const { journalOf, ...place } = companion;
    const isJournal = journalOf !== undefined && figures.groups === 0;
    return [{ key, figures, serverTimeMs, ...place, ...(isJournal ? { journalOf } : {}) }];
  });
}

/** Whose companion a stream is. `{orders}:journal` is that of `{orders}` or of `orders`, whichever is there. */
function companionFacts(
  inspect: Inspector,
  key: StreamKey,
  listed: ReadonlySet<StreamKey>,
): Pick<StreamFacts, 'companionOf' | 'journalOf'> {
  const companion = inspect.readCompanionKey(key);
  if (!companion) return {};
  const companionOf = companion.streams.find((stream) => listed.has(stream));
  const journalOf = companion.kind === 'journal' ? (companionOf ?? companion.streams.at(-1)) : undefined;
  return {
    ...(companionOf === undefined ? {} : { companionOf }),
    ...(journalOf === undefined ? {} : { journalOf }),
  };
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

async function streamChildren(inspect: Inspector, key: StreamKey, l10n: Localizer): Promise<StreamChildren> {
  const [serverTimeMs, groups, deadLetters] = await Promise.all([
    inspect.serverTimeMs(key),
    inspect.describeGroups(key),
    inspect.deadLettersOf(key),
  ]);
  return {
    groups: groups.map((group): GroupFacts => ({
      name: group.name,
      consumers: group.consumers,
      pending: group.pending,
      lastDeliveredId: group.lastDeliveredId,
      lag: lagFigure(group, l10n),
      oldestPending: oldestPending(inspect, group.firstPendingId, serverTimeMs, l10n),
      serverTimeMs,
    })),
    deadLetters: deadLetters
      .filter(({ length }) => length > 0)
      .map(({ key: deadKey, length, newest }) => ({
        key: deadKey,
        length,
        newestAtMs: newest === null ? undefined : pastTimeOf(inspect, newest.deadId, serverTimeMs),
        serverTimeMs,
      })),
  };
}

/** Why a lag is unknown, in the display language. */
function lagFigure({ lag, lastDeliveredId }: GroupDescription, l10n: Localizer): Figure {
  if (lag.kind !== 'unknown') return lag;
  switch (lag.because) {
    case 'not-told-by-this-server':
      return unknown(l10n.t('servers before Redis 7.0 do not count it'));
    case 'entries-deleted':
      return unknown(
        l10n.t('entries were deleted at or after {0}, so the server does not know how many are left', lastDeliveredId),
      );
    case 'group-set-to-other-id':
      return unknown(
        l10n.t('the group was created at or set to {0} without a count, or this is a replica', lastDeliveredId),
      );
    case 'miscounted-after-trim':
      return unknown(l10n.t('the server miscounts it: the stream was trimmed past what the group had read'));
    default:
      return unknown(lag.reason);
  }
}

function oldestPending(
  inspect: Inspector,
  id: EntryId | null,
  serverTimeMs: number,
  l10n: Localizer,
): GroupFacts['oldestPending'] {
  if (id === null) return null;
  const addedMs = pastTimeOf(inspect, id, serverTimeMs);
  const isAhead = addedMs === undefined && inspect.entryIdTimeMs(id) !== undefined;
  const age: Figure =
    addedMs === undefined
      ? unknown(
          isAhead ? l10n.t('its id is ahead of the clock of the server') : l10n.t('ids of this stream are not times'),
        )
      : { kind: 'exact', value: Math.max(0, serverTimeMs - addedMs), source: 'XPENDING' };
  return { id, age };
}

/**
 * When an id says that its entry was added. Undefined when it is no time, and when it is ahead of the server's clock: a producer
 * chose it, or the clock went back, and its age is not known either way.
 */
function pastTimeOf(inspect: Inspector, id: EntryId, serverTimeMs: number): number | undefined {
  const timeMs = inspect.entryIdTimeMs(id);
  return timeMs === undefined || timeMs > serverTimeMs + 1000 ? undefined : timeMs;
}

/** What a server calls idle: until 7.0 the time since the last success, from 7.2 since the last attempt. */
function consumerFacts(consumer: ConsumerDescription, serverTimeMs: number): ConsumerFacts {
  const { name, pending, sinceAttemptMs, sinceSuccessMs } = consumer;
  const succeededMs = sinceSuccessMs.kind === 'exact' ? sinceSuccessMs.value : -1;
  return sinceAttemptMs.kind === 'unknown'
    ? { name, pending, idleMs: succeededMs, inactiveMs: undefined, serverTimeMs }
    : { name, pending, idleMs: sinceAttemptMs.value, inactiveMs: succeededMs, serverTimeMs };
}

function unknown(reason: string): Figure {
  return { kind: 'unknown', reason };
}

async function findEntry(inspect: Inspector, id: EntryId, signal: AbortSignal): Promise<FoundEntry> {
  const keys = new Set<StreamKey>();
  let cursor = '0';
  let unreadable = 0;
  do {
    const step = await inspect.findEntry(id, { cursor });
    for (const { key } of step.found) keys.add(key);
    unreadable += step.unreadable;
    cursor = step.cursor;
  } while (cursor !== '0' && !signal.aborted);
  return { keys: [...keys], unreadable, isComplete: cursor === '0' };
}
