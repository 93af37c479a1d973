/** The part of the stream that the table holds: rows without gaps, newest first, growing at both ends. */
import type { EntriesPage, EntryRow } from '../../src/protocol/streamPanel';
import { compareEntryIds } from '../entryIds';

/** Rows in the table, and whether the stream goes on beyond them. */
export interface EntriesWindow {
  readonly rows: readonly EntryRow[];
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
}

/** How many rows are kept; the far end is let go beyond that and loaded again when scrolled to. */
export const maxWindowRows = 20_000;

/** A window of one page. */
export function windowOf(page: EntriesPage): EntriesWindow {
  return { rows: page.entries, hasNewer: page.hasNewer, hasOlder: page.hasOlder };
}

/** Adds a page of older entries at the end; rows that are there already are not added again. */
export function addOlder(window: EntriesWindow, page: EntriesPage): EntriesWindow {
  const last = window.rows.at(-1);
  const added = last ? page.entries.filter((row) => compareEntryIds(row.id, last.id) < 0) : page.entries;
  const rows = [...window.rows, ...added];
  const excess = Math.max(0, rows.length - maxWindowRows);
  return { rows: rows.slice(excess), hasNewer: window.hasNewer || excess > 0, hasOlder: page.hasOlder };
}

/** Adds a page of newer entries at the start; rows that are there already are not added again. */
export function addNewer(window: EntriesWindow, page: EntriesPage): EntriesWindow {
  const [first] = window.rows;
  const added = first ? page.entries.filter((row) => compareEntryIds(row.id, first.id) > 0) : page.entries;
  const rows = [...added, ...window.rows];
  const excess = Math.max(0, rows.length - maxWindowRows);
  return {
    rows: excess > 0 ? rows.slice(0, -excess) : rows,
    hasNewer: page.hasNewer,
    hasOlder: window.hasOlder || excess > 0,
  };
}

/** Where the row with this id is, or -1. */
export function indexOfEntry(window: EntriesWindow, id: string): number {
  const index = firstAtOrBefore(window.rows, id);
  return window.rows[index]?.id === id ? index : -1;
}

/**
 * The row nearest to an id or time: the oldest entry at or after it, else the newest before it; -1 in an empty window.
 */
export function nearestIndex(window: EntriesWindow, id: string): number {
  const index = firstAtOrBefore(window.rows, id);
  if (window.rows[index]?.id === id) return index;
  return index > 0 ? index - 1 : window.rows.length > 0 ? 0 : -1;
}

/** The index of the newest row that is not newer than the id; the number of rows when all are newer. */
function firstAtOrBefore(rows: readonly EntryRow[], id: string): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareEntryIds(rows[middle]?.id ?? '0-0', id) <= 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
