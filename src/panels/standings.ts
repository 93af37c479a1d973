/** Where an entry stands in each group, with one sentence that says what it means and what is not known. */
import type { Localizer } from '../base/localize';
import type { StandingView } from '../protocol/streamPanel';
import { isAtOrBefore } from './entryIds';
import type { EntryFacts, GroupStanding } from './streamReader';
import { nameView } from './values';

/** The standings of an entry, in the groups' order. */
export function standingViews(facts: EntryFacts, l10n: Localizer): readonly StandingView[] {
  return facts.standings.map((standing) => standingView(standing, facts, l10n));
}

/** When an entry was last delivered: the server's time minus how long it is idle. Undefined for one that was released. */
export function lastDeliveredAtMs(standing: GroupStanding, serverTimeMs: number): number | undefined {
  const idleMs = standing.pending?.idleMs ?? -1;
  return idleMs < 0 ? undefined : serverTimeMs - idleMs;
}

/** Redis keeps delivery counts as signed 64-bit numbers that overflow; beyond this they are no count. */
const maxPlausibleDeliveries = 1_000_000_000;

function standingView(standing: GroupStanding, facts: EntryFacts, l10n: Localizer): StandingView {
  const group = nameView(standing.group);
  const { pending, lastDeliveredId } = standing;
  if (!pending) {
    return isAtOrBefore(facts.id, lastDeliveredId)
      ? { group, state: 'passed', explanation: passedText(facts, l10n) }
      : {
          group,
          state: facts.entry ? 'undelivered' : 'absent',
          explanation: undeliveredText(standing, facts, l10n),
        };
  }
  const deliveredAt = lastDeliveredAtMs(standing, facts.serverTimeMs);
  const isReleased = pending.consumer === '' && pending.idleMs < 0;
  return {
    group,
    state: facts.entry ? 'pending' : 'gone',
    ...(isReleased ? {} : { consumer: nameView(pending.consumer) }),
    deliveryCount: pending.deliveryCount,
    ...(pending.idleMs < 0 ? {} : { idleMs: pending.idleMs }),
    ...(deliveredAt === undefined ? {} : { lastDeliveredAtMs: deliveredAt }),
    explanation: pendingText(standing, facts, isReleased, l10n),
  };
}

function passedText({ entry }: EntryFacts, l10n: Localizer): string {
  return entry
    ? l10n.t(
        'The group has read past it and it is not pending: acknowledged, read with NOACK, or its consumer was deleted.',
      )
    : l10n.t('The group has read past this id and nothing is pending for it.');
}

function undeliveredText({ lastDeliveredId }: GroupStanding, { entry }: EntryFacts, l10n: Localizer): string {
  return entry
    ? l10n.t('The group has not read this far: it was delivered up to {0}.', lastDeliveredId)
    : l10n.t('The group has read up to {0} and will never get this id.', lastDeliveredId);
}

function pendingText(standing: GroupStanding, facts: EntryFacts, isReleased: boolean, l10n: Localizer): string {
  const { id, entry } = facts;
  const count = standing.pending?.deliveryCount ?? 0;
  if (!entry) {
    return l10n.t(
      'It is pending, but its message was deleted or trimmed: whoever claims it gets nothing. Acknowledge it.',
    );
  }
  if (isReleased) return l10n.t('It was released: nobody owns it and the next reader of the group gets it.');
  if (count > maxPlausibleDeliveries || count < 0) {
    return l10n.t('Delivered and not acknowledged. The delivery count is no count: somebody set or overflowed it.');
  }
  if (!isAtOrBefore(id, standing.lastDeliveredId)) {
    return l10n.t('Not acknowledged. The group was set back to before it: it will be delivered again, its count anew.');
  }
  return count === 1
    ? l10n.t('Delivered once and not acknowledged: it is being processed, or its consumer failed.')
    : l10n.t('Not acknowledged. The count includes every claim and re-read, not only failures.');
}
