import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposables';
import { formatDuration } from '../base/duration';
import type { Localizer } from '../base/localize';
import type { LiveConnection } from '../connections/liveConnection';

/** What automatic refresh needs to know and do. */
export interface AutomaticRefreshDeps {
  readonly clock: Clock;
  readonly l10n: Localizer;
  readonly list: () => readonly LiveConnection[];
  /** Seconds between refreshes; 0 is off. */
  readonly seconds: () => { readonly others: number; readonly production: number };
  readonly refresh: (connection: LiveConnection) => void;
  /** Shows the interval, or nothing when nothing is refreshed. */
  readonly describe: (text: string | undefined) => void;
}

/** Refreshes connected connections while the view is visible and the window has the focus, and never otherwise. */
export class AutomaticRefresh implements Disposable {
  private isVisible = false;
  private isFocused = false;
  private isDisposed = false;
  private cancel: (() => void) | undefined;
  private readonly lastMs = new WeakMap<LiveConnection, number>();

  constructor(private readonly deps: AutomaticRefreshDeps) {}

  setVisible(isVisible: boolean): void {
    this.isVisible = isVisible;
    this.update();
  }

  setFocused(isFocused: boolean): void {
    this.isFocused = isFocused;
    this.update();
  }

  /** Notes that a connection was just read, so that it is not read twice in a row. */
  noteRead(connection: LiveConnection): void {
    this.lastMs.set(connection, this.deps.clock.now());
  }

  /** Called when visibility, focus, settings or connections changed. */
  update(): void {
    this.cancel?.();
    this.cancel = undefined;
    if (this.isDisposed) return;
    this.deps.describe(this.description());
    if (!this.isVisible || !this.isFocused) return;
    const waits = this.connected().flatMap((connection) => this.waitMs(connection) ?? []);
    if (waits.length === 0) return;
    this.cancel = this.deps.clock.after(Math.min(...waits), () => {
      this.tick();
    });
  }

  dispose(): void {
    this.isDisposed = true;
    this.cancel?.();
  }

  private tick(): void {
    for (const connection of this.connected()) {
      if (this.waitMs(connection) !== 0) continue;
      this.noteRead(connection);
      this.deps.refresh(connection);
    }
    this.update();
  }

  private connected(): readonly LiveConnection[] {
    return this.deps.list().filter(({ state }) => state.kind === 'connected');
  }

  private intervalMs({ profile }: LiveConnection): number {
    const { others, production } = this.deps.seconds();
    return 1000 * (profile.environment === 'production' ? production : others);
  }

  /** How long until this connection is due; undefined when it is off. */
  private waitMs(connection: LiveConnection): number | undefined {
    const interval = this.intervalMs(connection);
    if (interval === 0) return undefined;
    const now = this.deps.clock.now();
    const last = this.lastMs.get(connection);
    if (last === undefined) this.lastMs.set(connection, now);
    return Math.max(0, (last ?? now) + interval - now);
  }

  private description(): string | undefined {
    const { l10n } = this.deps;
    const connected = this.connected();
    if (connected.length === 0) return undefined;
    const intervals = [...new Set(connected.map((connection) => this.intervalMs(connection)))].sort((a, b) => a - b);
    const running = intervals.filter((interval) => interval > 0);
    const [shortest] = running;
    if (shortest === undefined) return l10n.t('automatic refresh off');
    return intervals.includes(0)
      ? l10n.t('every {0}, production off', formatDuration(shortest))
      : l10n.t('every {0}', formatDuration(shortest));
  }
}
