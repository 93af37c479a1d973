import type { Clock } from '../../base/clock';
import { companionKey, type EntryFields, type EntryId, type StreamPort } from '../../bus';
import { deadLetter } from '../../bus/scripts/deadLetter';
import type { SampleEvents } from './sampleEvents';
import { sample } from './sampleNames';

const publishEveryTicks = 150;
const retryEveryTicks = 25;
const maxDeliveries = 3;
const maxDeadLetters = 200;

/** The payment that no handler survives. */
export interface Poison {
  /** True for the fields of a poison message, which the ledger's consumer therefore does not acknowledge. */
  isPoison(fields: EntryFields | null): boolean;
  /** Publishes one from time to time, has it delivered again, and moves it to the dead letters after its last delivery. */
  step(tick: number): Promise<void>;
}

/** Creates the poison of the sample's payments. */
export function createPoison(port: StreamPort, events: SampleEvents, clock: Clock): Poison {
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
        if (deliveries >= maxDeliveries) {
          await moveToDeadLetters(port, id);
          id = null;
        } else if (await deliverAgain(port, id)) {
          deliveries += 1;
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
        errorType: 'TypeError',
        errorMessage: "Cannot read properties of null (reading 'cents')",
      },
    ],
  });
  await port.trim(target, { maxLength: maxDeadLetters, approximate: true });
}
