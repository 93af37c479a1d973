import { BusError } from '../errors';
import { Lane } from './lane';
import type { LaneObserver } from './lane';
import type { Call, Link } from './link';
import { linkError } from './replyErrors';

/** Which server a command goes to: one server, or the master of a slot. */
export interface Route {
  /** Resolves when a server has been reached; rejects when none can be. */
  connect(): Promise<void>;
  /** Sends a command to the server that serves its key, or to any when it has none. */
  call(call: Call): Promise<unknown>;
  /** Sends a command to one server, named as `host:port`; rejects when that is not served by this route any more. */
  callAt(peer: string, call: Call): Promise<unknown>;
  /** The masters, as `host:port`, in a stable order. */
  masters(): Promise<readonly string[]>;
  /** Opens a connection of its own to the server that serves the key. */
  openLink(key: string | undefined, options: DedicatedOptions): Promise<Link>;
  /** Takes back what it knows of where a key is; called when a link of `openLink` was redirected. */
  redirected(error: BusError): void;
  close(): void;
}

/** How a dedicated connection differs from the route's own. */
export interface DedicatedOptions {
  readonly signal: AbortSignal;
  readonly wantsId: boolean;
}

/** A function that opens a link to the one server of a route, resolving it anew each time. */
export type OpenLink = (options: { readonly signal: AbortSignal; readonly wantsId?: boolean }) => Promise<Link>;

/** The route to one server, or to whichever server Sentinel names as the master. */
export class SingleRoute implements Route {
  private readonly lane: Lane;

  constructor(
    private readonly open: OpenLink,
    observer: LaneObserver,
    /** True when opening again may lead to another server, as behind Sentinel. */
    private readonly canMove = false,
  ) {
    this.lane = new Lane((signal) => open({ signal }), observer);
  }

  connect(): Promise<void> {
    return this.lane.connect();
  }

  call(call: Call): Promise<unknown> {
    return this.canMove ? this.callMaster(call) : this.lane.call(call);
  }

  callAt(peer: string, call: Call): Promise<unknown> {
    if (this.lane.peer !== undefined && this.lane.peer !== peer)
      return Promise.reject(linkError('connection-lost', `${peer} is not the master any more.`, call, false));
    return this.lane.call(call);
  }

  async masters(): Promise<readonly string[]> {
    return Promise.resolve([this.lane.peer ?? '']);
  }

  openLink(_key: string | undefined, options: DedicatedOptions): Promise<Link> {
    return this.open(options);
  }

  redirected(error: BusError): void {
    if (error.reason !== 'moved') throw new BusError('protocol', 'Only a redirection can be followed.');
  }

  close(): void {
    this.lane.close();
  }

  private async callMaster(call: Call): Promise<unknown> {
    try {
      return await this.lane.call(call);
    } catch (error) {
      // A master that was demoted may keep its clients; the next call asks for the new one.
      if (BusError.is(error, 'read-only-replica')) this.lane.leave();
      throw error;
    }
  }
}
