/** The selected entry: what it is, whether it is gone or a dead letter, and the tabs with all that is known of it. */
import type { JSX } from 'preact';
import type { EntryDetail } from '../../src/protocol/streamPanel';
import { Button } from '../controls';
import { ErrorNote } from '../errorNote';
import { formatBytes, formatCount, formatDuration, formatFullTime, formatNumber, formatTime } from '../format';
import { Icon } from '../icons';
import { t } from '../l10n';
import { Tabs } from '../tabs';
import { DeadLetterBanner } from './deadLetterBanner';
import { History } from './history';
import type { TabName } from './layout';
import { Payload } from './payload';
import { Raw } from './raw';
import { Standings } from './standings';
import type { StreamModel } from './streamModel';

/** Draws the detail pane. */
export function Detail({ model }: { model: StreamModel }): JSX.Element {
  return (
    <section class="detail-pane" aria-label={t('Selected entry')}>
      <DetailContent model={model} />
    </section>
  );
}

function DetailContent({ model }: { model: StreamModel }): JSX.Element | null {
  const id = model.layout.selectedId.value;
  const detail = model.detail.data.value;
  const error = model.detail.error.value;
  if (id === null) return <NothingSelected />;
  const retry = (): void => void model.retry(() => model.retryDetail());
  if (error && detail?.id !== id) {
    return (
      <>
        <h2 class="detail-title mono">{id}</h2>
        <ErrorNote model={model} error={error} onRetry={retry} />
      </>
    );
  }
  if (!detail || (detail.id !== id && model.detail.isSlow.value)) {
    return model.detail.isSlow.value ? <DetailSkeleton id={id} /> : null;
  }
  return (
    <>
      <DetailHead model={model} detail={detail} />
      {error ? <ErrorNote model={model} error={error} onRetry={retry} /> : null}
      {detail.fields === null ? <GoneBanner detail={detail} /> : null}
      {detail.deadLetter ? <DeadLetterBanner model={model} letter={detail.deadLetter} /> : null}
      <DetailTabs model={model} detail={detail} />
    </>
  );
}

function DetailHead({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const zone = model.layout.zone.value;
  const { id, timeMs, serverTimeMs } = detail;
  const age = timeMs === null ? null : serverTimeMs - timeMs;
  return (
    <div class="detail-head">
      <div class="detail-heading">
        <h2 class="detail-title mono">{id}</h2>
        <p class="detail-facts">
          {timeMs === null ? (
            <span title={t('The id does not tell a time: its producer chose it.')}>{t('no time')}</span>
          ) : (
            <span title={formatFullTime(timeMs, zone)}>{formatTime(timeMs, zone, serverTimeMs)}</span>
          )}
          {age !== null && age >= 0 ? <span>{t('{0} ago', formatDuration(age))}</span> : null}
          {detail.fields ? <span>{formatCount(detail.fieldCount, '{0} field', '{0} fields')}</span> : null}
          {detail.fields ? (
            <span title={t('{0} bytes of names and values', formatNumber(detail.bytes))}>
              {formatBytes(detail.bytes)}
            </span>
          ) : null}
        </p>
      </div>
      <div class="toolbar">
        <Button
          icon="copy"
          label={t('Copy Id')}
          onClick={() => void model.copy({ what: 'id', id }, t('The id was copied.'))}
        />
        {detail.fields ? (
          <Button
            icon="copy"
            label={t('Copy Payload')}
            onClick={() => void model.copy({ what: 'payload', id }, t('The payload was copied.'))}
          />
        ) : null}
      </div>
    </div>
  );
}

function DetailTabs({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { tab } = model.layout;
  const pendingIn = detail.standings.filter(({ state }) => state === 'pending' || state === 'gone').length;
  return (
    <Tabs<TabName>
      id="detail"
      label={t('Selected entry')}
      selected={tab.value}
      onSelect={(name) => (tab.value = name)}
      items={[
        { name: 'payload', label: t('Payload') },
        { name: 'history', label: t('Delivery history'), badge: countBadge(detail.history.length) },
        { name: 'groups', label: t('In groups'), badge: pendingIn > 0 ? t('{0} pending', pendingIn) : undefined },
        { name: 'raw', label: t('Raw') },
      ]}
    >
      {tab.value === 'payload' ? <Payload model={model} detail={detail} /> : null}
      {tab.value === 'history' ? <History model={model} detail={detail} /> : null}
      {tab.value === 'groups' ? <Standings model={model} detail={detail} /> : null}
      {tab.value === 'raw' ? <Raw model={model} detail={detail} /> : null}
    </Tabs>
  );
}

function countBadge(count: number): string | undefined {
  return count > 0 ? formatNumber(count) : undefined;
}

function GoneBanner({ detail }: { detail: EntryDetail }): JSX.Element {
  const isPending = detail.standings.some(({ state }) => state === 'gone');
  return (
    <div class="banner gone">
      <Icon name="trash" />
      <div>
        <strong>{isPending ? t('The message is gone') : t('No such entry')}</strong>
        <p>
          {isPending
            ? t('The entry was deleted or trimmed while it was pending. Its payload cannot be read any more.')
            : t('The stream has no entry with this id: it was deleted, trimmed, or never there.')}
        </p>
      </div>
    </div>
  );
}

function NothingSelected(): JSX.Element {
  return (
    <div class="empty">
      <p>{t('Select an entry to see its payload, its delivery history and where it stands in every group.')}</p>
    </div>
  );
}

function DetailSkeleton({ id }: { id: string }): JSX.Element {
  return (
    <>
      <h2 class="detail-title mono">{id}</h2>
      <div class="skeleton-block" aria-hidden="true">
        <span class="skeleton" />
        <span class="skeleton" />
        <span class="skeleton" />
      </div>
    </>
  );
}
