import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposables';
import type { LiveConnection } from '../connections/liveConnection';
import type { Environment } from '../connections/profiles';

/** What automatic refresh needs to know and do. */
export interface AutomaticRefreshDeps {
  readonly clock: Clock;
  readonly list: () => readonly LiveConnection[];
  /** Seconds between the refreshes of a connection in this environment; 0 is off. */
  readonly seconds: (environment: Environment) => number;
  readonly refresh: (connection: LiveConnection) => void;
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
    return 1000 * this.deps.seconds(profile.environment);
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
}
