/** The tooltips of the rows: Markdown in which every figure has its source and every text of a user is escaped. */
import { displayText } from '../base/byteText';
import { formatDuration } from '../base/duration';
import { formatTime } from '../base/numberText';
import type { ConsumerFacts, DeadLetterFacts, DeadLettersFacts, GroupFacts, PendingFacts, StreamFacts } from './facts';
import { count } from './phrases';
import type { Standstill } from './standstill';
import { TooltipText } from './tooltipText';
import type { TreeContext } from './treeContext';
import { consumerVerdict, groupVerdict, pendingVerdict } from './verdicts';

type Words = Pick<TreeContext, 'l10n' | 'locale'>;

/** Of a stream. */
export function streamTooltip({ key, figures, serverTimeMs }: StreamFacts, words: Words): string {
  const { l10n } = words;
  const tooltip = new TooltipText(displayText(key));
  if (!figures) {
    return tooltip
      .sentence(l10n.t('The user of this connection may see the key and not what is in it.'))
      .readAt(serverTimeMs, words);
  }
  return tooltip
    .figure(l10n.t('Entries'), count(figures.length, words), l10n.t('what the stream holds now'), 'XLEN')
    .figure(l10n.t('Groups'), count(figures.groups, words), '', 'XINFO GROUPS')
    .figure(
      l10n.t('Pending'),
      count(figures.pending, words),
      l10n.t('delivered and not acknowledged, in all groups together'),
      'XINFO GROUPS',
    )
    .readAt(serverTimeMs, words);
}

/** Of a group. */
export function groupTooltip(facts: GroupFacts, standstill: Standstill | undefined, words: Words): string {
  const { l10n } = words;
  const tooltip = new TooltipText(displayText(facts.name)).sentence(groupVerdict(facts, standstill, words));
  const { lag, oldestPending } = facts;
  const lagMeaning = l10n.t('entries that were not delivered to this group yet');
  if (lag.kind === 'unknown') tooltip.figure(l10n.t('Lag'), l10n.t('unknown'), lag.reason, 'XINFO GROUPS');
  else if (lag.kind === 'atLeast')
    tooltip.figure(l10n.t('Lag'), `≥ ${count(lag.value, words)}`, lagMeaning, lag.source);
  else tooltip.figure(l10n.t('Lag'), count(lag.value, words), lagMeaning, lag.source);
  tooltip
    .figure(
      l10n.t('Pending'),
      count(facts.pending, words),
      l10n.t('delivered to a consumer and not acknowledged'),
      'XINFO GROUPS',
    )
    .figure(l10n.t('Consumers'), count(facts.consumers, words), '', 'XINFO GROUPS')
    .figure(l10n.t('Last delivered id'), facts.lastDeliveredId, '', 'XINFO GROUPS');
  if (oldestPending) {
    const age = oldestPending.age;
    const meaning =
      age.kind === 'unknown' ? age.reason : l10n.t('added {0} ago, as its id says', formatDuration(age.value));
    tooltip.figure(l10n.t('Oldest pending'), oldestPending.id, meaning, 'XPENDING');
  }
  return tooltip.readAt(facts.serverTimeMs, words);
}

/** Of a consumer. */
export function consumerTooltip(facts: ConsumerFacts, words: Words): string {
  const { l10n } = words;
  const tooltip = new TooltipText(displayText(facts.name))
    .sentence(consumerVerdict(facts, words))
    .figure(
      l10n.t('Pending'),
      count(facts.pending, words),
      l10n.t('delivered to this consumer and not acknowledged'),
      'XINFO CONSUMERS',
    )
    .figure(
      l10n.t('Idle'),
      formatDuration(facts.idleMs),
      facts.inactiveMs === undefined
        ? l10n.t('since it last read or claimed with success')
        : l10n.t('since it last tried to read or claim'),
      'XINFO CONSUMERS',
    );
  if (facts.inactiveMs !== undefined) {
    tooltip.figure(
      l10n.t('Inactive'),
      facts.inactiveMs < 0 ? l10n.t('never active') : formatDuration(facts.inactiveMs),
      l10n.t('since it last got an entry'),
      'XINFO CONSUMERS',
    );
  }
  return tooltip.readAt(facts.serverTimeMs, words);
}

/** Of a pending entry. */
export function pendingTooltip(facts: PendingFacts, words: Words): string {
  const { l10n } = words;
  const tooltip = new TooltipText(facts.id).sentence(pendingVerdict(facts, words));
  const { addedAtMs } = facts;
  if (addedAtMs === undefined) {
    const why = l10n.t('its id is no time, or is ahead of the clock of the server');
    tooltip.figure(l10n.t('Age'), l10n.t('unknown'), why, 'XPENDING');
  } else {
    tooltip.figure(
      l10n.t('Age'),
      formatDuration(facts.serverTimeMs - addedAtMs),
      l10n.t('added {0}, as its id says', formatTime(addedAtMs, words.locale)),
      'TIME',
    );
  }
  tooltip
    .figure(
      l10n.t('Owner'),
      displayText(facts.consumer),
      l10n.t('the consumer that it was last delivered to'),
      'XPENDING',
    )
    .figure(l10n.t('Delivery count'), count(facts.deliveryCount, words), '', 'XPENDING');
  if (facts.idleMs < 0) {
    tooltip.figure(l10n.t('Idle'), l10n.t('released'), l10n.t('its owner gave it back'), 'XPENDING');
  } else {
    const deliveredAt = formatTime(facts.serverTimeMs - facts.idleMs, words.locale);
    tooltip.figure(
      l10n.t('Idle'),
      formatDuration(facts.idleMs),
      l10n.t('last delivered, claimed or kept alive {0}', deliveredAt),
      'XPENDING',
    );
  }
  return tooltip.readAt(facts.serverTimeMs, words);
}

/** Of the dead letters of a stream. */
export function deadLettersTooltip(facts: DeadLettersFacts, words: Words): string {
  const { l10n } = words;
  return new TooltipText(l10n.t('Dead letters'))
    .sentence(l10n.t('Messages that were given up, kept in the stream {0}.', displayText(facts.key)))
    .figure(l10n.t('Entries'), count(facts.length, words), '', 'XLEN')
    .readAt(facts.serverTimeMs, words);
}

/** Of one dead letter. */
export function deadLetterTooltip(facts: DeadLetterFacts, words: Words): string {
  const { l10n } = words;
  const tooltip = new TooltipText(facts.id);
  const tell = (name: string, value: string | undefined, meaning = ''): void => {
    if (value !== undefined && value !== '') tooltip.figure(name, displayText(value), meaning, 'XREVRANGE');
  };
  tell(l10n.t('Reason'), facts.reason);
  tell(l10n.t('Error type'), facts.errorType);
  tell(l10n.t('Error'), facts.errorMessage);
  tell(l10n.t('Original id'), facts.originalId, l10n.t('carried across replays'));
  tell(l10n.t('Group'), facts.group);
  tell(l10n.t('Consumer'), facts.consumer);
  tell(l10n.t('Deliveries'), facts.deliveries === undefined ? undefined : count(facts.deliveries, words));
  tell(l10n.t('Replays'), facts.replays === undefined ? undefined : count(facts.replays, words));
  return tooltip.readAt(facts.serverTimeMs, words);
}
