/** The stream panel as a whole: header, the table of entries, the divider, the detail, and the live region. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ErrorNote } from '../errorNote';
import { Detail } from './detail';
import { Divider } from './divider';
import { EntriesTable } from './entriesTable';
import { Header } from './header';
import { JumpBar } from './jumpBar';
import type { StreamModel } from './streamModel';

/** Below this width the detail is under the table instead of beside it. */
const narrowBelowPx = 700;

/** Draws the panel. */
export function App({ model }: { model: StreamModel }): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const isNarrow = useSignal(false);
  useLayoutEffect(() => {
    const measure = (): void => {
      isNarrow.value = document.documentElement.clientWidth < narrowBelowPx;
    };
    measure();
    window.addEventListener('resize', measure);
    return () => {
      window.removeEventListener('resize', measure);
    };
  }, []);
  const sessionError = model.session.error.value;
  if (sessionError) return <ErrorNote model={model} error={sessionError} onRetry={() => void model.start()} />;
  const share = `${Math.round(model.layout.split.value * 1000) / 10}%`;
  return (
    <div class="app">
      <Header model={model} />
      <div class={isNarrow.value ? 'body narrow' : 'body wide'} ref={body} style={{ '--table-share': share }}>
        <section class="table-pane" aria-label="Entries">
          <JumpBar model={model} />
          <EntriesTable model={model} />
        </section>
        <Divider model={model} body={body} isNarrow={isNarrow.value} />
        <Detail model={model} />
      </div>
      <div class="visually-hidden" role="status" aria-live="polite">
        {model.announcement.value}
      </div>
    </div>
  );
}
