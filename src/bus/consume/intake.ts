import type { Clock } from '../../base/clock';
import { DecodeError } from '../codecs';
import { replayFieldNames, splitReplayOrigin } from '../deadLetters';
import { wasPending } from '../entries';
import type { DeliveredEntry, EntryFields } from '../entries';
import type { ConsumerName, EntryId } from '../ids';
import type { TakeOver } from '../scripts/takeOver';
import { hasSchema } from './checkedHandler';
import type { Handlers, ResolvedConsumerOptions } from './consumerOptions';
import { Delivery, messageOf } from './delivery';
import type { ConsumerEvents, EventHub } from './events';
import type { Held } from './held';
import { handlerFor } from './middleware';
import type { Settler } from './settler';
import type { Slots } from './slots';

/** What taking entries in needs. */
export interface IntakeOptions {
  readonly options: ResolvedConsumerOptions;
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly held: Held;
  readonly slots: Slots;
  readonly settler: Settler;
  readonly events: EventHub;
  /** Starts handlers for what was queued. */
  readonly begin: () => void;
}

/** Takes in what the loop brings: decodes it, finds its order key and queues it; what cannot be handled goes to the dead letters. */
export class Intake {
  constructor(private readonly parts: IntakeOptions) {}

  /** Entries of a read: new ones, and those that the read took over, which it counted as delivered once more. */
  delivered(entries: readonly DeliveredEntry[]): void {
    const { options, clock, held, events, begin } = this.parts;
    const now = clock.now();
    const gone: EntryId[] = [];
    const reclaimed: EntryId[] = [];
    for (const entry of entries) {
      const { id, fields } = entry;
      const before = wasPending(entry) ? Math.max(0, entry.before?.deliveryCount ?? 0) : 0;
      const own = held.get(id);
      if (fields === null) gone.push(id);
      else if (own) keep(own, before + 1, now);
      else if (before >= options.maxDeliveries) this.spent(id, before, now);
      else {
        if (wasPending(entry)) reclaimed.push(id);
        this.accept(id, fields, before + 1, now, { isTakenOver: wasPending(entry) });
      }
    }
    if (gone.length > 0) events.emit('lost-to-trim', { ids: gone });
    if (reclaimed.length > 0) events.emit('reclaimed', { ids: reclaimed });
    begin();
  }

  /** Entries taken over, from others or from this consumer's own past. */
  takenOver({ taken, spent, gone }: TakeOver): void {
    const { clock, events, begin } = this.parts;
    const now = clock.now();
    if (gone.length > 0) events.emit('lost-to-trim', { ids: gone });
    for (const { id, fields, deliveries, previousOwner } of taken)
      this.accept(id, fields, deliveries, now, { isTakenOver: true, previousOwner });
    for (const { id, deliveries, previousOwner } of spent) this.spent(id, deliveries, now, previousOwner);
    if (taken.length > 0) events.emit('reclaimed', { ids: taken.map(({ id }) => id) });
    begin();
  }

  /** An entry whose deliveries are used up is not run. Who let it die is not known when a read took it over. */
  private spent(id: EntryId, deliveries: number, now: number, previousOwner?: ConsumerName): void {
    const { held, settler } = this.parts;
    if (held.has(id)) return;
    const delivery = new Delivery(id, [], deliveries, now);
    held.add(delivery);
    const error = { name: 'DeliveryLimit', message: `Delivered ${deliveries} times without being settled` };
    settler.deadLetter(delivery, 'delivery-limit', error, previousOwner);
  }

  private accept(id: EntryId, fields: EntryFields, deliveries: number, now: number, from: Origin): void {
    const { options, handlers, held, slots, settler, events } = this.parts;
    // Somebody moved the group back, or reclaimed what is being handled here: it is not to run twice.
    if (held.has(id)) return;
    const delivery = new Delivery(id, fields, deliveries, now);
    if (held.isStray(id)) {
      // Its former handler goes on here, so it is given back for another consumer, or for this one when that handler has ended.
      held.add(delivery);
      settler.release(delivery);
      return;
    }
    held.add(delivery);
    if (events.has('delivered')) events.emit('delivered', deliveredEvent(delivery, from));
    if (options.codec) {
      try {
        delivery.decoded = options.codec.decode(fields);
      } catch (error) {
        settler.deadLetter(delivery, 'invalid', withoutQuotes(error));
        return;
      }
    }
    const type = delivery.decoded?.type;
    if (!hasSchema(options.schemas, type) || (typeof handlers !== 'function' && !handlerFor(handlers, type))) {
      this.unroutable(delivery);
      return;
    }
    if (options.orderBy) {
      try {
        delivery.orderKey = options.orderBy(messageOf(options.stream, delivery, false));
      } catch (error) {
        settler.deadLetter(delivery, 'invalid', error);
        return;
      }
    }
    slots.enqueue(delivery);
  }

  private unroutable(delivery: Delivery): void {
    const { options, settler } = this.parts;
    if (options.unroutable === 'acknowledge') settler.settle(delivery, { kind: 'completed' });
    else settler.deadLetter(delivery, 'unroutable', new DecodeError('No handler is named for the type of the message'));
  }
}

/** Only a `DecodeError` is known to quote no payload; JSON.parse for one does. */
function withoutQuotes(error: unknown): DecodeError {
  return error instanceof DecodeError ? error : new DecodeError('The codec could not read the entry', { cause: error });
}

/** Whether an entry was taken over, and from whom when that is known. */
interface Origin {
  readonly isTakenOver: boolean;
  readonly previousOwner?: ConsumerName;
}

function deliveredEvent({ id, deliveries, fields }: Delivery, from: Origin): ConsumerEvents['delivered'] {
  const { isTakenOver, previousOwner } = from;
  // A look at one length spares nearly all entries the whole look.
  const mayBeReplay = fields.at(-4)?.length === replayFieldNames[0].length;
  const replayOf = mayBeReplay ? splitReplayOrigin(fields).origin : undefined;
  return { id, deliveries, isTakenOver, previousOwner, replayOf };
}

/**
 * Heartbeats came so late that a read of this very consumer took the entry over from it, or the group was moved back. It is not to run
 * twice; the server knows it as ours, and counted.
 */
function keep(own: Delivery, deliveries: number, now: number): void {
  own.deliveries = Math.max(own.deliveries, deliveries);
  own.confirmedAtMs = now;
  if (own.isSilent) own.cameBack = true;
}
