import type { Clock } from '../../base/clock';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { heartbeat } from '../scripts/settle';
import type { LostEntry } from '../scripts/settle';
import type { Delivery } from './delivery';
import type { Held } from './held';

/** How many ids one heartbeat script keeps: about 2.5 ms of the server's time. */
export const maxHeartbeatIds = 500;

/** Whom ownership tells. */
export interface OwnershipListener {
  lost(entry: LostEntry): void;
  beatFailed(error: unknown): void;
}

/** Keeps what a consumer holds: nobody else may take it while it is being worked on. */
export interface Ownership {
  /** Resolves after the first beat, so that it is known to work before the first entry is read. */
  start(): Promise<void>;
  /** Whether the entry can still be ours: false when so much time went by without a beat that others may have taken it. */
  isConfirmed(delivery: Delivery): boolean;
  /** Resolves when no beat is under way that began before this call: after it, no beat touches an entry that is not held any more. */
  settled(): Promise<void>;
  /** The consumer has begun to close and will settle what is held. */
  closing(): void;
  stop(): Promise<void>;
}

/** What every ownership needs to know. */
export interface OwnershipOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly held: Held;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly minIdleMs: number;
  readonly heartbeatMs: number;
  readonly listener: OwnershipListener;
}

/** Beats from a timer of this thread: a handler that keeps the thread busy stops them. */
export class TimerOwnership implements Ownership {
  private cancelTimer: (() => void) | undefined;
  private beating: Promise<void> | undefined;
  private isStopped = false;

  constructor(private readonly options: OwnershipOptions) {}

  start(): Promise<void> {
    this.schedule();
    return Promise.resolve();
  }

  isConfirmed(delivery: Delivery): boolean {
    return this.options.clock.now() - delivery.confirmedAtMs < this.options.minIdleMs;
  }

  settled(): Promise<void> {
    return this.beating ?? Promise.resolve();
  }

  closing(): void {
    // Nobody else looks after what this thread holds.
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancelTimer?.();
    await this.beating;
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.cancelTimer = this.options.clock.after(this.options.heartbeatMs, () => {
      this.beating = this.beat().finally(() => {
        this.beating = undefined;
        this.schedule();
      });
    });
  }

  /** Young entries are left out: with an interval of at most a third of the minimum idle time the next beat is early enough. */
  private async beat(): Promise<void> {
    const { clock, held, heartbeatMs, listener } = this.options;
    const beganAtMs = clock.now();
    const due: Delivery[] = [];
    for (const delivery of held.deliveries())
      if (beganAtMs - delivery.confirmedAtMs >= heartbeatMs / 2 && !delivery.isSilent) due.push(delivery);
    const chunks: Delivery[][] = [];
    for (let from = 0; from < due.length; from += maxHeartbeatIds) chunks.push(due.slice(from, from + maxHeartbeatIds));
    for (const chunk of chunks) {
      try {
        const lost = await this.send(chunk.map(({ id }) => id));
        for (const delivery of chunk) delivery.confirmedAtMs = beganAtMs;
        for (const entry of lost) listener.lost(entry);
      } catch (error) {
        listener.beatFailed(error);
        return;
      }
    }
  }

  private send(ids: readonly EntryId[]): Promise<readonly LostEntry[]> {
    const { port, stream, group, consumer } = this.options;
    return port.run(heartbeat, { stream, group, consumer, ids });
  }
}
