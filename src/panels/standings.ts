/** Where an entry stands in each group, with one sentence that says what it means and what is not known. */
import type { Localizer } from '../base/localize';
import type { Standing } from '../bus/inspect/standing';
import type { StandingView } from '../protocol/streamPanel';
import { nameView } from './values';

/** The standings of an entry, in the groups' order. */
export function standingViews(
  standings: readonly Standing[],
  hasEntry: boolean,
  l10n: Localizer,
): readonly StandingView[] {
  return standings.map((standing) => standingView(standing, hasEntry, l10n));
}

/** Redis keeps delivery counts as signed 64-bit numbers that overflow; beyond this they are no count. */
const maxPlausibleDeliveries = 1_000_000_000;

function standingView(standing: Standing, hasEntry: boolean, l10n: Localizer): StandingView {
  const { state } = standing;
  const common = { group: nameView(standing.group), state, explanation: explanationOf(standing, hasEntry, l10n) };
  if (state !== 'pending' && state !== 'gone') return common;
  const { pending, lastDeliveredAtMs } = standing;
  return {
    ...common,
    ...(isReleased(standing) ? {} : { consumer: nameView(pending.consumer) }),
    deliveryCount: pending.deliveryCount,
    ...(pending.idleMs < 0 ? {} : { idleMs: pending.idleMs }),
    ...(lastDeliveredAtMs === undefined ? {} : { lastDeliveredAtMs }),
  };
}

function explanationOf(standing: Standing, hasEntry: boolean, l10n: Localizer): string {
  const { lastDeliveredId } = standing;
  switch (standing.state) {
    case 'passed':
      return hasEntry
        ? l10n.t(
            'The group is past it and it is not pending: acknowledged, read with NOACK, dropped with its consumer, or skipped because the group began or was set behind it.',
          )
        : l10n.t(
            'The group is past it and it is not pending. The stream holds no such entry, so nobody can tell whether it was ever delivered.',
          );
    case 'undelivered':
      return l10n.t('The group has not read this far: it was delivered up to {0}.', lastDeliveredId);
    case 'absent':
      return l10n.t(
        'The group has read up to {0}. The stream holds no such entry, so it will not get this id.',
        lastDeliveredId,
      );
    case 'gone':
      return l10n.t(
        'It is pending, but its message was deleted or trimmed: whoever claims it gets nothing. Acknowledge it.',
      );
    case 'pending':
      return pendingText(standing, l10n);
  }
}

type PendingStanding = Extract<Standing, { readonly pending: unknown }>;

function pendingText(standing: PendingStanding, l10n: Localizer): string {
  const count = standing.pending.deliveryCount;
  if (isReleased(standing)) {
    return l10n.t('It was released: nobody owns it and the next reader of the group gets it.');
  }
  if (count > maxPlausibleDeliveries || count < 0) {
    return l10n.t('Delivered and not acknowledged. The delivery count is no count: somebody set or overflowed it.');
  }
  if (standing.isAheadOfGroup) {
    return l10n.t('Not acknowledged. The group was set back to before it: it will be delivered again, its count anew.');
  }
  return count === 1
    ? l10n.t('Delivered once and not acknowledged: it is being processed, or its consumer failed.')
    : l10n.t('Not acknowledged. The count includes every claim and re-read, not only failures.');
}

function isReleased({ pending }: PendingStanding): boolean {
  return pending.consumer === '' && pending.idleMs < 0;
}
