import type { Clock } from '../../base/clock';
import { DecodeError } from '../codecs';
import type { DeliveredEntry, EntryFields } from '../entries';
import type { EntryId } from '../ids';
import type { TakeOver } from '../scripts/takeOver';
import type { Handlers, ResolvedConsumerOptions } from './consumerOptions';
import { Delivery, messageOf } from './delivery';
import type { EventHub } from './events';
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
}

/** Takes in what the loop brings: decodes it, finds its order key and queues it; what cannot be handled goes to the dead letters. */
export class Intake {
  constructor(private readonly parts: IntakeOptions) {}

  /** New entries. */
  delivered(entries: readonly DeliveredEntry[]): void {
    const { clock, slots, events } = this.parts;
    const now = clock.now();
    const gone: EntryId[] = [];
    for (const { id, fields } of entries) {
      if (fields === null) gone.push(id);
      else this.accept(id, fields, 1, now);
    }
    if (gone.length > 0) events.emit('lost-to-trim', { ids: gone });
    slots.pump();
  }

  /** Entries taken over, from others or from this consumer's own past. */
  takenOver({ taken, spent, gone }: TakeOver): void {
    const { clock, held, slots, settler, events } = this.parts;
    const now = clock.now();
    if (gone.length > 0) events.emit('lost-to-trim', { ids: gone });
    for (const { id, fields, deliveries } of taken) this.accept(id, fields, deliveries, now);
    for (const { id, deliveries, previousOwner } of spent) {
      if (held.has(id)) continue;
      const delivery = new Delivery(id, [], deliveries, now);
      held.add(delivery);
      const error = { name: 'DeliveryLimit', message: `Delivered ${deliveries} times without being settled` };
      settler.deadLetter(delivery, 'delivery-limit', error, previousOwner);
    }
    if (taken.length > 0) events.emit('reclaimed', { ids: taken.map(({ id }) => id) });
    slots.pump();
  }

  private accept(id: EntryId, fields: EntryFields, deliveries: number, now: number): void {
    const { options, handlers, held, slots, settler } = this.parts;
    // Somebody moved the group back, or reclaimed what is being handled here: it is not to run twice.
    if (held.has(id)) return;
    const delivery = new Delivery(id, fields, deliveries, now);
    held.add(delivery);
    if (options.codec) {
      try {
        delivery.decoded = options.codec.decode(fields);
      } catch (error) {
        settler.deadLetter(delivery, 'invalid', error);
        return;
      }
    }
    if (typeof handlers !== 'function' && !handlerFor(handlers, delivery.decoded?.type)) {
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
