import type { Clock } from '../../base/clock';
import { BusError } from '../errors';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import type { DeadLetterReason } from '../deadLetters';
import { release, retryLater } from '../scripts/settle';
import { AckBuffer } from './ackBuffer';
import { exponential } from './backoff';
import { InvalidBodyError } from './checkedHandler';
import type { Backoff } from './backoff';
import { Batch } from './batch';
import { DeadLetterMoves } from './deadLetterMoves';
import type { Delivery } from './delivery';
import type { EventHub } from './events';
import { failureText, isNamed } from './failureText';
import type { Redact } from './failureText';
import type { Outcome } from './handlerRuns';
import type { Held } from './held';
import type { Ownership } from './ownership';
import type { RetrySchedule } from './retrySchedule';

/** What settling needs to know. */
export interface SettlerOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly held: Held;
  readonly ownership: Ownership;
  readonly schedule: RetrySchedule;
  readonly events: EventHub;
  readonly maxDeliveries: number;
  readonly backoff: Backoff;
  readonly minIdleMs: number;
  /** Where dead letters go; undefined when there are none, and retries without end. */
  readonly deadLetters: StreamKey | undefined;
  readonly redact: Redact;
  /** Whether an acknowledged entry is deleted once no group needs it. */
  readonly deletes: boolean;
  /** Something was settled: there may be room to read more. */
  settled(): void;
  /** A retry was scheduled that may be due sooner than anything before. */
  scheduled(): void;
}

interface Retry {
  readonly delivery: Delivery;
  readonly dueMs: number;
}

/** How many entries one retry or release script takes. */
const maxItems = 200;

/** Carries out what the end of a handler means: acknowledge, retry later, dead-letter or give back. */
export class Settler {
  private readonly acks: AckBuffer;
  private readonly retries: Batch<Retry>;
  private readonly releases: Batch<Delivery>;
  private readonly moves: DeadLetterMoves | undefined;
  /** Retries whose delay is longer than the idle clock can count; they are kept by heartbeats until it can. */
  private readonly parked = new Map<Delivery, () => void>();
  private readonly counts = { acknowledged: 0, released: 0 };

  constructor(private readonly options: SettlerOptions) {
    const { port, clock, stream, group, consumer, deadLetters } = options;
    const linkBackoff = exponential({ baseMs: 50, maxMs: 5000 });
    this.acks = new AckBuffer({
      port,
      clock,
      stream,
      group,
      backoff: linkBackoff,
      deletes: options.deletes,
      acknowledged: (deliveries, elsewhere) => {
        this.acknowledged(deliveries, elsewhere);
      },
      failed: (deliveries, error) => this.retryOrForget(deliveries, error),
    });
    this.retries = new Batch<Retry>({
      clock,
      backoff: linkBackoff,
      maxItems,
      send: (retries) => this.sendRetries(retries),
      failed: (error, retries) =>
        this.retryOrForget(
          retries.map(({ delivery }) => delivery),
          error,
        ),
    });
    this.releases = new Batch<Delivery>({
      clock,
      backoff: linkBackoff,
      maxItems,
      send: (deliveries) => this.sendReleases(deliveries),
      failed: (error, deliveries) => this.retryOrForget(deliveries, error),
    });
    if (deadLetters !== undefined) {
      this.moves = new DeadLetterMoves({
        port,
        clock,
        stream,
        group,
        consumer,
        target: deadLetters,
        backoff: exponential({ baseMs: 200, maxMs: 5000 }),
        moved: ({ delivery, reason, errorType, errorMessage }, deadId) => {
          this.forget(delivery);
          const { id, deliveries } = delivery;
          options.events.emit('dead-lettered', { id, deadId, reason, deliveries, errorType, errorMessage });
        },
        lost: ({ delivery }, owner) => {
          this.forget(delivery);
          options.events.emit('ownership-lost', { id: delivery.id, owner });
        },
        gone: ({ delivery }) => {
          this.forget(delivery);
          options.events.emit('lost-to-trim', { ids: [delivery.id] });
        },
        failed: (moves, error) => {
          options.events.emit('dead-letter-failed', { ids: moves.map(({ delivery }) => delivery.id), error });
          if (!BusError.is(error, 'closed') && !BusError.is(error, 'no-group')) return 'retry';
          for (const { delivery } of moves) this.forget(delivery);
          return 'drop';
        },
      });
    }
  }

  /** How many entries wait to be settled. */
  get unsettled(): number {
    return this.acks.size + this.retries.size + this.releases.size + (this.moves?.size ?? 0) + this.parked.size;
  }

  /** How many were acknowledged and given back so far. */
  get settledCounts(): Readonly<{ acknowledged: number; released: number }> {
    return { ...this.counts };
  }

  /** Settles a delivery by how its handler ended. */
  settle(delivery: Delivery, outcome: Outcome): void {
    const { held, events, maxDeliveries, backoff } = this.options;
    delivery.isSettled = true;
    if (delivery.isLost) {
      held.remove(delivery);
      events.emit('late-result', { id: delivery.id });
      return;
    }
    if (outcome.kind === 'completed') {
      this.acks.push(delivery);
      return;
    }
    if (delivery.abortKind === 'shutdown') {
      this.release(delivery);
      return;
    }
    const { error, timedOut } = outcome;
    const { id, deliveries } = delivery;
    if (isNamed(error, 'RetryLater')) {
      this.retry(delivery, delayOf(error));
      return;
    }
    if (error instanceof InvalidBodyError) {
      this.deadLetter(delivery, 'invalid', error);
      return;
    }
    events.emit('handler-failed', { id, deliveries, error });
    if (isNamed(error, 'Reject')) this.deadLetter(delivery, 'rejected', error);
    else if (deliveries >= maxDeliveries && this.moves)
      this.deadLetter(delivery, timedOut ? 'timeout' : 'handler-error', error);
    else this.retry(delivery, backoff(Math.max(1, deliveries)));
  }

  /** Moves a delivery to the dead letters; without any, it stays pending and is looked at again after the backoff. */
  deadLetter(delivery: Delivery, reason: DeadLetterReason, error: unknown, consumer?: ConsumerName): void {
    delivery.isSettled = true;
    if (!this.moves) {
      const { id, deliveries } = delivery;
      if (reason === 'invalid' || reason === 'unroutable')
        this.options.events.emit('refused', { id, deliveries, reason, error });
      this.retry(delivery, this.options.backoff(Math.max(1, delivery.deliveries)));
      return;
    }
    const { type, message } = error === undefined ? { type: '', message: '' } : failureText(error, this.options.redact);
    this.moves.push({ delivery, reason, errorType: type, errorMessage: message, consumer });
  }

  /** Gives a delivery back that was not handled. */
  release(delivery: Delivery): void {
    delivery.isSettled = true;
    this.options.held.silence(delivery);
    this.releases.push(delivery);
  }

  /** Resolves when everything that was settled is settled on the server too; long retries are given to the server's clock. */
  async flush(): Promise<void> {
    for (const [delivery, cancel] of this.parked) {
      cancel();
      this.parked.delete(delivery);
      this.sendToClock(delivery, this.options.clock.now() + this.options.minIdleMs);
    }
    await Promise.all([this.acks.idle(), this.retries.idle(), this.releases.idle(), this.moves?.idle()]);
  }

  /** Gives up; returns the ids that were not settled. */
  stop(): readonly EntryId[] {
    return [
      ...this.acks.stop(),
      ...this.releases.stop(),
      ...this.retries.stop().map(({ delivery }) => delivery),
      ...(this.moves?.stop().map(({ delivery }) => delivery) ?? []),
      ...this.parked.keys(),
    ].map(({ id }) => id);
  }

  private retry(delivery: Delivery, delayMs: number): void {
    const { clock, minIdleMs, events } = this.options;
    const dueMs = clock.now() + delayMs;
    events.emit('retry-scheduled', { id: delivery.id, deliveries: delivery.deliveries, delayMs });
    if (delayMs <= minIdleMs) {
      this.sendToClock(delivery, dueMs);
      return;
    }
    const cancel = clock.after(delayMs - minIdleMs, () => {
      this.parked.delete(delivery);
      this.sendToClock(delivery, dueMs);
    });
    this.parked.set(delivery, cancel);
  }

  private sendToClock(delivery: Delivery, dueMs: number): void {
    this.options.held.silence(delivery);
    this.retries.push({ delivery, dueMs });
  }

  private async sendRetries(retries: readonly Retry[]): Promise<void> {
    const { port, clock, stream, group, consumer, minIdleMs, schedule, ownership } = this.options;
    await ownership.settled();
    const now = clock.now();
    const results = await port.run(retryLater, {
      stream,
      group,
      consumer,
      retries: retries.map(({ delivery, dueMs }) => ({
        id: delivery.id,
        idleMs: Math.round(Math.min(minIdleMs, Math.max(0, minIdleMs - (dueMs - now)))),
      })),
    });
    // The server wound its clock at some time between the call and the reply; only then the idle time is sure to be reached.
    const slackMs = clock.now() - now + 1;
    for (const [index, { delivery, dueMs }] of retries.entries()) {
      const status = results[index]?.status;
      if (status === 'done' && delivery.cameBack) {
        // A read reset the idle time, perhaps after it was wound: it is wound again.
        delivery.cameBack = false;
        this.retries.push({ delivery, dueMs });
        continue;
      }
      this.forget(delivery);
      if (status === 'done') schedule.add(delivery.id, dueMs + slackMs);
      else this.settledWithoutUs(delivery, status === 'gone');
    }
    this.options.scheduled();
  }

  private async sendReleases(deliveries: readonly Delivery[]): Promise<void> {
    const { port, stream, group, consumer, minIdleMs, ownership, events } = this.options;
    await ownership.settled();
    const ids = deliveries.map(({ id }) => id);
    const results = await port.run(release, { stream, group, consumer, idleMs: minIdleMs, ids });
    const released: EntryId[] = [];
    for (const [index, delivery] of deliveries.entries()) {
      const status = results[index]?.status;
      this.forget(delivery);
      if (status === 'done') released.push(delivery.id);
      else this.settledWithoutUs(delivery, status === 'gone');
    }
    this.counts.released += released.length;
    if (released.length > 0) events.emit('released', { ids: released });
  }

  private settledWithoutUs({ id }: Delivery, isGone: boolean): void {
    if (isGone) this.options.events.emit('lost-to-trim', { ids: [id] });
    else this.options.events.emit('ownership-lost', { id, owner: undefined });
  }

  private acknowledged(deliveries: readonly Delivery[], elsewhere: number): void {
    const { events, held } = this.options;
    for (const delivery of deliveries) held.remove(delivery);
    this.counts.acknowledged += deliveries.length;
    if (elsewhere > 0) events.emit('settled-elsewhere', { ids: deliveries.map(({ id }) => id), count: elsewhere });
    if (events.has('acknowledged')) events.emit('acknowledged', { ids: deliveries.map(({ id }) => id) });
    this.options.settled();
  }

  private forget(delivery: Delivery): void {
    this.options.held.remove(delivery);
    this.options.settled();
  }

  private retryOrForget(deliveries: readonly Delivery[], error: unknown): 'retry' | 'drop' {
    if (BusError.is(error) && error.retriable) return 'retry';
    for (const delivery of deliveries) this.forget(delivery);
    this.options.events.emit('settle-failed', { ids: deliveries.map(({ id }) => id), error });
    return 'drop';
  }
}

function delayOf(error: object): number {
  const { delayMs } = error as { delayMs?: unknown };
  return typeof delayMs === 'number' && delayMs > 0 ? Math.min(delayMs, 2 ** 31 - 1) : 0;
}
