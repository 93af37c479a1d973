/** The delivery history: a vertical timeline, newest at the bottom, each event with where it is known from. */
import type { JSX } from 'preact';
import type { EntryDetail, HistoryEventView, HistoryLimits, HistorySourceView } from '../../src/protocol/streamPanel';
import { formatCount, formatDuration, formatFullTime, formatNumber, formatTime } from '../format';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { groupColours } from './groupChips';
import type { StreamModel } from './streamModel';

/** Draws the timeline. */
export function History({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { history, historyLimits } = detail;
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
      <ul class="history-notes muted">
        {notes(model, historyLimits).map((note) => (
          <li key={note}>
            <SafeText text={note} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What the timeline does not tell, and why. */
function notes(model: StreamModel, limits: HistoryLimits): readonly string[] {
  const zone = model.layout.zone.value;
  const time = (ms: number): string => formatTime(ms, zone, model.serverNowMs());
  const { journal, recordedSinceMs, skipped, malformed, hidden, unknownEndings } = limits;
  const found: string[] = [];
  if (journal === 'none') {
    found.push(
      t(
        'Redis keeps no history of deliveries, and this stream has no delivery journal: this is what the server and the dead letters tell now. Acknowledgements leave no trace.',
      ),
    );
  }
  if (journal === 'not-permitted') found.push(t('There may be a delivery journal, but this user may not read it.'));
  if (recordedSinceMs !== undefined) {
    found.push(t('The delivery journal goes back to {0}. What was before is not known.', time(recordedSinceMs)));
  }
  if (skipped) {
    const text = t(
      'The delivery journal is long: from {0} to {1} it was not looked through.',
      time(skipped.fromMs),
      time(skipped.toMs),
    );
    found.push(text);
  }
  if (hidden > 0)
    found.push(formatCount(hidden, '{0} event in between is not shown.', '{0} events in between are not shown.'));
  if (malformed > 0) {
    found.push(
      formatCount(malformed, '{0} entry of the journal is no event.', '{0} entries of the journal are no events.'),
    );
  }
  for (const { display } of unknownEndings) {
    found.push(t('The group {0} is past it and it is not pending there. How it ended there is not known.', display));
  }
  return found;
}

function Event(props: { model: StreamModel; event: HistoryEventView; previous: number | null }): JSX.Element {
  const { model, event, previous } = props;
  const zone = model.layout.zone.value;
  const { atMs, error, sources } = event;
  return (
    <li class={`event ${event.outcome}`}>
      <span class={`event-dot ${groupClass(model, event)}`} aria-hidden="true" />
      <div class="event-head">
        <span class="event-title">
          <SafeText text={event.title} />
        </span>
        {sources.map((source) => (
          <span key={source} class={`source-mark ${source}`} title={sourceText(source)}>
            {sourceName(source)}
          </span>
        ))}
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
          <span title={event.writer === undefined ? undefined : t('Recorded by {0}', event.writer)}>
            <SafeText text={event.consumer.display} />
          </span>
        ) : null}
        {event.attempt === undefined ? null : <span>{t('delivery {0}', formatNumber(event.attempt))}</span>}
        {event.tookMs === undefined ? null : (
          <span title={t('How long the handler ran')}>{t('took {0}', formatDuration(event.tookMs))}</span>
        )}
        {event.delayMs === undefined ? null : <span>{t('in {0}', formatDuration(event.delayMs))}</span>}
        {event.entry === undefined ? null : <OtherEntry model={model} entry={event.entry} />}
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

function OtherEntry(props: { model: StreamModel; entry: NonNullable<HistoryEventView['entry']> }): JSX.Element {
  const { model, entry } = props;
  const open = (): void => void model.act(() => model.client.request('openEntry', entry));
  return (
    <span>
      <button type="button" class="link mono" title={t('Open this entry of the same message')} onClick={open}>
        <SafeText text={entry.id} />
      </button>
    </span>
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

function sourceName(source: HistorySourceView): string {
  return { recorded: t('recorded'), observed: t('observed'), derived: t('derived'), server: t('server') }[source];
}

function sourceText(source: HistorySourceView): string {
  return {
    recorded: t('Recorded by the consumer in the delivery journal.'),
    observed: t('Seen by this extension while it watched.'),
    derived: t('Derived from dead letters and replays that carry the id.'),
    server: t('Told by the server now.'),
  }[source];
}
