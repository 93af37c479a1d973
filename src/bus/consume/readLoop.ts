import type { Clock } from '../../base/clock';
import { wasPending } from '../entries';
import type { DeliveredEntry } from '../entries';
import { BusError } from '../errors';
import type { BusErrorReason } from '../errors';
import { minEntryId, nextEntryId } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort, StreamReader } from '../port';
import { claimDue, reclaim, recoverOwn } from '../scripts/takeOver';
import type { TakeOver } from '../scripts/takeOver';
import { exponential } from './backoff';
import type { EventHub } from './events';
import type { GroupKeeper } from './groupKeeper';
import type { Held } from './held';
import type { RetrySchedule } from './retrySchedule';

/** What the loop needs to know, and whom it feeds. */
export interface ReadLoopOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly blockMs: number;
  readonly minIdleMs: number;
  readonly heartbeatMs: number;
  readonly maxDeliveries: number;
  /** Undefined: never takes over what others let lie, only its own. */
  readonly reclaim: { readonly intervalMs: number; readonly count: number } | undefined;
  readonly held: Held;
  readonly schedule: RetrySchedule;
  readonly events: EventHub;
  readonly groupKeeper: GroupKeeper;
  /** How many more entries may be held now, and how many it takes to make a read worth while. */
  room(): number;
  readonly refill: number;
  /** Entries of a read: new ones, and where the server can, before them what others let lie. */
  delivered(entries: readonly DeliveredEntry[]): void;
  takenOver(found: TakeOver): void;
  /** New entries up to this id have arrived: whatever the group was given after it is still on its way. Undefined: nobody asks. */
  readonly arrived: ((id: EntryId) => void) | undefined;
  /** The loop ended for good. */
  failed(error: unknown): void;
}

/** How many pending entries one look goes through, whatever it takes of them. */
const scanCount = 200;

/** How often a retry that is due is looked at whose former handler still runs here; other consumers may take it meanwhile. */
const strayRetryMs = 500;

/**
 * How much longer than the minimum idle time an entry lies before a read takes it over. A retry is wound to the minimum idle time, and
 * so is what is given back: the difference leaves the one to who scheduled it and the other to anybody but who gave it back.
 */
const readClaimMarginMs = 1000;

/** Failures that no retry mends. */
const fatalReasons: ReadonlySet<BusErrorReason> = new Set<BusErrorReason>([
  'wrong-type',
  'authentication',
  'no-permission',
  'cross-slot',
  'not-redis',
  'tls',
  'unknown-command',
  'invalid-argument',
  'closed',
]);

/**
 * The one loop of a consumer. Each turn does one thing, first things first: find own entries after a (re)connect, take back due
 * retries, take over what others let lie, read new entries for as long as nothing else is due. So what is held is bounded without
 * reserving, and a busy stream cannot starve the rest, nor the rest a busy stream.
 *
 * Where the server can (XREADGROUP CLAIM), a read also brings what others let lie, the moment that it has lain for long enough. The
 * look for it goes on: it is what sees deleted messages, and idle times that were set while a read was blocked.
 */
export class ReadLoop {
  /** When a step last came to its end, by the clock; what health is judged by. */
  lastProgressMs: number;
  reconnects = 0;
  /** True while the link is down: the last step failed. */
  isFailing = false;
  lastError: unknown;
  private reader: StreamReader | undefined;
  private isStopping = false;
  private isPaused = false;
  private isReading = false;
  private ready: () => void = () => undefined;
  private waker: (() => void) | undefined;
  private recovering: { from: EntryId; countDelivery: boolean } | undefined;
  private reclaimFrom: EntryId = minEntryId;
  private reclaimAtMs: number;
  private readNext = false;
  private claimMinIdleMs: number | undefined;
  private isClaimRefused = false;
  private isBehind = false;
  private done: Promise<void> = Promise.resolve();
  private readonly backoff = exponential({ baseMs: 100, maxMs: 5000 });

  constructor(private readonly options: ReadLoopOptions) {
    this.lastProgressMs = options.clock.now();
    // The first look at what others left comes at once: after a crash of all consumers nobody else is there to look.
    this.reclaimAtMs = options.reclaim ? this.lastProgressMs : Infinity;
  }

  /** True while a read is on its way or blocked, or the loop waits for room. */
  get isWaitingForRoom(): boolean {
    return this.waker !== undefined && !this.isFailing;
  }

  /** Resolves when the first connection is there; rejects when the loop cannot go on. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ready = resolve;
      this.done = this.run(reject);
    });
  }

  /** Something changed that the loop may be waiting for. */
  wake(): void {
    this.waker?.();
  }

  /** Ends a blocked read so that the loop looks at what is due now. */
  nudge(): void {
    this.wake();
    if (this.isReading) this.interrupt();
  }

  pause(): void {
    this.isPaused = true;
    this.nudge();
  }

  resume(): void {
    this.isPaused = false;
    this.wake();
  }

  /** A retry was scheduled: a read that would block beyond its time is ended. */
  retryScheduled(): void {
    if (this.isReading && this.options.schedule.nextDueMs < this.blockedUntilMs) this.interrupt();
    else this.wake();
  }

  /** Ends the loop and closes its connection; resolves when no read is under way. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.nudge();
    const cancel = this.options.clock.after(1000, () => this.reader?.close());
    await this.done;
    cancel();
    this.reader?.close();
    this.reader = undefined;
  }

  private blockedUntilMs = 0;

  private async run(refuse: (error: unknown) => void): Promise<void> {
    const { clock, events } = this.options;
    let attempt = 0;
    while (!this.isStopping) {
      try {
        await this.step();
        if (this.isFailing) {
          this.isFailing = false;
          if (attempt > 0 && this.lastError !== undefined) events.emit('reader-reconnected', { attempts: attempt });
        }
        attempt = 0;
        this.ready();
      } catch (error) {
        if (this.isStoppingNow()) break;
        attempt += 1;
        this.isFailing = true;
        this.lastError = error;
        this.dropReader();
        if (!(await this.isMendable(error))) {
          refuse(error);
          this.options.failed(error);
          return;
        }
        const retryInMs = this.backoff(attempt);
        events.emit('reader-failed', { error, attempt, retryInMs });
        await this.wait(clock.now() + retryInMs, true);
      }
      this.lastProgressMs = clock.now();
    }
    this.ready();
  }

  private async step(): Promise<void> {
    const { clock, schedule, refill } = this.options;
    const reader = this.reader ?? (await this.open());
    if (this.isPaused) {
      this.ready();
      await this.wait(Infinity);
      return;
    }
    const free = this.options.room();
    if (free < refill) {
      await this.wait(Infinity);
      return;
    }
    const now = clock.now();
    if (this.recovering) await this.recover(this.recovering, free);
    else if (schedule.nextDueMs <= now) await this.takeDue(now, free);
    else if (this.reclaimAtMs <= now && !this.readNext) await this.takeOver(free);
    else await this.read(reader, free, now);
  }

  private async open(): Promise<StreamReader> {
    const { port, groupKeeper, reclaim: policy, minIdleMs, heartbeatMs } = this.options;
    await groupKeeper.ensure();
    const mayClaim = policy !== undefined && !this.isClaimRefused && (await port.capabilities()).hasReadClaim;
    this.claimMinIdleMs = mayClaim ? minIdleMs + Math.min(readClaimMarginMs, heartbeatMs) : undefined;
    await this.tellWhereItBegins();
    const reader = await port.openReader();
    if (this.isStoppingNow()) {
      reader.close();
      throw new BusError('closed', 'The consumer was closed');
    }
    this.reader = reader;
    // A first connection finds what a former life of this name left; a later one what a lost reply carried.
    const isFirst = this.lastError === undefined && this.reconnects === 0;
    if (!isFirst) this.reconnects += 1;
    this.recovering = { from: minEntryId, countDelivery: this.recovering?.countDelivery ?? isFirst };
    return reader;
  }

  private async tellWhereItBegins(): Promise<void> {
    const { port, stream, group, arrived } = this.options;
    if (!arrived) return;
    const found = (await port.groupInfos(stream)).find(({ name }) => name === group);
    if (found) arrived(found.lastDeliveredId);
  }

  private async recover(at: { from: EntryId; countDelivery: boolean }, free: number): Promise<void> {
    const { port, stream, group, consumer, maxDeliveries, minIdleMs, held, schedule } = this.options;
    const page = await port.run(recoverOwn, {
      minIdleMs,
      stream,
      group,
      consumer,
      maxDeliveries,
      countDelivery: at.countDelivery,
      from: at.from,
      scan: scanCount,
      limit: free,
      busy: [...held.busyIds(), ...schedule.ids()],
    });
    const from = page.scannedTo === undefined ? undefined : nextEntryId(page.scannedTo);
    this.recovering = from === undefined ? undefined : { from, countDelivery: at.countDelivery };
    this.options.takenOver(page);
  }

  private async takeDue(now: number, free: number): Promise<void> {
    const { port, stream, group, consumer, maxDeliveries, minIdleMs, schedule, held } = this.options;
    const due = schedule.takeDue(now, Math.min(free, scanCount));
    const ids = due.filter((id) => !held.isStray(id));
    for (const id of due) if (held.isStray(id)) schedule.add(id, now + strayRetryMs);
    if (ids.length === 0) return;
    this.options.takenOver(await port.run(claimDue, { stream, group, consumer, maxDeliveries, minIdleMs, ids }));
  }

  private async takeOver(free: number): Promise<void> {
    const { port, clock, stream, group, consumer, maxDeliveries, minIdleMs, held } = this.options;
    const policy = this.options.reclaim;
    if (!policy) return;
    const page = await port.run(reclaim, {
      stream,
      group,
      consumer,
      maxDeliveries,
      minIdleMs,
      from: this.reclaimFrom,
      scan: scanCount,
      limit: Math.min(free, policy.count),
      busy: held.busyIds(),
    });
    const from = page.scannedTo === undefined ? undefined : nextEntryId(page.scannedTo);
    this.reclaimFrom = from ?? minEntryId;
    if (from === undefined) this.reclaimAtMs = clock.now() + policy.intervalMs;
    this.readNext = from !== undefined;
    this.options.takenOver(page);
  }

  private async read(reader: StreamReader, free: number, now: number): Promise<void> {
    const { clock, stream, group, consumer, blockMs, schedule, groupKeeper } = this.options;
    // In the middle of a look through the pending entries new ones are fetched without waiting for any.
    const dueMs = this.readNext ? now + 1 : Math.min(schedule.nextDueMs, this.reclaimAtMs);
    this.readNext = false;
    const block = Math.max(1, Math.min(blockMs, Math.ceil(dueMs - now)));
    this.blockedUntilMs = now + block;
    this.isReading = true;
    try {
      // Behind a busy stream no read blocks: claiming would make each one dearer and brings little before the next look.
      const claimMinIdleMs = this.isBehind ? undefined : this.claimMinIdleMs;
      const claim = claimMinIdleMs === undefined ? {} : { claimMinIdleMs };
      const entries = await reader.readGroup(stream, group, consumer, { count: free, blockMs: block, ...claim });
      const last = entries.at(-1);
      this.isBehind = entries.length >= free;
      // What was taken over comes before what is new.
      if (last && !wasPending(last)) {
        groupKeeper.lastSeen = last.id;
        this.options.arrived?.(last.id);
      }
      this.lastProgressMs = clock.now();
      if (last) this.options.delivered(entries);
    } catch (error) {
      // After a failover to an older server for instance: it is tried again without.
      if (this.claimMinIdleMs !== undefined && BusError.is(error, 'server')) this.isClaimRefused = true;
      throw error;
    } finally {
      this.isReading = false;
    }
  }

  /** Whether to go on after a failure; a vanished group is made again on the way. */
  private async isMendable(error: unknown): Promise<boolean> {
    if (!BusError.is(error)) return false;
    if (error.reason !== 'no-group' && error.reason !== 'no-key') return !fatalReasons.has(error.reason);
    if (!this.options.groupKeeper.mayCreate) return false;
    this.options.schedule.clear();
    this.reclaimFrom = minEntryId;
    try {
      await this.options.groupKeeper.recreate();
      return true;
    } catch (second) {
      this.lastError = second;
      return BusError.is(second) && !fatalReasons.has(second.reason);
    }
  }

  private dropReader(): void {
    this.reader?.close();
    this.reader = undefined;
    // Whatever failed may have delivered entries whose reply never came.
    this.recovering ??= { from: minEntryId, countDelivery: false };
  }

  private interrupt(): void {
    this.reader?.interrupt().catch((error: unknown) => {
      // The link that would carry the interruption is down; the read ends with its own.
      this.lastError = error;
    });
  }

  /** Waits until the time, or to be woken; only stopping wakes a wait that is `firm`. */
  private wait(untilMs: number, firm = false): Promise<void> {
    const { clock } = this.options;
    return new Promise((resolve) => {
      let cancel: () => void = () => undefined;
      const finish = (): void => {
        cancel();
        this.waker = undefined;
        resolve();
      };
      this.waker = () => {
        if (!firm || this.isStopping) finish();
      };
      if (untilMs < Infinity) cancel = clock.after(Math.max(0, untilMs - clock.now()), finish);
    });
  }

  private isStoppingNow(): boolean {
    return this.isStopping;
  }
}
