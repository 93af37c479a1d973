import type { EntryId } from '../ids';
import type { Delivery } from './delivery';
import type { HeldTable } from './heldTable';

/**
 * Everything that this consumer is busy with, by id: waiting, running, being settled. It is what heartbeats keep and what no reclaim
 * may take; entries whose retry is scheduled are not among it.
 */
export class Held {
  private readonly byId = new Map<EntryId, Delivery>();
  /** What is not held any more while its handler still runs: lost, or given up after its time. */
  private readonly strays = new Map<EntryId, Delivery>();

  /** `table` mirrors the ids for the heartbeat thread, when there is one. */
  constructor(private readonly table: HeldTable | undefined) {}

  get size(): number {
    return this.byId.size;
  }

  get(id: EntryId): Delivery | undefined {
    return this.byId.get(id);
  }

  has(id: EntryId): boolean {
    return this.byId.has(id);
  }

  add(delivery: Delivery): void {
    this.byId.set(delivery.id, delivery);
    if (this.table) delivery.slot = this.table.add(delivery.id);
  }

  remove(delivery: Delivery): void {
    if (this.byId.get(delivery.id) !== delivery) return;
    this.byId.delete(delivery.id);
    if (delivery.isRunning) this.strays.set(delivery.id, delivery);
    if (this.table && delivery.slot >= 0) this.table.remove(delivery.slot);
    delivery.slot = -1;
  }

  /** A handler ended: if its entry was not held any more, it may come back from now on. */
  ended(delivery: Delivery): void {
    if (this.strays.get(delivery.id) === delivery) this.strays.delete(delivery.id);
  }

  /** Whether a handler still runs for an entry that is not held any more: it must not be handed out here beside that (I3). */
  isStray(id: EntryId): boolean {
    return this.strays.has(id);
  }

  /** Stops the heartbeats of an entry that is still busy, because its idle time is about to be set. */
  silence(delivery: Delivery): void {
    delivery.isSilent = true;
    if (this.table && delivery.slot >= 0) this.table.remove(delivery.slot);
    delivery.slot = -1;
  }

  /** What must not be taken over: everything that is held, and the strays. */
  busyIds(): EntryId[] {
    return [...this.byId.keys(), ...this.strays.keys()];
  }

  deliveries(): IterableIterator<Delivery> {
    return this.byId.values();
  }
}
