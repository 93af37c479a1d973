/** The fields of an entry, each with its value as JSON, text or bytes. */
import type { JSX } from 'preact';
import type { EntryDetail, FieldView } from '../../src/protocol/streamPanel';
import { Button } from '../controls';
import { formatBytes, formatNumber } from '../format';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { JsonValue } from './jsonValue';
import type { StreamModel } from './streamModel';

/** Draws the payload; a message that is gone has none. */
export function Payload({ model, detail }: { model: StreamModel; detail: EntryDetail }): JSX.Element {
  const { fields } = detail;
  if (fields === null) return <p class="muted">{t('There is no payload to show.')}</p>;
  return (
    <div class="fields">
      {fields.map((field, index) => (
        <Field key={index} model={model} id={detail.id} field={field} index={index} />
      ))}
      {detail.fieldCount > fields.length ? (
        <p class="muted">
          {t(
            'The first {0} of {1} fields are shown. Copy Payload copies them all.',
            formatNumber(fields.length),
            formatNumber(detail.fieldCount),
          )}
        </p>
      ) : null}
    </div>
  );
}

function Field(props: { model: StreamModel; id: string; field: FieldView; index: number }): JSX.Element {
  const { model, id, field, index } = props;
  const { name, value } = field;
  const open = (): void => void model.act(() => model.client.request('openValue', { id, field: index }));
  return (
    <section class="field" aria-label={name.display}>
      <div class="field-head">
        <h3 class="field-title mono">
          <SafeText text={name.display} />
        </h3>
        <span class="field-kind muted">
          {kindName(value.kind)} · {formatBytes(value.bytes)}
        </span>
        <div class="field-actions">
          <Button
            icon="copy"
            iconOnly
            label={t('Copy value of {0}', name.display)}
            onClick={() => void model.copy({ what: 'value', id, field: index }, t('The value was copied.'))}
          />
          <Button icon="open" iconOnly label={t('Open value of {0} in an editor', name.display)} onClick={open} />
        </div>
      </div>
      <Value model={model} field={field} index={index} />
      {value.truncated ? (
        <p class="truncated">
          <span>{t('Only the beginning of {0} is shown.', formatBytes(value.bytes))}</span>
          <Button icon="open" label={t('Open Whole Value')} onClick={open} />
        </p>
      ) : null}
    </section>
  );
}

function Value({ model, field, index }: { model: StreamModel; field: FieldView; index: number }): JSX.Element {
  const { kind, text, truncated } = field.value;
  if (text === '' && !truncated) return <pre class="value muted">{t('(empty)')}</pre>;
  if (kind === 'json' && !truncated) return <JsonValue model={model} text={text} field={index} />;
  return (
    <pre class={kind === 'bytes' ? 'value bytes' : 'value'} tabIndex={0}>
      <SafeText text={text} keepLines />
    </pre>
  );
}

function kindName(kind: FieldView['value']['kind']): string {
  return { json: t('JSON'), text: t('text'), bytes: t('bytes') }[kind];
}
