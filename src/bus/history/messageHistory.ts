/**
 * The life of one message, as far as anybody knows it: the journals of its stream, dead letters and replays that carry its id, and what
 * the server tells now, merged into one timeline in which each event says where it is known from.
 *
 * It only reads, with the commands of the read-only ACL, and a bounded amount; what it did not look at it says. It must not know how
 * any of it is shown. Tests: test/unit/history.test.ts, test/bus/history.test.ts.
 */
import { readDeadLetter, splitReplayOrigin } from '../deadLetters';
import type { DeadLetter } from '../deadLetters';
import type { Entry } from '../entries';
import { entryId, entryIdTimeMs } from '../ids';
import type { EntryId, GroupName, StreamKey } from '../ids';
import { outcomeOf } from '../inspect/inspectPort';
import { standingOf } from '../inspect/standing';
import type { Standing, StandingPort } from '../inspect/standing';
import { companionCandidates, readCompanionKey } from '../companionKeys';
import { boundedRange } from './boundedRange';
import type { HistoryEvent } from './historyEvent';
import { firstIdOf, mergeHistory, unknownEndings } from './mergeHistory';
import type { HistoryFacts } from './mergeHistory';
import { readJournal } from './readJournal';
import type { JournalReading } from './readJournal';

/** What is known of a message. */
export interface MessageHistory {
  readonly id: EntryId;
  /** Null when the stream holds no such entry. */
  readonly entry: Entry | null;
  readonly standings: readonly Standing[];
  /** What the entry says of itself when it is a dead letter. */
  readonly deadLetter: DeadLetter | undefined;
  /** Where the entry came from when it is a replay. */
  readonly replayOf: HistoryFacts['replayOf'];
  /** Its dead letters, as far as they were looked through. */
  readonly deadLetters: readonly DeadLetter[];
  /** Its timeline, oldest first. */
  readonly events: readonly HistoryEvent[];
  readonly journal: Omit<JournalReading, 'events'>;
  /** Groups that are past it and of which no source tells how it ended. */
  readonly unknownEndings: readonly GroupName[];
  readonly serverTimeMs: number;
}

/** How to look. */
export interface MessageHistoryQuery {
  /** Keys that hold dead letters of the stream, when they are known. */
  readonly deadKeys?: readonly StreamKey[];
  /** Keys that are known not to be readable; found ones are added. */
  readonly denied?: Set<StreamKey>;
  /** How many entries of a journal are looked at. Default 2,000. */
  readonly journalLimit?: number;
  /** What was observed of the entry until now, given where it stands now. */
  readonly observe?: (standings: readonly Standing[], serverTimeMs: number) => readonly HistoryEvent[];
  readonly signal?: AbortSignal;
}

/** How many dead letters from the message's own time on are looked through, and how many of the newest entries for replays. */
const searchedDeadLetters = 200;
const searchedReplays = 100;

/** Reads the history of an entry: about four round trips, more where a journal is long or entries are large. Rejects with `no-key` when there is no stream. */
export async function messageHistory(
  port: StandingPort,
  key: StreamKey,
  id: EntryId,
  query: MessageHistoryQuery = {},
): Promise<MessageHistory> {
  const {
    deadKeys = companionCandidates(key, 'dlq'),
    denied = new Set<StreamKey>(),
    signal,
    journalLimit,
    observe,
  } = query;
  const { entry, standings, serverTimeMs } = await standingOf(port, key, id);
  const deadLetter = entry ? ownDeadLetter(key, entry) : undefined;
  const replayOf = entry ? splitReplayOrigin(entry.fields).origin : undefined;
  const first = firstIdOf({ id, deadLetter: deadLetter?.failure, replayOf });
  const stream = deadLetter?.failure.stream ?? key;
  const limits = { ...(signal === undefined ? {} : { signal }) };
  const [deadLetters, replays] = await Promise.all([
    // Of a dead letter the others are beside it: each group has its own.
    findDeadLetters(port, deadLetter ? [key] : deadKeys, [...new Set([first, id])], { ...limits, denied }),
    findReplays(port, stream, first, limits),
  ]);
  const died = deadLetter?.failure.entry;
  const otherLetters = deadLetters.filter(({ deadId }) => !deadLetter || deadId !== id);
  const others = replays.filter((copy) => copy.id !== id);
  const ids = new Set([id, first, ...(died === undefined ? [] : [died]), ...others.map((copy) => copy.id)]);
  const { events: journal, ...reading } = await readJournal(port, stream, {
    ids: [...ids],
    denied,
    ...(journalLimit === undefined ? {} : { limit: journalLimit }),
    ...limits,
  });
  const facts: HistoryFacts = {
    id,
    hasEntry: entry !== null,
    deadLetter: deadLetter?.failure,
    replayOf,
    standings,
    deadLetters: otherLetters,
    replays: others,
    journal,
    ...(observe === undefined ? {} : { observed: observe(standings, serverTimeMs) }),
  };
  return {
    id,
    entry,
    standings,
    deadLetter,
    replayOf,
    deadLetters: otherLetters,
    events: mergeHistory(facts),
    journal: reading,
    unknownEndings: unknownEndings(facts),
    serverTimeMs,
  };
}

/** A complete block at the end is ours anywhere; other forms are believed only in a stream that is named like dead letters. */
function ownDeadLetter(key: StreamKey, entry: Entry): DeadLetter | undefined {
  const letter = readDeadLetter(entry);
  if (letter.form === 'block') return letter;
  return letter.form !== 'unknown' && readCompanionKey(key)?.kind === 'dlq' ? letter : undefined;
}

/** Dead letters of a message are younger than it is: they are looked for from the time of each of its copies on. */
async function findDeadLetters(
  port: StandingPort,
  deadKeys: readonly StreamKey[],
  ids: readonly EntryId[],
  { denied, ...limits }: { readonly signal?: AbortSignal; readonly denied: Set<StreamKey> },
): Promise<readonly DeadLetter[]> {
  const looks = deadKeys.flatMap((deadKey) => (denied.has(deadKey) ? [] : ids.map((id) => ({ deadKey, id }))));
  const pages = await Promise.all(
    looks.map(({ deadKey, id }) => {
      const from = entryId(`${id.slice(0, id.indexOf('-'))}-0`);
      return outcomeOf(boundedRange(port, deadKey, { from, to: 'max', count: searchedDeadLetters, ...limits }));
    }),
  );
  const found = new Map<string, DeadLetter>();
  pages.forEach((page, index) => {
    const deadKey = looks[index]?.deadKey;
    if (deadKey === undefined) return;
    if (page.state === 'not-permitted') denied.add(deadKey);
    if (page.state !== 'read') return;
    for (const letter of page.value.map(readDeadLetter)) {
      const isOfIt = [letter.failure.id, letter.failure.entry].some((id) => id !== undefined && ids.includes(id));
      if (isOfIt) found.set(`${letter.deadId} ${deadKey}`, letter);
    }
  });
  return [...found.values()];
}

/** Replays stand at the end of the stream. */
async function findReplays(
  port: StandingPort,
  stream: StreamKey,
  first: EntryId,
  limits: { readonly signal?: AbortSignal },
): Promise<readonly { readonly id: EntryId; readonly replays: number }[]> {
  const after = entryIdTimeMs(first) === undefined ? 'min' : first;
  const newest = await outcomeOf(
    boundedRange(port, stream, { from: after, to: 'max', count: searchedReplays, reverse: true, ...limits }),
  );
  if (newest.state !== 'read') return [];
  return newest.value.flatMap(({ id, fields }) => {
    const { origin } = splitReplayOrigin(fields);
    return origin?.id === first ? [{ id, replays: origin.replays }] : [];
  });
}
