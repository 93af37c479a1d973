/** What a dead letter says of itself: why it died, the error, and the entry that it was. */
import type { ComponentChildren, JSX } from 'preact';
import type { DeadLetterView } from '../../src/protocol/streamPanel';
import { formatCount, formatFullTime, formatTime } from '../format';
import { Icon } from '../icons';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import type { StreamModel } from './streamModel';

/** Draws the banner above the tabs. */
export function DeadLetterBanner({ model, letter }: { model: StreamModel; letter: DeadLetterView }): JSX.Element {
  const zone = model.layout.zone.value;
  const { errorType, errorMessage, stream, atMs } = letter;
  return (
    <div class="banner dead-letter">
      <Icon name="circleSlash" />
      <div class="banner-body">
        <strong>
          {t('Dead letter')}: <SafeText text={letter.reason} />
        </strong>
        {errorType !== undefined || errorMessage !== undefined ? (
          <p class="error-line">
            {errorType === undefined || errorType === '' ? null : (
              <span class="error-type">
                <SafeText text={errorType} />
              </span>
            )}
            <SafeText text={errorMessage ?? ''} keepLines />
          </p>
        ) : null}
        <dl class="inline-facts">
          <Fact label={t('Origin')}>
            {stream === undefined ? (
              <span class="mono">{letter.originalId}</span>
            ) : (
              <button
                type="button"
                class="link"
                title={t('Open the original entry')}
                onClick={() =>
                  void model.act(() =>
                    model.client.request('openEntry', { stream: stream.text, id: letter.originalId }),
                  )
                }
              >
                <SafeText text={stream.display} /> <span class="mono">{letter.originalId}</span>
              </button>
            )}
          </Fact>
          {letter.diedId !== undefined && letter.diedId !== letter.originalId ? (
            <Fact label={t('Died as')}>
              <span class="mono">{letter.diedId}</span>
            </Fact>
          ) : null}
          {letter.group ? (
            <Fact label={t('Group')}>
              <SafeText text={letter.group.display} />
            </Fact>
          ) : null}
          {letter.consumer ? (
            <Fact label={t('Consumer')}>
              <SafeText text={letter.consumer.display} />
            </Fact>
          ) : null}
          {letter.deliveries === undefined ? null : (
            <Fact label={t('Deliveries')}>{formatCount(letter.deliveries, '{0}', '{0}')}</Fact>
          )}
          {letter.replays === undefined ? null : (
            <Fact label={t('Replays')}>{formatCount(letter.replays, '{0}', '{0}')}</Fact>
          )}
          {atMs === undefined ? null : (
            <Fact label={t('Dead-lettered')}>
              <span title={formatFullTime(atMs, zone)}>{formatTime(atMs, zone, model.serverNowMs())}</span>
            </Fact>
          )}
        </dl>
        {letter.format === 'foreign' ? (
          <p class="muted">{t('Written by another tool; only what its format holds is shown.')}</p>
        ) : null}
      </div>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
