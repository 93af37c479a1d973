import type { Clock } from '../../base/clock';
import { companionKey, type EntryFields, type EntryId, type StreamPort } from '../../bus';
import { deadLetter } from '../../bus/scripts/deadLetter';
import type { SampleEvents } from './sampleEvents';
import type { SampleActor, SampleJournal } from './sampleJournal';
import { sample } from './sampleNames';

const publishEveryTicks = 150;
const retryEveryTicks = 25;
const maxDeliveries = 3;
const maxDeadLetters = 200;

const ledger: SampleActor = { stream: sample.payments, ...sample.ledger };
const message = "Cannot read properties of null (reading 'cents')";
const failure = {
  type: 'TypeError',
  message,
  stack: `TypeError: ${message}\n    at toCents (ledger/money.ts:12:23)\n    at bookPayment (ledger/bookPayment.ts:41:18)`,
};

/** The payment that no handler survives. */
export interface Poison {
  /** True for the fields of a poison message, which the ledger's consumer therefore does not acknowledge. */
  isPoison(fields: EntryFields | null): boolean;
  /** Publishes one from time to time, has it delivered again, and moves it to the dead letters after its last delivery. */
  step(tick: number): Promise<void>;
}

/** Creates the poison of the sample's payments. */
export function createPoison(port: StreamPort, events: SampleEvents, clock: Clock, journal: SampleJournal): Poison {
  let id: EntryId | null = null;
  let bornAtTick = 0;
  let deliveries = 0;

  return {
    isPoison: (fields) => fields?.some((value) => value.includes('"amount":null')) ?? false,
    async step(tick) {
      if (id === null) {
        if (tick % publishEveryTicks !== 1) return;
        id = await port.add(sample.payments, events.payment(clock.now(), { isPoison: true }));
        bornAtTick = tick;
        deliveries = 1;
      } else if ((tick - bornAtTick) % retryEveryTicks === 0) {
        await journal.record(ledger, 'failed', [id], { attempt: deliveries, durationMs: 31, error: failure });
        if (deliveries >= maxDeliveries) {
          await moveToDeadLetters(port, id);
          await journal.record(ledger, 'dead-lettered', [id], { attempt: deliveries });
          id = null;
        } else if (await deliverAgain(port, id)) {
          deliveries += 1;
          await journal.record(ledger, 'delivered', [id], { attempt: deliveries });
        }
      }
    },
  };
}

async function deliverAgain(port: StreamPort, id: EntryId): Promise<boolean> {
  const { group, consumer } = sample.ledger;
  const claimed = await port.claim(sample.payments, group, consumer, [id], { minIdleMs: 0, count: 'increment' });
  return claimed.length > 0;
}

async function moveToDeadLetters(port: StreamPort, id: EntryId): Promise<void> {
  const { isCluster } = await port.capabilities();
  const target = companionKey(sample.payments, 'dlq', { isCluster }).key;
  await port.run(deadLetter, {
    source: sample.payments,
    target,
    group: sample.ledger.group,
    items: [
      {
        id,
        guard: { owner: sample.ledger.consumer, deliveries: { atLeast: maxDeliveries } },
        reason: 'handler-error',
        errorType: failure.type,
        errorMessage: failure.message,
      },
    ],
  });
  await port.trim(target, { maxLength: maxDeadLetters, approximate: true });
}
