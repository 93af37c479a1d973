/** Which rows of a long table exist in the page, and where the scroll position stays when rows come and go above it. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import type { EntryRow } from '../../src/protocol/streamPanel';
import { compareEntryIds } from '../entryIds';

/** What is to be drawn: the indexes of rows, the height of all rows, and the first and last row in sight. */
export interface VirtualRows {
  readonly indexes: readonly number[];
  readonly totalHeight: number;
  readonly first: number;
  readonly last: number;
}

/** A row to bring into sight: in the middle, or by scrolling as little as needed. */
export interface ScrollTarget {
  readonly index: number;
  readonly place: 'middle' | 'nearest';
}

/** What the hook needs to know. */
export interface VirtualRowsOptions {
  readonly scroller: RefObject<HTMLElement>;
  readonly rows: readonly EntryRow[];
  readonly rowHeight: number;
  /** A row that must exist even out of sight, because it has the focus; -1 for none. */
  readonly keep: number;
  readonly target: ReadonlySignal<ScrollTarget | null>;
  /** True while the first row is the newest entry: a table scrolled to its top then stays there when newer ones come. */
  readonly startsAtNewest: boolean;
}

const overscan = 10;

/** Keeps the rows of a scrolling element virtual. The head row is sticky and takes one row's height. */
export function useVirtualRows(options: VirtualRowsOptions): VirtualRows {
  const { scroller, rows, rowHeight, keep, target } = options;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const known = useRef({ rows, startsAtNewest: options.startsAtNewest });
  const virtualizer = useRef<Virtualizer<HTMLElement, HTMLElement> | null>(null);
  const settings = {
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan,
    scrollMargin: rowHeight,
    scrollPaddingStart: rowHeight,
    onChange: () => {
      redraw(undefined);
    },
  };
  virtualizer.current ??= new Virtualizer<HTMLElement, HTMLElement>(settings);
  const list = virtualizer.current;
  list.setOptions({ ...list.options, ...settings });

  useLayoutEffect(() => list._didMount(), []);
  useLayoutEffect(() => {
    list._willUpdate();
  });
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = known.current;
    known.current = { rows, startsAtNewest: options.startsAtNewest };
    if (!element || before.rows === rows) return;
    // At the top, newer rows show at once, unless they would push the selected one out of sight.
    const isKeptInSight = keep < 0 || (keep + 2) * rowHeight <= element.clientHeight;
    if (before.startsAtNewest && element.scrollTop <= 0 && isKeptInSight) return;
    const index = Math.floor(element.scrollTop / rowHeight);
    const anchor = before.rows[index];
    if (!anchor) return;
    const now = rows.findIndex((row) => compareEntryIds(row.id, anchor.id) <= 0);
    if (now >= 0 && now !== index) element.scrollTop += (now - index) * rowHeight;
  }, [rows]);
  useLayoutEffect(() => {
    const wanted = target.value;
    const element = scroller.current;
    if (wanted && element) scrollIntoSight(element, wanted, rowHeight);
  }, [target.value]);

  const element = scroller.current;
  const first = Math.floor((element?.scrollTop ?? 0) / rowHeight);
  const last = first + Math.ceil((element?.clientHeight ?? 0) / rowHeight);
  const indexes = list.getVirtualItems().map((item) => item.index);
  if (keep >= 0 && keep < rows.length && !indexes.includes(keep)) indexes.push(keep);
  return { indexes: indexes.filter((index) => index < rows.length), totalHeight: rows.length * rowHeight, first, last };
}

/** The sticky head covers one row's height at the top. */
function scrollIntoSight(element: HTMLElement, { index, place }: ScrollTarget, rowHeight: number): void {
  const top = index * rowHeight;
  const height = element.clientHeight - rowHeight;
  const above = element.scrollTop;
  if (top >= above && top + rowHeight <= above + height) return;
  if (place === 'middle') element.scrollTop = top - (height - rowHeight) / 2;
  else element.scrollTop = top < above ? top : top + rowHeight - height;
}
