/** The entry as redis-cli prints it, and the lines that show the same there. */
import type { JSX } from 'preact';
import type { EntryDetail } from '../../src/protocol/streamPanel';
import { Button } from '../controls';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import type { StreamModel } from './streamModel';

/** Draws the raw reply and the commands. */
export function Raw({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { raw, commands, id } = detail;
  return (
    <div class="raw">
      <div class="field-head">
        <h3 class="field-title">{t('The same in redis-cli')}</h3>
        <div class="field-actions">
          <Button
            icon="copy"
            label={t('Copy Lines')}
            onClick={() => void model.copy({ what: 'commands', id }, t('The redis-cli lines were copied.'))}
          />
        </div>
      </div>
      <pre class="value commands" tabIndex={0}>
        <SafeText text={commands.join('\n')} keepLines />
      </pre>
      <h3 class="field-title">{t('Reply')}</h3>
      <pre class="value" tabIndex={0}>
        <SafeText text={raw.text} keepLines />
      </pre>
      {raw.truncated ? <p class="muted">{t('Only the beginning of the reply is shown.')}</p> : null}
    </div>
  );
}
