/** The divider between table and detail: dragged with the pointer, moved with the arrow keys. */
import type { JSX, RefObject } from 'preact';
import { t } from '../l10n';
import { clampSplit, splitLimits } from './layout';
import type { StreamModel } from './streamModel';

/** How far one key press moves it. */
const step = 0.02;

/** Draws the divider; it lies across when the panel is narrow. */
export function Divider(props: { model: StreamModel; body: RefObject<HTMLElement>; isNarrow: boolean }): JSX.Element {
  const { body, isNarrow } = props;
  const { split } = props.model.layout;
  const move = (event: PointerEvent): void => {
    const box = body.current?.getBoundingClientRect();
    if (!box) return;
    const share = isNarrow ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width;
    split.value = clampSplit(share);
  };
  const target = (key: string): number | undefined => {
    if (key === (isNarrow ? 'ArrowUp' : 'ArrowLeft')) return split.value - step;
    if (key === (isNarrow ? 'ArrowDown' : 'ArrowRight')) return split.value + step;
    if (key === 'Home') return splitLimits.min;
    return key === 'End' ? splitLimits.max : undefined;
  };
  return (
    <div
      class="divider"
      role="separator"
      tabIndex={0}
      aria-label={t('Size of the table')}
      aria-orientation={isNarrow ? 'horizontal' : 'vertical'}
      aria-valuemin={splitLimits.min * 100}
      aria-valuemax={splitLimits.max * 100}
      aria-valuenow={Math.round(split.value * 100)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
        event.currentTarget.focus();
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
      }}
      onDblClick={() => (split.value = 0.5)}
      onKeyDown={(event) => {
        const share = target(event.key);
        if (share === undefined) return;
        event.preventDefault();
        split.value = clampSplit(share);
      }}
    />
  );
}
