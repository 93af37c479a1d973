/** Loads the table's rows: the first page, more at both ends, around a jump, and all of it again on refresh. */
import { batch, computed, signal } from '@preact/signals';
import type { ErrorData } from '../../src/protocol/envelope';
import type { EntriesPage, EntriesQuery, EntryRow } from '../../src/protocol/streamPanel';
import { compareEntryIds } from '../entryIds';
import { describeFailure, skeletonAfterMs } from '../resource';
import { addNewer, addOlder, windowOf } from './entriesWindow';
import type { EntriesWindow } from './entriesWindow';

/** Asks the host for a page. */
export type AskEntries = (query: EntriesQuery, signal: AbortSignal) => Promise<EntriesPage>;

/** Which part of the table is being loaded. */
export type EntriesPart = 'all' | 'newer' | 'older' | 'refresh';

/** A load that failed, shown where its rows would be. */
export interface EntriesFailure {
  readonly part: EntriesPart;
  readonly error: ErrorData;
}

/** The first page fills a tall screen; later ones are larger, as scrolling goes on. */
const firstPage = 100;
const nextPage = 200;
const refreshPage = 500;

/** The table's rows. Only one load runs at a time: a jump or refresh overtakes whatever runs, an end waits. */
export class EntriesModel {
  /** Null until the first page is there. */
  readonly window = signal<EntriesWindow | null>(null);
  readonly loading = signal<EntriesPart | null>(null);
  readonly failure = signal<EntriesFailure | null>(null);
  /** True once a load takes so long that skeleton rows should show. */
  readonly isSlow = signal(false);
  readonly rows = computed<readonly EntryRow[]>(() => this.window.value?.rows ?? []);
  private current: AbortController | undefined;
  private lastPlace: EntriesQuery['at'] = { kind: 'newest' };

  constructor(private readonly ask: AskEntries) {}

  /** Replaces the rows by a page at this place. */
  async goTo(at: EntriesQuery['at']): Promise<boolean> {
    this.lastPlace = at;
    return this.run('all', async (signal) => windowOf(await this.ask({ at, count: firstPage }, signal)));
  }

  /** Loads more at one end; does nothing while something else is loading or when that end is reached. */
  async loadMore(end: 'newer' | 'older'): Promise<boolean> {
    const before = this.window.value;
    const edge = end === 'older' ? before?.rows.at(-1) : before?.rows[0];
    const hasMore = end === 'older' ? before?.hasOlder : before?.hasNewer;
    if (!before || !edge || hasMore !== true || this.loading.value !== null) return false;
    const kind = end === 'older' ? 'olderThan' : 'newerThan';
    return this.run(end, async (signal) => {
      const page = await this.ask({ at: { kind, id: edge.id }, count: nextPage }, signal);
      return end === 'older' ? addOlder(before, page) : addNewer(before, page);
    });
  }

  /** Asks everything that is loaded again, and what is newer when the newest were shown. */
  async refresh(): Promise<boolean> {
    const before = this.window.value;
    if (!before || before.rows.length === 0) return this.goTo(before ? { kind: 'newest' } : this.lastPlace);
    return this.run('refresh', (signal) => this.reload(before, signal));
  }

  /** Does again what failed. */
  async retry(): Promise<boolean> {
    const part = this.failure.value?.part;
    if (part === 'newer' || part === 'older') return this.loadMore(part);
    return part === 'all' ? this.goTo(this.lastPlace) : this.refresh();
  }

  private async reload(before: EntriesWindow, signal: AbortSignal): Promise<EntriesWindow> {
    const [first] = before.rows;
    const last = before.rows.at(-1);
    const start: EntriesQuery['at'] = before.hasNewer && first ? { kind: 'around', id: first.id } : { kind: 'newest' };
    const count = start.kind === 'newest' ? Math.min(refreshPage, before.rows.length + firstPage) : firstPage;
    let window = windowOf(await this.ask({ at: start, count }, signal));
    for (;;) {
      const end = window.rows.at(-1);
      const isCovered = !end || !last || compareEntryIds(end.id, last.id) <= 0;
      if (isCovered || !window.hasOlder) return window;
      const page = await this.ask({ at: { kind: 'olderThan', id: end.id }, count: refreshPage }, signal);
      if (page.entries.length === 0) return { ...window, hasOlder: page.hasOlder };
      window = addOlder(window, page);
    }
  }

  private async run(part: EntriesPart, work: (signal: AbortSignal) => Promise<EntriesWindow>): Promise<boolean> {
    this.current?.abort();
    const abort = new AbortController();
    this.current = abort;
    this.loading.value = part;
    const timer = setTimeout(() => {
      if (this.current === abort) this.isSlow.value = true;
    }, skeletonAfterMs);
    try {
      const window = await work(abort.signal);
      return this.settle(abort, () => {
        this.window.value = window;
        this.failure.value = null;
      });
    } catch (error) {
      const failure = describeFailure(error);
      this.settle(abort, () => {
        if (failure.reason !== 'cancelled') this.failure.value = { part, error: failure };
      });
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  private settle(abort: AbortController, apply: () => void): boolean {
    if (this.current !== abort) return false;
    this.current = undefined;
    batch(() => {
      apply();
      this.loading.value = null;
      this.isSlow.value = false;
    });
    return true;
  }
}
