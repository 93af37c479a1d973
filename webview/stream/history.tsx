/** The delivery history: a vertical timeline, newest at the bottom, each event with where it is known from. */
import type { JSX } from 'preact';
import type { EntryDetail, HistoryEventView } from '../../src/protocol/streamPanel';
import { formatDuration, formatFullTime, formatNumber, formatTime } from '../format';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { groupColours } from './groupChips';
import type { StreamModel } from './streamModel';

/** Draws the timeline. */
export function History({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { history } = detail;
  return (
    <div class="history">
      {history.length === 0 ? (
        <p class="muted">{t('Nothing is known of this entry beyond its id.')}</p>
      ) : (
        <ol class="timeline" aria-label={t('Delivery history')}>
          {history.map((event, index) => (
            <Event key={index} model={model} event={event} previous={previousTime(history, index)} />
          ))}
        </ol>
      )}
      <p class="muted note">
        {t(
          'Redis keeps no history of deliveries: this is what the server and the dead letters tell now. Acknowledgements leave no trace.',
        )}
      </p>
    </div>
  );
}

function Event(props: { model: StreamModel; event: HistoryEventView; previous: number | null }): JSX.Element {
  const { model, event, previous } = props;
  const zone = model.layout.zone.value;
  const { atMs, error } = event;
  return (
    <li class={`event ${event.outcome}`}>
      <span class={`event-dot ${groupClass(model, event)}`} aria-hidden="true" />
      <div class="event-head">
        <span class="event-title">
          <SafeText text={event.title} />
        </span>
        <span class="source-mark" title={sourceText(event.source)}>
          {sourceName(event.source)}
        </span>
      </div>
      <p class="event-facts">
        {atMs === null ? (
          <span title={t('No source tells when this was.')}>{t('time unknown')}</span>
        ) : (
          <span title={formatFullTime(atMs, zone)}>{formatTime(atMs, zone, model.serverNowMs())}</span>
        )}
        {atMs !== null && previous !== null && atMs >= previous ? (
          <span title={t('Since the event before')}>+{formatDuration(atMs - previous)}</span>
        ) : null}
        {event.group ? (
          <span>
            <SafeText text={event.group.display} />
          </span>
        ) : null}
        {event.consumer ? (
          <span>
            <SafeText text={event.consumer.display} />
          </span>
        ) : null}
        {event.attempt === undefined ? null : <span>{t('delivery {0}', formatNumber(event.attempt))}</span>}
      </p>
      {error ? (
        <details class="event-error">
          <summary>
            <span class="error-type">
              <SafeText text={error.type} />
            </span>{' '}
            <SafeText text={error.message} />
          </summary>
          {error.stack === undefined ? null : (
            <pre class="value">
              <SafeText text={error.stack} keepLines />
            </pre>
          )}
        </details>
      ) : null}
    </li>
  );
}

function previousTime(history: readonly HistoryEventView[], index: number): number | null {
  return history.slice(0, index).findLast(({ atMs }) => atMs !== null)?.atMs ?? null;
}

function groupClass(model: StreamModel, event: HistoryEventView): string {
  const groups = model.overview.data.value?.groups ?? [];
  const index = groups.findIndex(({ name }) => name.text === event.group?.text);
  return index < 0 ? 'group-none' : `group-${index % groupColours}`;
}

function sourceName(source: HistoryEventView['source']): string {
  return { recorded: t('recorded'), observed: t('observed'), derived: t('derived'), server: t('server') }[source];
}

function sourceText(source: HistoryEventView['source']): string {
  return {
    recorded: t('Recorded by the consumer in the delivery journal.'),
    observed: t('Seen by this extension while it watched.'),
    derived: t('Derived from dead letters and replays that carry the id.'),
    server: t('Told by the server now.'),
  }[source];
}
