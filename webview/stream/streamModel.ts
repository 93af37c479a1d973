/**
 * What the stream panel knows and does; the components only draw it and call it.
 *
 * It asks the host through the PanelClient and holds the answers in signals. Its tests are in `test/webview`.
 */
import { computed, signal } from '@preact/signals';
import type { ErrorData } from '../../src/protocol/envelope';
import type {
  ConnectionView,
  CopyTarget,
  EntryAction,
  EntryDetail,
  PanelSession,
  StreamOverview,
  StreamPanelContract,
} from '../../src/protocol/streamPanel';
import { formatCount } from '../format';
import { setLanguage, t } from '../l10n';
import type { PanelClient } from '../panelClient';
import { describeFailure, Resource } from '../resource';
import { EntriesModel } from './entriesModel';
import { indexOfEntry, nearestIndex } from './entriesWindow';
import { parseJumpTarget } from './jumpTarget';
import type { Layout } from './layout';
import type { ScrollTarget } from './virtualRows';

/** Selections that follow each other faster than this are only asked for when they stop, as while an arrow key is held. */
const browsingMs = 120;

/** The state of one stream panel. */
export class StreamModel {
  readonly session = new Resource<PanelSession>();
  readonly overview = new Resource<StreamOverview>();
  readonly detail = new Resource<EntryDetail>();
  readonly entries: EntriesModel;
  /** Said by the live region. */
  readonly announcement = signal('');
  /** An action that failed, such as a copy; the detail and the tables show their own failures. */
  readonly actionError = signal<ErrorData | null>(null);
  /** The row to scroll to; a new object each time, so that the same row can be asked for again. */
  readonly scrollTarget = signal<ScrollTarget | null>(null);
  /** When all that is shown was last read, by this machine's clock. */
  readonly readAtMs = signal<number | null>(null);
  readonly isRefreshing = computed(() => this.overview.isLoading.value || this.entries.loading.value === 'refresh');
  private lastDetailAt = -Infinity;
  private readonly connectionChange = signal<ConnectionView | null>(null);
  /** The connection as last told, by the overview or by an event. */
  readonly connection = computed(() => this.connectionChange.value ?? this.overview.data.value?.connection ?? null);

  constructor(
    readonly client: PanelClient<StreamPanelContract>,
    readonly layout: Layout,
  ) {
    this.entries = new EntriesModel((query, abort) => client.request('entries', query, abort));
    client.on('select', ({ id }) => {
      void this.show(id);
    });
    client.on('connection', (connection) => {
      this.connectionChanged(connection);
    });
  }

  /** Asks for everything, for the first time. */
  async start(): Promise<void> {
    const known = await this.session.load((abort) => this.client.request('session', null, abort));
    const session = this.session.data.value;
    if (!known || !session) return;
    setLanguage(session.locale, session.translations);
    this.layout.identity.value = session.identity;
    void this.loadOverview();
    const selected = session.selectedId ?? this.layout.selectedId.value;
    if (selected !== null) await this.show(selected);
    else if (await this.entries.goTo({ kind: 'newest' })) this.scrollTo(0, 'nearest');
  }

  /** Asks everything again after the page was out of sight; old data stays until the answers come. */
  async becomeVisible(): Promise<void> {
    this.client.restart();
    if (this.session.data.value) await this.refresh();
    else await this.start();
  }

  /** Reads all that is shown again, keeping place, selection and folds. */
  async refresh(): Promise<void> {
    this.actionError.value = null;
    const { value: selected } = this.layout.selectedId;
    const detail = selected === null ? Promise.resolve(true) : this.loadDetail(selected);
    const done = await Promise.all([this.loadOverview(), this.entries.refresh(), detail]);
    const { value: overview } = this.overview.data;
    if (done.every(Boolean) && overview) {
      this.announcement.value = t('Refreshed: {0}', formatCount(overview.length, '{0} entry', '{0} entries'));
    }
  }

  /** Selects a row that is in the table; `middle` after a jump to where it was not in sight. */
  select(index: number, place: ScrollTarget['place'] = 'nearest'): void {
    const row = this.entries.rows.value[index];
    if (!row) return;
    this.scrollTo(index, place);
    if (row.id !== this.layout.selectedId.value) this.setSelected(row.id);
  }

  /** Shows an entry wherever it is, loading the rows around it when they are not there. */
  async show(id: string): Promise<void> {
    this.setSelected(id);
    const window = this.entries.window.value;
    const known = window ? indexOfEntry(window, id) : -1;
    if (known >= 0) this.scrollTo(known, 'middle');
    else if (await this.entries.goTo({ kind: 'around', id })) this.scrollNear(id);
  }

  /** Goes to what was typed; false when it is neither an id nor a time. */
  async jump(input: string): Promise<boolean> {
    const nowMs = this.serverNowMs();
    const target = parseJumpTarget(input, { ms: nowMs, zone: this.layout.zone.value });
    if (!target) return false;
    if (target.kind === 'end') await this.goToEnd(target.end);
    else if (target.kind === 'id' && target.exact) {
      await this.show(target.id);
      const window = this.entries.window.value;
      if (window && indexOfEntry(window, target.id) < 0) {
        this.announcement.value = t('The stream has no entry {0}; its neighbours are shown.', target.id);
      }
    } else await this.goNear(target.kind === 'id' ? target.id : `${Math.trunc(target.ms)}-0`);
    return true;
  }

  /** Goes to the newest or the oldest entry and selects it. */
  async goToEnd(end: 'newest' | 'oldest'): Promise<void> {
    const window = this.entries.window.value;
    const isLoaded = window && !(end === 'newest' ? window.hasNewer : window.hasOlder);
    if (!isLoaded && !(await this.entries.goTo({ kind: end }))) return;
    this.select(end === 'newest' ? 0 : this.entries.rows.value.length - 1);
  }

  /** Does something again after a failure. Asking alone does not connect where connecting failed, so that is asked for first. */
  async retry(load: () => Promise<unknown>): Promise<void> {
    await this.client.request('connect', null).catch(() => {
      // What is loaded next says why it cannot be.
      return null;
    });
    await load();
  }

  /** Loads the selected entry's detail again after a failure. */
  async retryDetail(): Promise<void> {
    const id = this.layout.selectedId.value;
    if (id !== null) await this.loadDetail(id);
  }

  loadOverview(): Promise<boolean> {
    return this.overview.load(async (abort) => {
      const overview = await this.client.request('overview', null, abort);
      this.connectionChange.value = null;
      this.readAtMs.value = Date.now();
      return overview;
    });
  }

  /** The host copies to the clipboard; this says so. */
  async copy(target: CopyTarget, said: string): Promise<void> {
    await this.act(() => this.client.request('copy', target), said);
  }

  /** Has the host ask and do something to an entry, then reads everything again. */
  async actOn(action: EntryAction): Promise<void> {
    await this.act(async () => {
      await this.client.request('act', action);
      await this.refresh();
    });
  }

  /** Has the host do something; a failure is shown in the panel. */
  async act(action: () => Promise<unknown>, said?: string): Promise<void> {
    try {
      await action();
      this.actionError.value = null;
      if (said !== undefined) this.announcement.value = said;
    } catch (error) {
      const failure = describeFailure(error);
      if (failure.reason !== 'cancelled') this.actionError.value = failure;
    }
  }

  /** Runs the next step that an error offered. */
  runNextStep(command: string): void {
    void this.act(() => this.client.request('nextStep', { command }));
  }

  /** The server's clock now, as far as the last overview tells. */
  serverNowMs(): number {
    const overview = this.overview.data.value;
    const readAt = this.readAtMs.value;
    return overview && readAt !== null ? overview.serverTimeMs + (Date.now() - readAt) : Date.now();
  }

  private async goNear(id: string): Promise<void> {
    if (!(await this.entries.goTo({ kind: 'around', id }))) return;
    const window = this.entries.window.value;
    const index = window ? nearestIndex(window, id) : -1;
    if (index >= 0) this.select(index, 'middle');
    else this.announcement.value = t('The stream has no entries.');
  }

  private scrollNear(id: string): void {
    const window = this.entries.window.value;
    const index = window ? nearestIndex(window, id) : -1;
    if (index >= 0) this.scrollTo(index, 'middle');
  }

  private scrollTo(index: number, place: ScrollTarget['place']): void {
    this.scrollTarget.value = { index, place };
  }

  private setSelected(id: string): void {
    if (this.layout.selectedId.value !== id) {
      this.layout.folds.value = new Set();
      this.detail.forgetError();
    }
    this.layout.selectedId.value = id;
    void this.loadDetail(id);
    this.client.request('selected', { id }).catch(() => {
      // The host only remembers it for a reload; the page's own state does too.
      return null;
    });
  }

  private loadDetail(id: string): Promise<boolean> {
    const now = performance.now();
    const isBrowsing = now - this.lastDetailAt < browsingMs;
    this.lastDetailAt = now;
    return this.detail.load(async (abort) => {
      if (isBrowsing) await waitFor(browsingMs);
      return this.client.request('entry', { id }, abort);
    });
  }

  private connectionChanged(connection: ConnectionView): void {
    const before = this.connection.value?.state;
    this.connectionChange.value = connection;
    if (before !== undefined && before !== 'connected' && connection.state === 'connected') void this.refresh();
  }
}

function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
