/** Where the entry stands in every group of the stream. */
import type { JSX } from 'preact';
import type { EntryDetail, StandingView } from '../../src/protocol/streamPanel';
import { formatDuration, formatFullTime, formatNumber, formatTime } from '../format';
import { Icon } from '../icons';
import type { IconName } from '../icons';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { groupColours } from './groupChips';
import type { StreamModel } from './streamModel';

/** Draws one block for each group. */
export function Standings({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { standings } = detail;
  if (standings.length === 0) return <p class="muted">{t('The stream has no groups: nobody reads it by group.')}</p>;
  return (
    <ul class="standings">
      {standings.map((standing, index) => (
        <Standing key={standing.group.text} model={model} standing={standing} colour={index % groupColours} />
      ))}
    </ul>
  );
}

function Standing(props: { model: StreamModel; standing: StandingView; colour: number }): JSX.Element {
  const { model, standing, colour } = props;
  const zone = model.layout.zone.value;
  const { consumer, deliveryCount, idleMs, lastDeliveredAtMs } = standing;
  return (
    <li class={`standing ${standing.state}`}>
      <div class="standing-head">
        <span class={`group-dot group-${colour}`} aria-hidden="true" />
        <span class="standing-group">
          <SafeText text={standing.group.display} />
        </span>
        <span class="standing-state">
          <Icon name={stateIcons[standing.state]} />
          {stateName(standing.state)}
        </span>
      </div>
      <dl class="inline-facts">
        {consumer === undefined ? null : (
          <div>
            <dt>{t('Owner')}</dt>
            <dd>
              <SafeText text={consumer.display} />
            </dd>
          </div>
        )}
        {deliveryCount === undefined ? null : (
          <div>
            <dt>{t('Deliveries')}</dt>
            <dd>{formatNumber(deliveryCount)}</dd>
          </div>
        )}
        {idleMs === undefined ? null : (
          <div>
            <dt>{t('Idle')}</dt>
            <dd>{formatDuration(idleMs)}</dd>
          </div>
        )}
        {lastDeliveredAtMs === undefined ? null : (
          <div>
            <dt>{t('Last delivered')}</dt>
            <dd title={formatFullTime(lastDeliveredAtMs, zone)}>
              {formatTime(lastDeliveredAtMs, zone, model.serverNowMs())}
            </dd>
          </div>
        )}
      </dl>
      <p class="muted">
        <SafeText text={standing.explanation} />
      </p>
    </li>
  );
}

const stateIcons: Readonly<Record<StandingView['state'], IconName>> = {
  undelivered: 'inbox',
  pending: 'clock',
  passed: 'check',
  gone: 'trash',
  absent: 'circleSlash',
};

function stateName(state: StandingView['state']): string {
  return {
    undelivered: t('not yet delivered'),
    pending: t('pending'),
    passed: t('passed'),
    gone: t('pending, message gone'),
    absent: t('not in the stream'),
  }[state];
}
