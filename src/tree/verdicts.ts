/** What the figures together mean, in one sentence with its reason; undefined when there is nothing to say. */
import { formatDuration } from '../base/duration';
import type { ConsumerFacts, GroupFacts, PendingFacts } from './facts';
import { count } from './phrases';
import type { Standstill } from './standstill';
import type { TreeContext } from './treeContext';

type Words = Pick<TreeContext, 'l10n' | 'locale'>;

/** From this many deliveries on an entry looks like poison. */
export const manyDeliveries = 3;

/** A consumer with pending entries and idle for longer than this is probably gone. */
const probablyGoneMs = 5 * 60_000;

/** So long must nothing be delivered, while entries come, before it is called that nobody is consuming. */
const standstillMs = 60_000;

/** Of a group. */
export function groupVerdict(
  { lag, pending, consumers }: GroupFacts,
  standstill: Standstill | undefined,
  words: Words,
): string | undefined {
  const { l10n } = words;
  if (standstill && standstill.lastedMs >= standstillMs && standstill.grownBy > 0) {
    return l10n.t(
      'Nobody is consuming: no delivery for {0} while the stream grew by {1}, as observed here.',
      formatDuration(standstill.lastedMs),
      count(standstill.grownBy, words),
    );
  }
  const waiting = lag.kind === 'unknown' ? undefined : lag.value;
  if (consumers === 0) {
    return waiting === 0
      ? l10n.t('The group has no consumers, and nothing waits for one.')
      : l10n.t('Nobody is consuming: the group has no consumers.');
  }
  if (waiting === 0 && pending === 0) return l10n.t('Up to date: nothing waits and nothing is pending.');
  if (waiting === 0) {
    return pending === 1
      ? l10n.t('All entries were delivered; 1 waits to be acknowledged.')
      : l10n.t('All entries were delivered; {0} wait to be acknowledged.', count(pending, words));
  }
  return undefined;
}

/** Of a consumer. */
export function consumerVerdict({ pending, idleMs, inactiveMs }: ConsumerFacts, words: Words): string | undefined {
  const { l10n } = words;
  if (pending === 0 || idleMs < probablyGoneMs) return undefined;
  const idle = formatDuration(idleMs);
  // Before 7.2 a consumer that waits for entries all the time looks the same as one that is gone.
  if (inactiveMs === undefined) {
    return pending === 1
      ? l10n.t('It holds 1 pending entry and got nothing for {0}: it is gone, or there was nothing new to get.', idle)
      : l10n.t(
          'It holds {0} pending entries and got nothing for {1}: it is gone, or there was nothing new to get.',
          count(pending, words),
          idle,
        );
  }
  return pending === 1
    ? l10n.t('Probably not running: it holds 1 pending entry and did nothing for {0}.', idle)
    : l10n.t(
        'Probably not running: it holds {0} pending entries and did nothing for {1}.',
        count(pending, words),
        idle,
      );
}

/** Of a pending entry. */
export function pendingVerdict({ isGone, deliveryCount }: PendingFacts, words: Words): string | undefined {
  const { l10n } = words;
  if (isGone) {
    return l10n.t(
      'Its message is gone: the entry was deleted or trimmed while it was pending. Only acknowledging is left.',
    );
  }
  if (deliveryCount >= manyDeliveries) {
    return l10n.t(
      'Delivered {0} times without being acknowledged: its handler probably fails.',
      count(deliveryCount, words),
    );
  }
  return undefined;
}
