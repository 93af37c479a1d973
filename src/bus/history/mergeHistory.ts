import type { DeadLetterBlock } from '../deadLetters';
import { entryIdTimeMs } from '../ids';
import type { EntryId, GroupName } from '../ids';
import type { Standing } from '../inspect/standing';
import type { HistoryEvent, HistorySource } from './historyEvent';
import type { JournalEvent } from './journalEvent';

/** A dead letter of a message: its own id and what it tells. */
export interface KnownDeadLetter {
  readonly deadId: EntryId;
  readonly failure: Partial<DeadLetterBlock>;
}

/** Everything that is known of a message, source by source. */
export interface HistoryFacts {
  readonly id: EntryId;
  /** Whether the stream holds the entry. */
  readonly hasEntry: boolean;
  /** What the entry says of itself when it is a dead letter. */
  readonly deadLetter: Partial<DeadLetterBlock> | undefined;
  /** Where the entry came from when it is a replay. */
  readonly replayOf: { readonly id: EntryId; readonly replays: number } | undefined;
  readonly standings: readonly Standing[];
  readonly deadLetters: readonly KnownDeadLetter[];
  /** Other copies of the message that replays made. */
  readonly replays: readonly { readonly id: EntryId; readonly replays: number }[];
  readonly journal: readonly JournalEvent[];
  readonly observed?: readonly HistoryEvent[];
}

/** How far two clocks of one event may be apart: what a consumer records comes a reply later than what the server wrote. */
const sameEventMs = 2000;

/** One timeline of all that is known, oldest first; what has no time comes before all. */
export function mergeHistory(facts: HistoryFacts): readonly HistoryEvent[] {
  const events: HistoryEvent[] = [...addedEvents(facts)];
  for (const event of [...replayEvents(facts), ...facts.journal.map(recordedEvent)]) join(events, event, isSameReplay);
  for (const letter of deadLettersOf(facts)) join(events, deadLetterEvent(letter), isSameDeath);
  for (const event of facts.observed ?? []) join(events, event, isSameObserved);
  for (const standing of facts.standings) {
    const event = pendingEvent(facts.id, standing);
    if (event) join(events, event, isSameDelivery);
  }
  return inOrder(events);
}

/**
 * By time, and what happened within the same one as it was told. What one consumer recorded of an entry stays in its order, and nothing
 * comes before the entry that it happened to: times are off by as long as a call was under way, and by what was rounded.
 */
function inOrder(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const latest = new Map<string, number>();
  const births = new Map(
    events.flatMap(({ kind, id, copy = id, atMs }) => {
      return atMs !== undefined && (kind === 'added' || kind === 'replayed') ? [[copy, atMs] as const] : [];
    }),
  );
  return events
    .map((event, index) => {
      const { sources, id, group = '', consumer = '', pid = '', atMs = -1 } = event;
      const orderMs = notBefore(births.get(id), atMs);
      if (!sources.includes('recorded')) return { event, index, orderMs };
      const writer = JSON.stringify([id, group, consumer, pid]);
      const before = latest.get(writer) ?? -1;
      const heldMs = notBefore(before, orderMs);
      latest.set(writer, Math.max(heldMs, before));
      return { event, index, orderMs: heldMs };
    })
    .sort((a, b) => a.orderMs - b.orderMs || a.index - b.index)
    .map(({ event }) => event);
}

/** A time, moved up to an earlier event's when it is ahead of that by no more than times are off. */
function notBefore(earlierMs: number | undefined, atMs: number): number {
  return earlierMs !== undefined && earlierMs > atMs && earlierMs - atMs <= sameEventMs ? earlierMs : atMs;
}

/** The groups that are past the entry and of which no source tells how it ended there. */
export function unknownEndings(facts: HistoryFacts): readonly GroupName[] {
  const { id, standings, journal } = facts;
  const ended = new Set<GroupName | undefined>();
  for (const { event, group, id: about } of journal)
    if (about === id && (event === 'acknowledged' || event === 'dead-lettered')) ended.add(group);
  for (const { failure } of deadLettersOf(facts)) if ((failure.entry ?? failure.id) === id) ended.add(failure.group);
  return standings.flatMap(({ state, group }) => (state === 'passed' && !ended.has(group) ? [group] : []));
}

/** The id that names the message for ever. */
export function firstIdOf({ id, deadLetter, replayOf }: Pick<HistoryFacts, 'id' | 'deadLetter' | 'replayOf'>): EntryId {
  return deadLetter?.id ?? replayOf?.id ?? id;
}

function addedEvents(facts: HistoryFacts): readonly HistoryEvent[] {
  const { id, hasEntry, deadLetter } = facts;
  const first = firstIdOf(facts);
  const isItself = first === id && !deadLetter;
  // Of an entry that is not there nobody knows that it ever was, unless something else speaks of it.
  if (isItself && !hasEntry) return [];
  return [{ kind: 'added', sources: [isItself ? 'server' : 'derived'], atMs: entryIdTimeMs(first), id: first }];
}

function replayEvents(facts: HistoryFacts): readonly HistoryEvent[] {
  const { id, deadLetter, replayOf, replays } = facts;
  const first = firstIdOf(facts);
  const copies = new Map<EntryId, number | undefined>(replays.map((copy) => [copy.id, copy.replays]));
  if (replayOf) copies.set(id, replayOf.replays);
  if (deadLetter?.entry !== undefined && deadLetter.entry !== first) copies.set(deadLetter.entry, deadLetter.replays);
  return [...copies].map(([copy, attempt]) => ({
    kind: 'replayed',
    sources: ['derived'],
    atMs: entryIdTimeMs(copy),
    id: first,
    copy,
    ...(attempt === undefined ? {} : { attempt }),
  }));
}

function recordedEvent({ journalId: _, event, ...rest }: JournalEvent): HistoryEvent {
  if (event !== 'replayed') return { ...rest, kind: event, sources: ['recorded'] };
  // Every group records it; it happened to the message and not to a group.
  const { id, atMs, attempt } = rest;
  return { kind: event, sources: ['recorded'], id, atMs, ...(attempt === undefined ? {} : { attempt }) };
}

function deadLettersOf({ id, deadLetter, deadLetters }: HistoryFacts): readonly KnownDeadLetter[] {
  return deadLetter ? [{ deadId: id, failure: deadLetter }, ...deadLetters] : deadLetters;
}

function deadLetterEvent({ deadId, failure }: KnownDeadLetter): HistoryEvent {
  const {
    id,
    entry,
    group,
    consumer,
    deliveries,
    reason,
    atMs,
    errorType: type = '',
    errorMessage: message = '',
  } = failure;
  return {
    kind: 'dead-lettered',
    sources: ['derived'],
    atMs: atMs ?? entryIdTimeMs(deadId),
    id: entry ?? id ?? deadId,
    ...(group === undefined ? {} : { group }),
    ...(consumer === undefined ? {} : { consumer }),
    ...(deliveries === undefined ? {} : { attempt: deliveries }),
    ...(reason === undefined ? {} : { reason }),
    ...(type || message ? { error: { type, message } } : {}),
  };
}

function pendingEvent(id: EntryId, standing: Standing): HistoryEvent | undefined {
  if (standing.state !== 'pending' && standing.state !== 'gone') return undefined;
  const { state, group, pending, lastDeliveredAtMs: atMs } = standing;
  const isReleased = atMs === undefined;
  return {
    kind: 'pending',
    sources: ['server'],
    atMs,
    id,
    group,
    attempt: pending.deliveryCount,
    isPending: true,
    ...(isReleased ? { state: 'released' } : { consumer: pending.consumer, ...(state === 'gone' ? { state } : {}) }),
  };
}

/** Adds an event, or lets one that it is the same as have its source and what only it knows. */
function join(
  events: HistoryEvent[],
  event: HistoryEvent,
  isSame: (a: HistoryEvent, b: HistoryEvent) => boolean,
): void {
  const at = events.findLastIndex((other) => isSame(other, event));
  const known = events[at];
  if (!known) {
    events.push(event);
    return;
  }
  const sources = [...new Set<HistorySource>([...known.sources, ...event.sources])];
  const isKnownBetter = known.kind !== 'dead-lettered';
  const merged = isKnownBetter ? { ...event, ...known } : { ...known, ...event, ...withStack(known) };
  events[at] = { ...merged, sources };
}

/** A dead letter tells the reason and the server's own time; the stack only who recorded it. */
function withStack({ error }: HistoryEvent): Partial<HistoryEvent> {
  return error?.stack === undefined ? {} : { error };
}

function isSameReplay(a: HistoryEvent, b: HistoryEvent): boolean {
  return (
    a.kind === 'replayed' && b.kind === 'replayed' && a.id === b.id && a.attempt === b.attempt && a.atMs === b.atMs
  );
}

function isSameDeath(a: HistoryEvent, b: HistoryEvent): boolean {
  return (
    a.kind === 'dead-lettered' &&
    a.sources[0] === 'recorded' &&
    a.id === b.id &&
    a.group === b.group &&
    (b.attempt === undefined || a.attempt === undefined || a.attempt === b.attempt) &&
    isNear(a, b)
  );
}

function isSameDelivery(a: HistoryEvent, b: HistoryEvent): boolean {
  return (
    (a.kind === 'delivered' || a.kind === 'claimed') &&
    b.state === undefined &&
    a.id === b.id &&
    a.group === b.group &&
    a.consumer === b.consumer &&
    a.attempt === b.attempt &&
    isNear(a, b)
  );
}

/** What was recorded need not have been observed too; of an ending only the time between two looks was. */
function isSameObserved(a: HistoryEvent, b: HistoryEvent): boolean {
  if (b.kind === 'settled' && (a.kind === 'acknowledged' || a.kind === 'dead-lettered')) {
    const { atMs = -1 } = a;
    return (
      a.id === b.id &&
      a.group === b.group &&
      atMs >= (b.sinceMs ?? 0) - sameEventMs &&
      atMs <= (b.atMs ?? 0) + sameEventMs
    );
  }
  return b.kind === 'delivered' && isSameDelivery(a, b);
}

function isNear(a: HistoryEvent, b: HistoryEvent): boolean {
  return a.atMs !== undefined && b.atMs !== undefined && Math.abs(a.atMs - b.atMs) <= sameEventMs;
}
