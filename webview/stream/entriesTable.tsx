/** The table of entries, newest first: only the rows in sight exist; it loads more as either end comes near. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { EntryRow } from '../../src/protocol/streamPanel';
import { ErrorNote } from '../errorNote';
import { formatBytes, formatFullTime, formatNumber, formatTime } from '../format';
import { t } from '../l10n';
import { SafeText } from '../safeText';
import { indexOfEntry } from './entriesWindow';
import type { StreamModel } from './streamModel';
import { useVirtualRows } from './virtualRows';

/** The height of a row in pixels; the style sheet has the same. */
export const rowHeight = 22;

/** How near to an end, in rows, the next page is asked for. */
const nearEnd = 30;

const rowId = (id: string): string => `row-${id}`;

/** Draws the table. */
export function EntriesTable({ model }: { model: StreamModel }): JSX.Element {
  const { entries, layout } = model;
  const scroller = useRef<HTMLDivElement>(null);
  const window = entries.window.value;
  const rows = entries.rows.value;
  const selectedIndex = window && layout.selectedId.value !== null ? indexOfEntry(window, layout.selectedId.value) : -1;
  const virtual = useVirtualRows({
    scroller,
    rows,
    rowHeight,
    keep: selectedIndex,
    target: model.scrollTarget,
    startsAtNewest: window?.hasNewer === false,
  });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || rows.length === 0 || entries.failure.value) return;
    // Read here and not while drawing: rows that came in above have moved the scroll position since.
    const first = Math.floor(element.scrollTop / rowHeight);
    const last = first + Math.ceil(element.clientHeight / rowHeight);
    if (window?.hasOlder === true && last >= rows.length - nearEnd) void entries.loadMore('older');
    else if (window?.hasNewer === true && first <= nearEnd) void entries.loadMore('newer');
  }, [virtual.first, virtual.last, window, entries.loading.value]);

  const pageRows = Math.max(1, virtual.last - virtual.first - 2);
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = targetIndex(event, { selected: selectedIndex, count: rows.length, page: pageRows });
    if (event.key === 'Home' || event.key === 'End') void model.goToEnd(event.key === 'Home' ? 'newest' : 'oldest');
    else if (event.key === 'Enter') document.getElementById('detail-tab-panel')?.focus();
    else if (index !== undefined) model.select(index);
    else return;
    event.preventDefault();
  };
  const failure = entries.failure.value;
  const retry = (): void => void model.retry(() => entries.retry());
  const selectedRow = rows[selectedIndex];
  return (
    <div class="table" role="presentation">
      {failure && failure.part !== 'older' ? (
        <ErrorNote model={model} error={failure.error} onRetry={retry} compact />
      ) : null}
      <div
        class={hasDates(model, rows) ? 'grid has-dates' : 'grid'}
        role="grid"
        id="entries"
        tabIndex={0}
        aria-label={t('Entries, newest first')}
        aria-rowcount={window && !window.hasOlder && !window.hasNewer ? rows.length + 1 : -1}
        aria-colcount={4}
        aria-busy={entries.loading.value !== null}
        aria-activedescendant={selectedRow ? rowId(selectedRow.id) : undefined}
        ref={scroller}
        onKeyDown={onKeyDown}
      >
        <div class="row head" role="row" aria-rowindex={1}>
          <span role="columnheader">{t('Time')}</span>
          <span role="columnheader">{t('Id')}</span>
          <span role="columnheader">{t('Fields')}</span>
          <span role="columnheader" class="size">
            {t('Size')}
          </span>
        </div>
        {rows.length > 0 ? (
          <div class="rows" role="rowgroup" style={{ height: `${virtual.totalHeight}px` }}>
            {virtual.indexes.map((index) => (
              <Row key={rows[index]?.id ?? index} model={model} index={index} isSelected={index === selectedIndex} />
            ))}
          </div>
        ) : null}
        {entries.isSlow.value && (entries.loading.value === 'older' || rows.length === 0) ? (
          <SkeletonRows count={rows.length === 0 ? 12 : 3} />
        ) : null}
        {window && rows.length === 0 && entries.loading.value === null ? <EmptyTable /> : null}
      </div>
      {failure?.part === 'older' ? <ErrorNote model={model} error={failure.error} onRetry={retry} compact /> : null}
    </div>
  );
}

/** Whether the times need their dates: the oldest or the newest row is not of today. */
function hasDates(model: StreamModel, rows: readonly EntryRow[]): boolean {
  const zone = model.layout.zone.value;
  const now = model.serverNowMs();
  return [rows[0], rows.at(-1)].some(
    (row) => row !== undefined && row.timeMs !== null && formatTime(row.timeMs, zone, now).length > 12,
  );
}

function targetIndex(
  event: KeyboardEvent,
  { selected, count, page }: { selected: number; count: number; page: number },
): number | undefined {
  const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
  if (move === undefined || event.ctrlKey || event.metaKey || event.altKey || count === 0) return undefined;
  return selected < 0 ? 0 : Math.min(count - 1, Math.max(0, selected + move));
}

function Row({
  model,
  index,
  isSelected,
}: {
  model: StreamModel;
  index: number;
  isSelected: boolean;
}): JSX.Element | null {
  const row = model.entries.rows.value[index];
  if (!row) return null;
  return (
    <div
      class={isSelected ? 'row selected' : 'row'}
      role="row"
      id={rowId(row.id)}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      onClick={() => {
        model.select(index);
      }}
    >
      <TimeCell model={model} row={row} />
      <span role="gridcell" class="id mono" title={row.id}>
        {row.id}
      </span>
      <span role="gridcell" class="preview" title={fieldCountText(row)}>
        {row.preview.map((field, place) => (
          <span key={place} class="pair">
            <span class="field-name">
              <SafeText text={field.name} />
            </span>
            <span class="field-value">
              <SafeText text={field.value} />
            </span>
          </span>
        ))}
        {row.fieldCount > row.preview.length ? (
          <span class="muted">{t('+{0} more', formatNumber(row.fieldCount - row.preview.length))}</span>
        ) : null}
      </span>
      <span role="gridcell" class="size muted">
        {formatBytes(row.bytes)}
      </span>
    </div>
  );
}

function TimeCell({ model, row }: { model: StreamModel; row: EntryRow }): JSX.Element {
  const zone = model.layout.zone.value;
  if (row.timeMs === null) {
    return (
      <span role="gridcell" class="time muted" title={t('The id does not tell a time: its producer chose it.')}>
        {t('no time')}
      </span>
    );
  }
  return (
    <span role="gridcell" class="time" title={formatFullTime(row.timeMs, zone)}>
      {formatTime(row.timeMs, zone, model.serverNowMs())}
    </span>
  );
}

function fieldCountText(row: EntryRow): string {
  return row.fieldCount === 1 ? t('1 field') : t('{0} fields', formatNumber(row.fieldCount));
}

function SkeletonRows({ count }: { count: number }): JSX.Element {
  return (
    <div class="skeleton-rows" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <div key={index} class="row-skeleton">
          <span class="skeleton" />
          <span class="skeleton" />
          <span class="skeleton" />
        </div>
      ))}
    </div>
  );
}

function EmptyTable(): JSX.Element {
  return (
    <div class="empty">
      <p>{t('The stream has no entries.')}</p>
      <p class="muted">{t('They were all deleted or trimmed, or none was added yet. Refresh shows new ones.')}</p>
    </div>
  );
}
