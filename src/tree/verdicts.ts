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
      ? l10n.t('Nobody has read in this group yet, and nothing waits.')
      : l10n.t('Nobody is consuming: the group has no consumers.');
  }
  if (waiting === 0 && pending === 0) return l10n.t('Up to date: nothing waits and nothing is pending.');
  if (waiting === 0) {
    return l10n.t('All entries were delivered; {0} wait to be acknowledged.', count(pending, words));
  }
  return undefined;
}

/** Of a consumer. */
export function consumerVerdict({ pending, idleMs }: ConsumerFacts, words: Words): string | undefined {
  const { l10n } = words;
  if (pending > 0 && idleMs >= probablyGoneMs) {
    return l10n.t(
      'Probably not running: it holds {0} pending entries and did nothing for {1}.',
      count(pending, words),
      formatDuration(idleMs),
    );
  }
  return undefined;
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
