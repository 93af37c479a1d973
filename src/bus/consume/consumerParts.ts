import type { StreamKey } from '../ids';
import type { StreamPort } from '../port';
import type { LostEntry } from '../scripts/settle';
import type { ConsumerWatch } from '../telemetry/consumerWatch';
import { OwnershipLostError } from './abortReasons';
import { checkedHandler } from './checkedHandler';
import type { Handlers, ResolvedConsumerOptions } from './consumerOptions';
import { messageOf } from './delivery';
import type { Delivery } from './delivery';
import type { EventHub } from './events';
import { GroupKeeper } from './groupKeeper';
import { handledOf, outcomeOf } from './handled';
import { HandlerRuns } from './handlerRuns';
import { Held } from './held';
import { HeldTable } from './heldTable';
import type { HeartbeatConnection } from './heartbeatThread';
import { Journal } from './journal';
import { recordEvents } from './journalEvents';
import { Intake } from './intake';
import { composeHandler } from './middleware';
import { TimerOwnership } from './ownership';
import type { Ownership, OwnershipOptions } from './ownership';
import { ReadLoop } from './readLoop';
import { RetrySchedule } from './retrySchedule';
import { Settler } from './settler';
import { Slots } from './slots';
import { ThreadOwnership } from './threadOwnership';

/** What the parts of a consumer are made of. */
export interface ConsumerPartsOptions {
  readonly port: StreamPort;
  readonly options: ResolvedConsumerOptions;
  readonly handlers: Handlers;
  readonly events: EventHub;
  readonly connection: HeartbeatConnection | undefined;
  readonly watch: ConsumerWatch;
  readonly deadLetters: StreamKey | undefined;
  /** Where the journal is written; undefined when there is none. */
  readonly journal: StreamKey | undefined;
  failed(error: unknown): void;
}

function makeJournal({ port, options, events, journal: key }: ConsumerPartsOptions): Journal | undefined {
  if (!options.journal || key === undefined) return undefined;
  const { clock, group, name: consumer } = options;
  const { maxLength, version, redact } = options.journal;
  const journal = new Journal({ port, clock, events, key, maxLength, group, consumer, version });
  recordEvents(events, journal, { clock, consumer, redact });
  return journal;
}

/** The most retries whose time a consumer remembers; the reclaimer finds the others. */
const maxScheduled = 10_000;

/** The parts of a consumer, wired together. */
export class ConsumerParts {
  readonly held: Held;
  readonly ownership: Ownership;
  readonly runs: HandlerRuns;
  readonly slots: Slots;
  readonly settler: Settler;
  readonly loop: ReadLoop;
  readonly journal: Journal | undefined;
  private readonly events: EventHub;

  constructor(parts: ConsumerPartsOptions) {
    const { port, options, handlers, events, connection, watch, deadLetters } = parts;
    const { stream, group, name: consumer, clock, minIdleMs, heartbeatMs, concurrency, prefetch } = options;
    const capacity = concurrency + prefetch;
    const maxHeld = Math.max(2000, 4 * capacity);
    const table = options.thread && connection ? HeldTable.make(maxHeld + capacity) : undefined;
    const held = new Held(table);
    const schedule = new RetrySchedule(maxScheduled);
    const ownershipOptions: OwnershipOptions = {
      port,
      clock,
      held,
      stream,
      group,
      consumer,
      minIdleMs,
      heartbeatMs,
      listener: {
        lost: (entry) => {
          this.lost(entry);
        },
        beatFailed: (error) => {
          events.emit('heartbeat-failed', { error });
        },
      },
    };
    this.events = events;
    this.journal = makeJournal(parts);
    this.held = held;
    this.ownership =
      table && connection
        ? new ThreadOwnership(ownershipOptions, table, connection, options.lifeline)
        : new TimerOwnership(ownershipOptions);
    this.settler = new Settler({
      port,
      clock,
      stream,
      group,
      consumer,
      held,
      ownership: this.ownership,
      schedule,
      events,
      maxDeliveries: options.maxDeliveries,
      backoff: options.backoff,
      minIdleMs,
      deadLetters,
      redact: options.redact,
      deletes: options.acknowledged === 'delete',
      settled: () => {
        this.loop.wake();
      },
      scheduled: () => {
        this.loop.retryScheduled();
      },
    });
    this.runs = new HandlerRuns({
      clock,
      group,
      consumer,
      log: options.log,
      handler: checkedHandler(options.schemas, composeHandler(handlers, options.use), options.plainMessages),
      timeoutMs: options.handlerTimeoutMs,
      graceMs: options.abortGraceMs,
      messageOf: (delivery) => messageOf(stream, delivery, options.plainMessages),
      timedOut: ({ id, deliveries }) => {
        events.emit('handler-timeout', { id, deliveries, timeoutMs: options.handlerTimeoutMs });
      },
      begun: (delivery) => watch.begin(delivery),
      outcome: (delivery, outcome) => {
        watch.ended(delivery, outcomeOf(delivery, outcome), outcome.kind === 'failed' ? outcome.error : undefined);
        if (events.has('handled')) events.emit('handled', handledOf(delivery, outcome, clock.now()));
        this.settler.settle(delivery, outcome);
      },
      ended: (delivery, late) => {
        held.ended(delivery);
        if (late) events.emit('late-result', { id: delivery.id });
        this.freed(delivery);
      },
    });
    this.slots = new Slots({
      concurrency,
      start: (delivery) => {
        this.begin(delivery);
      },
    });
    const intake = new Intake({
      options,
      handlers,
      clock,
      held,
      slots: this.slots,
      settler: this.settler,
      events,
      begin: () => {
        this.pump();
      },
    });
    const refill = Math.max(1, Math.ceil(prefetch / 2));
    this.loop = new ReadLoop({
      port,
      clock,
      stream,
      group,
      consumer,
      held,
      schedule,
      events,
      minIdleMs,
      heartbeatMs,
      refill,
      blockMs: options.blockMs,
      maxDeliveries: options.maxDeliveries,
      reclaim: options.reclaim,
      groupKeeper: new GroupKeeper({
        port,
        stream,
        group,
        events,
        start: options.groupStart,
        mayCreate: options.createGroup,
      }),
      room: () => Math.min(capacity - this.slots.queued - this.slots.running, maxHeld - held.size),
      delivered: (entries) => {
        intake.delivered(entries);
      },
      takenOver: (found) => {
        intake.takenOver(found);
      },
      arrived:
        table && options.lifeline
          ? (id) => {
              table.markRead(id);
            }
          : undefined,
      failed: (error) => {
        parts.failed(error);
      },
    });
    this.hasRoom = () => this.slots.queued + this.slots.running + refill <= capacity;
  }

  private readonly hasRoom: () => boolean;

  /** Begins to beat, then to read. */
  async start(): Promise<void> {
    await this.ownership.start();
    await this.loop.start();
  }

  pause(): void {
    this.slots.hold();
    this.loop.pause();
  }

  resume(): void {
    this.slots.open();
    this.loop.resume();
  }

  /** Starts handlers; with a journal when it was told of their deliveries, so that also one that ends the process is in it. */
  private pump(): void {
    if (!this.journal) {
      this.slots.pump();
      return;
    }
    this.journal.flush();
    // What was sent in this tick leaves in its nextTick callbacks, which run in their order.
    process.nextTick(() => {
      this.slots.pump();
    });
  }

  private begin(delivery: Delivery): void {
    if (!delivery.isLost && this.ownership.isConfirmed(delivery)) {
      this.runs.start(delivery);
      return;
    }
    // Others may have taken it; if nobody has, it comes back by a reclaim.
    this.held.remove(delivery);
    if (!delivery.isLost) this.events.emit('ownership-lost', { id: delivery.id, owner: undefined });
    this.freed(delivery);
  }

  private freed(delivery: Delivery): void {
    this.slots.free(delivery);
    this.slots.pump();
    if (this.hasRoom()) this.loop.wake();
  }

  private lost(entry: LostEntry): void {
    const delivery = this.held.get(entry.id);
    // What is settled has its own guard on the server; an acknowledgement after success is right whoever owns the entry.
    if (!delivery || delivery.isSettled || delivery.isSilent) return;
    if (entry.status === 'gone') {
      // The message was trimmed while it was being handled: nobody else can get it, so its handler may finish.
      this.held.silence(delivery);
      this.events.emit('lost-to-trim', { ids: [entry.id] });
      return;
    }
    const owner = entry.status === 'owner-changed' ? entry.owner : undefined;
    delivery.isLost = true;
    this.held.remove(delivery);
    if (this.slots.remove(delivery)) this.loop.wake();
    else {
      const message =
        owner === undefined ? 'The entry is not pending any more' : `Consumer ${owner} owns the entry now`;
      delivery.abort('lost', new OwnershipLostError(message));
    }
    this.events.emit('ownership-lost', { id: entry.id, owner });
  }
}
