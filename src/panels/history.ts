/** The life of a message as far as the server and the dead letters tell it, each event with its source; oldest first. */
import { displayText } from '../base/byteText';
import { shortened } from '../base/shortText';
import type { Localizer } from '../base/localize';
import type { Standing } from '../bus/inspect/standing';
import type { HistoryEventView } from '../protocol/streamPanel';
import { idTimeMs } from './entryIds';
import type { DeadLetterFacts, EntryFacts } from './streamReader';
import { nameView } from './values';

/** An entry may have hundreds of dead letters; its own page shows the error of one in full. */
const maxErrorChars = 1000;

/** All events, those of unknown time first. */
export function historyView(facts: EntryFacts, l10n: Localizer): readonly HistoryEventView[] {
  const events = [
    ...originEvents(facts, l10n),
    ...facts.deadLetters.map((letter) => deadLetterEvent(letter, letter.atMs ?? idTimeMs(letter.id), l10n)),
    ...facts.standings.flatMap((standing) => deliveryEvents(standing, l10n)),
  ];
  return events
    .map((event, index) => ({ event, index }))
    .sort((a, b) => (a.event.atMs ?? -1) - (b.event.atMs ?? -1) || a.index - b.index)
    .map(({ event }) => event);
}

function originEvents(facts: EntryFacts, l10n: Localizer): readonly HistoryEventView[] {
  const { id, entry, deadLetter, replayOf } = facts;
  const first = deadLetter?.originalId ?? replayOf?.id;
  const events: HistoryEventView[] = [];
  if (first !== undefined) {
    events.push({
      atMs: idTimeMs(first),
      title: l10n.t('First added as {0}', first),
      source: 'derived',
      outcome: 'neutral',
    });
  }
  if (deadLetter) {
    if (deadLetter.diedId !== undefined && deadLetter.diedId !== first) {
      const title = l10n.t('Replayed as {0}', deadLetter.diedId);
      events.push({ atMs: idTimeMs(deadLetter.diedId), title, source: 'derived', outcome: 'neutral' });
    }
    events.push(deadLetterEvent(deadLetter, deadLetter.atMs ?? idTimeMs(id), l10n));
    return events;
  }
  if (!entry) return events;
  const title = replayOf
    ? l10n.t('Replayed from the dead letters, replay {0}', replayOf.replays)
    : l10n.t('Added to the stream');
  events.push({ atMs: idTimeMs(id), title, source: replayOf ? 'derived' : 'server', outcome: 'neutral' });
  return events;
}

function deadLetterEvent(letter: DeadLetterFacts, atMs: number | null, l10n: Localizer): HistoryEventView {
  const { group, consumer, deliveries, errorType, errorMessage, reason } = letter;
  const hasError = (errorType ?? '') !== '' || (errorMessage ?? '') !== '';
  return {
    atMs,
    title: reason === undefined ? l10n.t('Dead-lettered') : l10n.t('Dead-lettered: {0}', displayText(reason)),
    source: 'derived',
    ...(group === undefined ? {} : { group: nameView(group) }),
    ...(consumer === undefined ? {} : { consumer: nameView(consumer) }),
    ...(deliveries === undefined ? {} : { attempt: deliveries }),
    outcome: 'bad',
    ...(hasError ? { error: { type: errorType ?? '', message: shortened(errorMessage ?? '', maxErrorChars) } } : {}),
  };
}

function deliveryEvents(standing: Standing, l10n: Localizer): readonly HistoryEventView[] {
  if (standing.state !== 'pending' && standing.state !== 'gone') return [];
  const { pending, lastDeliveredAtMs: atMs } = standing;
  const delivered =
    standing.state === 'pending'
      ? l10n.t('Last delivered, still pending')
      : l10n.t('Last delivered, still pending without its message');
  return [
    {
      atMs: atMs ?? null,
      title: atMs === undefined ? l10n.t('Released, still pending') : delivered,
      source: 'server',
      group: nameView(standing.group),
      ...(atMs === undefined ? {} : { consumer: nameView(pending.consumer) }),
      attempt: pending.deliveryCount,
      outcome: 'neutral',
    },
  ];
}
