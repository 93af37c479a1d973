import type { Clock } from '../../base/clock';
import type { ConsumerName, EntryFields, EntryId, GroupName, StreamKey, StreamPort } from '../../bus';
import { createPoison, type Poison } from './poison';
import type { SampleEvents } from './sampleEvents';
import { SampleJournal } from './sampleJournal';
import { sample } from './sampleNames';

const tickMs = 400;

/** How many entries each of the sample's streams keeps; the sample made them, so it may trim them. */
const maxLengths: ReadonlyMap<StreamKey, number> = new Map([
  [sample.orders, 5_000],
  [sample.payments, 2_000],
  [sample.users, 1_000],
  [sample.readings, 300],
  [sample.audit, 2_000],
]);

/** Streams whose consumers keep a delivery journal, and others, as it is in the world. */
const journaled: ReadonlySet<StreamKey> = new Set([sample.orders, sample.payments]);

/** What a group's consumer read last time. */
interface Unfinished {
  readonly consumer: ConsumerName;
  readonly ids: readonly EntryId[];
  readonly sinceMs: number;
}

/**
 * Keeps the sample's streams moving until the signal aborts: producers, a healthy group, a slow one whose lag grows, a stuck
 * consumer that never comes back, and a poison message on its way to the dead letters. Rejects when the server is lost.
 */
export async function runSampleTraffic(options: {
  readonly port: StreamPort;
  readonly events: SampleEvents;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { port, clock, signal } = options;
  const traffic = new Traffic(port, options.events, clock);
  for (let tick = 0; !signal.aborted; tick += 1) {
    await traffic.step(tick);
    await pause(clock, tickMs, signal);
  }
}

class Traffic {
  private readonly unfinished = new Map<GroupName, Unfinished>();
  private readonly poison: Poison;
  private readonly journal: SampleJournal;

  constructor(
    private readonly port: StreamPort,
    private readonly events: SampleEvents,
    private readonly clock: Clock,
  ) {
    this.journal = new SampleJournal(port, clock);
    this.poison = createPoison(port, events, clock, this.journal);
  }

  async step(tick: number): Promise<void> {
    await this.publish(tick);
    const [first, second] = sample.billing.consumers;
    await this.work(sample.orders, sample.billing.group, tick % 2 === 0 ? first : second);
    if (tick % 3 === 0) await this.work(sample.orders, sample.shipping.group, sample.shipping.alive);
    if (tick % 6 === 0) await this.work(sample.orders, sample.analytics.group, sample.analytics.consumer, 1);
    if (tick % 2 === 0) await this.work(sample.payments, sample.ledger.group, sample.ledger.consumer);
    if (tick % 5 === 0) await this.work(sample.users, sample.mailer.group, sample.mailer.consumer);
    if (tick % 2 === 1) await this.work(sample.readings, sample.alerts.group, sample.alerts.consumer, 50);
    await this.poison.step(tick);
  }

  private async publish(tick: number): Promise<void> {
    const now = this.clock.now();
    const due: (readonly [StreamKey, EntryFields])[] = [
      [sample.orders, this.events.order(now)],
      [sample.readings, this.events.reading(now)],
      [sample.readings, this.events.reading(now)],
    ];
    if (tick % 3 === 0) due.push([sample.payments, this.events.payment(now)]);
    if (tick % 12 === 0) due.push([sample.users, this.events.user(now)]);
    if (tick % 9 === 0) due.push([sample.audit, this.events.audit(now)]);
    await Promise.all(
      due.map(([key, fields]) =>
        this.port.add(key, fields, { trim: { maxLength: maxLengths.get(key) ?? 1_000, approximate: true } }),
      ),
    );
  }

  /** Acknowledges what the group's consumer read last time, then reads on. */
  private async work(key: StreamKey, group: GroupName, consumer: ConsumerName, count = 10): Promise<void> {
    await this.finish(key, group);
    const delivered = await this.port.readGroup(key, group, consumer, { count });
    const ids = delivered.filter(({ fields }) => !this.poison.isPoison(fields)).map(({ id }) => id);
    this.unfinished.set(group, { consumer, ids, sinceMs: this.clock.now() });
    const all = delivered.map(({ id }) => id);
    if (journaled.has(key)) await this.journal.record({ stream: key, group, consumer }, 'delivered', all);
  }

  private async finish(key: StreamKey, group: GroupName): Promise<void> {
    const { consumer, ids, sinceMs } = this.unfinished.get(group) ?? {};
    if (consumer === undefined || ids === undefined || ids.length === 0) return;
    await this.port.acknowledge(key, group, ids);
    const durationMs = this.clock.now() - (sinceMs ?? 0);
    if (journaled.has(key))
      await this.journal.record({ stream: key, group, consumer }, 'acknowledged', ids, { durationMs });
  }
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      cancel();
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal.addEventListener('abort', end);
  });
}
