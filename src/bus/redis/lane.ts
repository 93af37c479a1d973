import { BusError } from '../errors';
import type { Call, Link } from './link';
import { linkError } from './replyErrors';

/** What a lane tells of its links. */
export interface LaneObserver {
  onOpened?(peer: string): void;
  /** Not called when the lane itself is closed. */
  onLost?(error: BusError): void;
}

interface Waiting {
  readonly call: Call | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The way to one server: a link that is opened by the first call and, when it broke, by the first call after that. There is one
 * attempt at a time, without retries or timers: those who wait for it fail with it. Calls keep their order across the opening.
 */
export class Lane {
  private link: Link | undefined;
  private waiting: Waiting[] = [];
  private isOpening = false;
  private readonly closing = new AbortController();

  constructor(
    private readonly openLink: (signal: AbortSignal) => Promise<Link>,
    private readonly observer: LaneObserver = {},
  ) {}

  call(call: Call): Promise<unknown> {
    if (this.link?.isOpen === true && !this.isOpening) return this.link.call(call);
    if (this.closing.signal.aborted) return Promise.reject(closedError(call));
    return this.afterOpening(call);
  }

  /** Opens the link now; rejects when that fails. */
  async connect(): Promise<void> {
    if (this.link?.isOpen !== true) await this.afterOpening(undefined);
  }

  /** The server that the open link goes to. */
  get peer(): string | undefined {
    return this.link?.isOpen === true ? this.link.peer : undefined;
  }

  /** Gives the link up once everything in flight has been answered; the next call opens another. */
  leave(): void {
    this.link?.quit();
    this.link = undefined;
  }

  close(): void {
    this.closing.abort();
    this.link?.close();
  }

  private afterOpening(call: Call | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ call, resolve, reject });
      if (!this.isOpening) void this.open();
    });
  }

  /** Settles every waiting call and never rejects. */
  private async open(): Promise<void> {
    this.isOpening = true;
    try {
      const link = await this.openLink(this.closing.signal);
      this.link = link;
      if (this.closing.signal.aborted) link.close();
      link.onLost((error) => {
        if (error.reason !== 'closed') this.observer.onLost?.(error);
      });
      this.observer.onOpened?.(link.peer);
      for (const { call, resolve } of this.takeWaiting()) resolve(call && link.call(call));
    } catch (error) {
      for (const { call, reject } of this.takeWaiting())
        reject(call && BusError.is(error, 'closed') ? closedError(call) : error);
    }
  }

  private takeWaiting(): Waiting[] {
    const { waiting } = this;
    this.waiting = [];
    this.isOpening = false;
    return waiting;
  }
}

function closedError(call: Call): BusError {
  return linkError('closed', 'the connection was closed here.', call, false);
}
