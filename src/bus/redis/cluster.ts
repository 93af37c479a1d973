import { BusError } from '../errors';
import { Lane } from './lane';
import type { LaneObserver } from './lane';
import { Link } from './link';
import type { Call, LinkOptions } from './link';
import { ReplyReader } from './replies';
import type { DedicatedOptions, Route } from './route';
import { slotOf } from './slots';
import { formatAddress, parseAddress } from './url';
import type { NodeAddress } from './url';

/** How many redirections one call follows. */
const maxRedirects = 5;

/**
 * The route to a cluster: CLUSTER SLOTS says which master serves a slot, each master has a lane that is opened by the first call.
 * MOVED and ASK are followed, since they tell that nothing was done; nothing else is sent twice. A broken connection makes the next
 * call ask for the slots again, from any node that answers.
 */
export class ClusterRoute implements Route {
  private readonly lanes = new Map<string, Lane>();
  private slots: (string | undefined)[] = [];
  private mastersKnown: readonly string[] = [];
  private refreshing: Promise<void> | undefined;
  private isStale = true;
  private isClosed = false;

  constructor(
    private readonly seeds: readonly NodeAddress[],
    private readonly common: Omit<LinkOptions, 'host' | 'port'>,
    private readonly observer: LaneObserver,
  ) {}

  async connect(): Promise<void> {
    await this.ready();
  }

  async call(call: Call): Promise<unknown> {
    // Without a wait when the slots are known, so that calls of one tick stay together and in order.
    if (this.isStale) await this.ready();
    const peer = call.key === undefined ? this.mastersKnown[0] : this.slots[slotOf(call.key)];
    if (peer === undefined)
      throw new BusError('loading', 'The cluster has no node for this slot now. Check CLUSTER INFO.', {
        command: call.command,
      });
    return this.follow(peer, call, maxRedirects);
  }

  callAt(peer: string, call: Call): Promise<unknown> {
    return this.lane(peer).call(call);
  }

  async masters(): Promise<readonly string[]> {
    if (this.isStale) await this.ready();
    return this.mastersKnown;
  }

  async openLink(key: string | undefined, { signal, wantsId }: DedicatedOptions): Promise<Link> {
    if (this.isStale) await this.ready();
    const peer = (key === undefined ? undefined : this.slots[slotOf(key)]) ?? this.mastersKnown[0] ?? '';
    return Link.open({ ...this.common, ...parseAddress(peer, 6379), wantsId }, signal);
  }

  redirected(error: BusError): void {
    const { redirect } = error.details;
    if (redirect?.kind !== 'moved' || redirect.host === '') this.isStale = true;
    else this.slots[redirect.slot] = formatAddress(redirect);
  }

  close(): void {
    this.isClosed = true;
    for (const lane of this.lanes.values()) lane.close();
  }

  private async follow(peer: string, call: Call, redirectsLeft: number): Promise<unknown> {
    try {
      return await this.lane(peer).call(call);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      if (error.reason === 'read-only-replica') this.isStale = true;
      const { redirect } = error.details;
      if (redirect === undefined || redirectsLeft === 0) throw error;
      this.redirected(error);
      // A node that does not know its own address leaves the host out.
      const target = formatAddress({ host: redirect.host || parseAddress(peer, 6379).host, port: redirect.port });
      if (redirect.kind === 'moved') return this.follow(target, call, redirectsLeft - 1);
      const [, reply] = await Promise.all([
        this.lane(target).call({ command: 'ASKING', args: [] }),
        this.lane(target).call(call),
      ]);
      return reply;
    }
  }

  private lane(peer: string): Lane {
    let lane = this.lanes.get(peer);
    if (lane === undefined) {
      lane = new Lane((signal) => Link.open({ ...this.common, ...parseAddress(peer, 6379) }, signal), {
        onOpened: (opened) => this.observer.onOpened?.(opened),
        onLost: (error) => {
          this.isStale = true;
          this.observer.onLost?.(error);
        },
      });
      this.lanes.set(peer, lane);
      if (this.isClosed) lane.close();
    }
    return lane;
  }

  private ready(): Promise<void> {
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Asks the known masters, then the seeds, one after the other; rejects with the last failure. */
  private async refresh(): Promise<void> {
    const peers = new Set([...this.mastersKnown, ...this.seeds.map(formatAddress)]);
    let lastError: unknown;
    for (const peer of peers) {
      try {
        this.take(await this.lane(peer).call({ command: 'CLUSTER SLOTS', args: [] }), peer);
        return;
      } catch (error) {
        if (BusError.is(error, 'closed')) throw error;
        lastError = error;
      }
    }
    throw lastError;
  }

  private take(reply: unknown, asked: string): void {
    const replies = new ReplyReader({ command: 'CLUSTER SLOTS' });
    const slots: (string | undefined)[] = [];
    for (const range of replies.list(reply)) {
      const [first, last, master] = replies.list(range);
      const [host, port] = replies.list(master);
      // Null or empty: the host that was asked.
      const name = host === null || host === undefined ? '' : replies.text(host);
      const peer = formatAddress({ host: name || parseAddress(asked, 6379).host, port: replies.count(port) });
      for (let slot = replies.count(first); slot <= replies.count(last); slot += 1) slots[slot] = peer;
    }
    this.slots = slots;
    this.mastersKnown = [...new Set(slots.filter((peer) => peer !== undefined))].sort();
    this.isStale = false;
    this.closeUnused();
  }

  /** Nodes that are no master any more lose their lane; what is still in flight there rejects as `closed`. */
  private closeUnused(): void {
    const used = new Set([...this.mastersKnown, ...this.seeds.map(formatAddress)]);
    for (const [peer, lane] of this.lanes) {
      if (used.has(peer)) continue;
      lane.close();
      this.lanes.delete(peer);
    }
  }
}
