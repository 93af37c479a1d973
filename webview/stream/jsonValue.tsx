/** JSON pretty-printed, its objects and arrays foldable; folds are kept by line, so that a refresh leaves them. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatCount, formatNumber } from '../format';
import { Icon } from '../icons';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { jsonLines, visibleLines } from './jsonLines';
import type { JsonLine } from './jsonLines';
import type { StreamModel } from './streamModel';

/** How many lines are drawn before a button offers more. */
const lineStep = 500;

/** Deeper lines are not indented further. */
const maxIndent = 24;

/** Draws a JSON value, or its text when it turns out to be none. */
export function JsonValue({ model, text, field }: { model: StreamModel; text: string; field: number }): JSX.Element {
  const limit = useSignal(lineStep);
  const lines = useMemo(() => jsonLines(text), [text]);
  const folds = model.layout.folds.value;
  if (!lines) {
    return (
      <pre class="value" tabIndex={0}>
        <SafeText text={text} keepLines />
      </pre>
    );
  }
  const key = (index: number): string => `${field}:${index}`;
  const { indexes, total } = visibleLines(lines, (index) => folds.has(key(index)), limit.value);
  return (
    <div class="value json" role="group" aria-label={t('JSON')}>
      {indexes.map((index) => {
        const line = lines[index];
        return line ? (
          <Line
            key={index}
            line={line}
            closing={line.end === undefined ? undefined : lines[line.end]}
            isFolded={folds.has(key(index))}
            onToggle={() => {
              model.layout.toggleFold(key(index));
            }}
          />
        ) : null;
      })}
      {total > indexes.length ? (
        <button type="button" class="link more-lines" onClick={() => (limit.value += lineStep)}>
          {t('Show more of {0} lines', formatNumber(total))}
        </button>
      ) : null}
    </div>
  );
}

function Line(props: {
  line: JsonLine;
  closing: JsonLine | undefined;
  isFolded: boolean;
  onToggle: () => void;
}): JSX.Element {
  const { line, closing, isFolded } = props;
  const isOpen = line.kind === 'open';
  const comma = (isOpen && isFolded ? closing?.comma : line.comma) === true ? ',' : '';
  const size = formatCount(line.size ?? 0, '{0} value', '{0} values');
  return (
    <div class="json-line" style={{ '--depth': Math.min(line.depth, maxIndent) }}>
      {isOpen ? (
        <button
          type="button"
          class="fold"
          aria-expanded={!isFolded}
          aria-label={isFolded ? t('Unfold {0}', size) : t('Fold {0}', size)}
          onClick={props.onToggle}
        >
          <Icon name={isFolded ? 'chevronRight' : 'chevronDown'} />
        </button>
      ) : (
        <span class="fold" />
      )}
      {line.name === null ? null : (
        <>
          <span class="json-name">
            <SafeText text={line.name} />
          </span>
          {': '}
        </>
      )}
      <span class={`json-${line.kind}`}>
        <SafeText text={line.text} />
      </span>
      {isOpen && isFolded ? (
        <>
          <span class="json-size">{size}</span>
          {closing?.text}
        </>
      ) : null}
      {comma}
    </div>
  );
}
