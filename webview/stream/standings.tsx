/** Where the entry stands in every group of the stream. */
import type { JSX } from 'preact';
import type { EntryDetail, StandingView } from '../../src/protocol/streamPanel';
import { formatDuration, formatFullTime, formatNumber, formatTime } from '../format';
import { Button } from '../controls';
import { Icon } from '../icons';
import type { IconName } from '../icons';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { groupColours } from './groupChips';
import type { StreamModel } from './streamModel';

/** Draws one block for each group. */
export function Standings({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { standings } = detail;
  return (
    <>
      {standings.length === 0 ? (
        <p class="muted">{t('The stream has no groups: nobody reads it by group.')}</p>
      ) : (
        <StandingList model={model} detail={detail} />
      )}
      {detail.fields === null ? null : <EntryActions model={model} id={detail.id} />}
    </>
  );
}

function StandingList({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { standings, groupCount } = detail;
  const more = groupCount - standings.length;
  return (
    <>
      <ul class="standings">
        {standings.map((standing, index) => (
          <Standing
            key={standing.group.text}
            model={model}
            id={detail.id}
            standing={standing}
            colour={index % groupColours}
          />
        ))}
      </ul>
      {more > 0 ? (
        <p class="muted">{t('{0} more groups do not fit here; the tree shows them.', formatNumber(more))}</p>
      ) : null}
    </>
  );
}

function Standing(props: { model: StreamModel; id: string; standing: StandingView; colour: number }): JSX.Element {
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
      <Actions model={model} id={props.id} standing={standing} />
    </li>
  );
}

/** What can be done in one group, safest first; the host asks before anything happens. */
function Actions({
  model,
  id,
  standing,
}: {
  model: StreamModel;
  id: string;
  standing: StandingView;
}): JSX.Element | null {
  const { state, group } = standing;
  if (state !== 'pending' && state !== 'gone') return null;
  const run = (verb: 'makeReclaimable' | 'claim' | 'acknowledge' | 'moveToDeadLetters') => (): void => {
    void model.actOn({ verb, id, group: group.text });
  };
  const acknowledge = <Button icon="check" label={t('Acknowledge…')} onClick={run('acknowledge')} />;
  if (state === 'gone') return <div class="standing-actions">{acknowledge}</div>;
  return (
    <div class="standing-actions">
      <Button icon="clock" label={t('Make Reclaimable…')} onClick={run('makeReclaimable')} />
      <Button icon="person" label={t('Claim…')} onClick={run('claim')} />
      {acknowledge}
      <Button icon="inbox" label={t('Move to Dead Letters…')} onClick={run('moveToDeadLetters')} />
    </div>
  );
}

/** What can be done to the entry whatever the groups. */
function EntryActions({ model, id }: { model: StreamModel; id: string }): JSX.Element {
  return (
    <div class="standing-actions">
      <Button icon="refresh" label={t('Replay…')} onClick={() => void model.actOn({ verb: 'replay', id })} />
      <Button icon="trash" label={t('Delete…')} onClick={() => void model.actOn({ verb: 'delete', id })} />
    </div>
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
