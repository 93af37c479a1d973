/** Puts the history of a message into words: what happened, to whom, known from where; and what is not known. */
import { displayText } from '../base/byteText';
import { shortened } from '../base/shortText';
import type { Localizer } from '../base/localize';
import type { HistoryEvent, StreamKey } from '../bus';
import type { HistoryEventView, HistoryLimits } from '../protocol/streamPanel';
import { idTimeMs } from './entryIds';
import type { EntryFacts } from './streamReader';
import { fitting, nameView } from './values';

/** An entry may have hundreds of dead letters; its own page shows the error of one in full. */
const maxErrorChars = 1000;
const maxStackChars = 4096;

/** A message holds so many events, the first and the newest, and so many characters of them. */
const maxEvents = 300;
const firstEvents = 50;
const maxChars = 256 * 1024;

/** How many groups of unknown ending are named. */
const maxGroups = 20;

/** The events that are shown, those of unknown time first. */
export function historyView(
  { id, history }: Pick<EntryFacts, 'id' | 'history'>,
  /** Where the message and its copies are: of a dead letter the stream that it died in. */
  stream: StreamKey,
  l10n: Localizer,
): readonly HistoryEventView[] {
  const shown =
    history.length <= maxEvents
      ? history
      : [...history.slice(0, firstEvents), ...history.slice(firstEvents - maxEvents)];
  return fitting(
    shown.map((event) => eventView(event, { id, stream }, l10n)),
    maxChars,
  );
}

/** What the history does not tell. */
export function historyLimits(
  { id, history, journal, unknownEndings }: Pick<EntryFacts, 'id' | 'history' | 'journal' | 'unknownEndings'>,
  shown: number,
): HistoryLimits {
  const { state, recordedSinceMs, skipped, malformed } = journal;
  const bornMs = history.find(({ kind }) => kind === 'added')?.atMs ?? idTimeMs(id) ?? 0;
  return {
    journal: state,
    ...(recordedSinceMs === undefined || recordedSinceMs <= bornMs ? {} : { recordedSinceMs }),
    ...(skipped === undefined ? {} : { skipped }),
    malformed,
    hidden: history.length - shown,
    unknownEndings: unknownEndings.slice(0, maxGroups).map((group) => nameView(group)),
  };
}

function eventView(
  event: HistoryEvent,
  shown: { readonly id: string; readonly stream: StreamKey },
  l10n: Localizer,
): HistoryEventView {
  const { atMs, sources, group, consumer, attempt, durationMs, error, kind } = event;
  const isDelay = kind === 'retry-scheduled';
  const about = event.copy ?? event.id;
  const writer = writerText(event, l10n);
  return {
    atMs: atMs ?? null,
    title: titleOf(event, shown.id, l10n),
    sources,
    outcome: outcomeOf(kind),
    ...(group === undefined ? {} : { group: nameView(group) }),
    ...(consumer === undefined ? {} : { consumer: nameView(consumer) }),
    ...(attempt === undefined || kind === 'replayed' ? {} : { attempt }),
    ...(durationMs === undefined ? {} : isDelay ? { delayMs: durationMs } : { tookMs: durationMs }),
    ...(about === shown.id || isOnlyFirstId(event) ? {} : { entry: { stream: shown.stream, id: about } }),
    ...(writer === undefined ? {} : { writer }),
    ...(error === undefined ? {} : { error: errorView(error) }),
  };
}

/** A replay of which nobody knows the new id: its own is that of the message, which comes first anyway. */
function isOnlyFirstId({ kind, copy }: HistoryEvent): boolean {
  return kind === 'replayed' && copy === undefined;
}

function titleOf(event: HistoryEvent, shownId: string, l10n: Localizer): string {
  const { kind, id, copy, attempt, reason, isPending = false } = event;
  switch (kind) {
    case 'added':
      return id === shownId ? l10n.t('Added to the stream') : l10n.t('First added');
    case 'replayed':
      if (copy !== undefined && copy !== shownId) return l10n.t('Replayed');
      return attempt === undefined
        ? l10n.t('Replayed from the dead letters')
        : l10n.t('Replayed from the dead letters, replay {0}', attempt);
    case 'delivered':
      return isPending ? l10n.t('Delivered, still pending') : l10n.t('Delivered');
    case 'claimed':
      return isPending
        ? l10n.t('Claimed from another consumer, still pending')
        : l10n.t('Claimed from another consumer');
    case 'acknowledged':
      return l10n.t('Acknowledged');
    case 'failed':
      return l10n.t('Failed');
    case 'timed-out':
      return l10n.t('Timed out');
    case 'retry-scheduled':
      return l10n.t('Retry scheduled');
    case 'dead-lettered':
      return reason === undefined
        ? l10n.t('Dead-lettered')
        : l10n.t('Dead-lettered: {0}', displayText(shortened(reason, 300)));
    case 'released':
      return l10n.t('Released without being handled');
    case 'ownership-lost':
      return l10n.t('Ownership lost while it was handled');
    case 'settled':
      return l10n.t('No longer pending, nobody saw how');
    case 'pending':
      if (event.state === 'released') return l10n.t('Released, still pending');
      return event.state === 'gone'
        ? l10n.t('Last delivered, still pending without its message')
        : l10n.t('Last delivered, still pending');
  }
}

function outcomeOf(kind: HistoryEvent['kind']): HistoryEventView['outcome'] {
  if (kind === 'acknowledged') return 'good';
  return kind === 'failed' || kind === 'timed-out' || kind === 'dead-lettered' ? 'bad' : 'neutral';
}

function errorView({
  type,
  message,
  stack,
}: NonNullable<HistoryEvent['error']>): NonNullable<HistoryEventView['error']> {
  return {
    type: shortened(type, 300),
    message: shortened(message, maxErrorChars),
    ...(stack === undefined ? {} : { stack: shortened(stack, maxStackChars) }),
  };
}

function writerText({ host, pid, version }: HistoryEvent, l10n: Localizer): string | undefined {
  const parts = [
    ...(host === undefined ? [] : [displayText(shortened(host, 100))]),
    ...(pid === undefined ? [] : [l10n.t('process {0}', displayText(shortened(pid, 20)))]),
    ...(version === undefined ? [] : [l10n.t('version {0}', displayText(shortened(version, 60)))]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
