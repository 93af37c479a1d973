import type { Clock } from '../base/clock';
import type { InspectPort } from './inspectPort';

/** What a lane needs. */
export interface LaneOptions {
  readonly open: (onClosed: () => void) => Promise<InspectPort>;
  /** Told when an open link broke by itself. */
  readonly onClosed: () => void;
  /** Whether the link may be closed once nothing has used it for `idleMs`. */
  readonly mayIdle: () => boolean;
  readonly clock: Clock;
  readonly idleMs: number;
}

/** One link that is opened when it is first used and closed when it is idle. */
export class Lane {
  private port: Promise<InspectPort> | undefined;
  private users = 0;
  private cancelIdle: (() => void) | undefined;

  constructor(private readonly options: LaneOptions) {}

  /** Runs work with the link, opening it first when needed. */
  async use<T>(work: (port: InspectPort) => Promise<T>): Promise<T> {
    this.users += 1;
    this.cancelIdle?.();
    try {
      return await work(await this.opened());
    } finally {
      this.users -= 1;
      this.considerIdle();
    }
  }

  /** Closes the link; work in flight rejects. */
  close(): void {
    this.cancelIdle?.();
    const { port } = this;
    this.port = undefined;
    port
      ?.then((open) => open.close())
      .catch(() => {
        // It never opened, or broke on its own before: there is nothing left to close.
      });
  }

  /** Starts the wait for idleness when nothing uses the link. */
  considerIdle(): void {
    this.cancelIdle?.();
    if (this.users > 0 || !this.port) return;
    const cancel = this.options.clock.after(this.options.idleMs, () => {
      if (this.users === 0 && this.options.mayIdle()) this.close();
    });
    this.cancelIdle = () => {
      cancel();
      this.cancelIdle = undefined;
    };
  }

  private opened(): Promise<InspectPort> {
    if (this.port) return this.port;
    const opening: Promise<InspectPort> = this.options.open(() => {
      if (this.port !== opening) return;
      this.port = undefined;
      this.options.onClosed();
    });
    this.port = opening;
    opening.catch(() => {
      if (this.port === opening) this.port = undefined;
    });
    return opening;
  }
}
