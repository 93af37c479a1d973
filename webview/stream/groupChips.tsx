/** The groups of the stream as chips: name, lag and pending, each figure with where it is from. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { GroupView, StreamOverview } from '../../src/protocol/streamPanel';
import { figureNumber, figureOrigin, formatCount, formatNumber } from '../format';
import { Icon } from '../icons';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import type { StreamModel } from './streamModel';

/** How many chips show before the rest is folded away. */
const shownChips = 8;

/** Draws the chips of groups and dead letters. */
export function GroupChips({ model, overview }: { model: StreamModel; overview: StreamOverview }): JSX.Element {
  const isUnfolded = useSignal(false);
  const { groups, groupCount, deadLetters } = overview;
  const shown = isUnfolded.value ? groups : groups.slice(0, shownChips);
  const more = groupCount - shown.length;
  return (
    <div class="chips">
      <ul class="chip-list" aria-label={formatCount(groupCount, '{0} group', '{0} groups')}>
        {shown.map((group, index) => (
          <GroupChip key={group.name.text} group={group} colour={index % groupColours} />
        ))}
      </ul>
      {more > 0 && isUnfolded.value ? (
        <span class="muted">{t('{0} more groups do not fit here; the tree shows them.', formatNumber(more))}</span>
      ) : more > 0 ? (
        <button type="button" class="link" onClick={() => (isUnfolded.value = true)}>
          {t('{0} more groups', formatNumber(more))}
        </button>
      ) : null}
      {deadLetters ? (
        <button
          type="button"
          class="chip dead-letters"
          title={t('Open {0}', deadLetters.stream.display)}
          onClick={() => void model.act(() => model.client.request('openDeadLetters', null))}
        >
          <Icon name="inbox" />
          <span class="chip-name">{t('Dead letters')}</span>
          <span class="chip-figure">{formatNumber(deadLetters.length)}</span>
        </button>
      ) : null}
    </div>
  );
}

/** How many colours tell groups apart. */
export const groupColours = 6;

function GroupChip({ group, colour }: { group: GroupView; colour: number }): JSX.Element {
  const number = figureNumber(group.lag);
  const lag = number === null ? t('lag unknown') : t('lag {0}', number);
  const pending = t('{0} pending', formatNumber(group.pending));
  const title = [
    `${lag}: ${figureOrigin(group.lag)}`,
    `${pending} (XINFO GROUPS)`,
    formatCount(group.consumers, '{0} consumer', '{0} consumers'),
    t('last delivered id {0}', group.lastDeliveredId),
  ].join('\n');
  return (
    <li class="chip" title={title}>
      <span class={`group-dot group-${colour}`} aria-hidden="true" />
      <span class="chip-name">
        <SafeText text={group.name.display} />
      </span>
      <span class={group.lag.kind === 'unknown' ? 'chip-figure unknown' : 'chip-figure'}>{lag}</span>
      <span class={group.pending > 0 ? 'chip-figure' : 'chip-figure muted'}>{pending}</span>
      <span class="visually-hidden">{title}</span>
    </li>
  );
}
