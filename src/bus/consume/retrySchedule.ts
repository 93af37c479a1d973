import type { EntryId } from '../ids';

/**
 * When the retries that this consumer scheduled become due, so that it can take each back at that moment and not only when its
 * reclaimer comes by. Only a hint: the truth is the idle time on the server, and any other consumer may be quicker.
 */
export class RetrySchedule {
  private readonly dueAt = new Map<EntryId, number>();
  private earliest = Infinity;

  /** Remembers up to `limit` retries; those beyond it are left to the reclaimer. */
  constructor(private readonly limit: number) {}

  get nextDueMs(): number {
    return this.earliest;
  }

  get size(): number {
    return this.dueAt.size;
  }

  add(id: EntryId, dueMs: number): void {
    if (this.dueAt.size >= this.limit) return;
    this.dueAt.set(id, dueMs);
    if (dueMs < this.earliest) this.earliest = dueMs;
  }

  /** Takes up to `count` ids that are due. */
  takeDue(now: number, count: number): EntryId[] {
    const due: EntryId[] = [];
    let earliest = Infinity;
    for (const [id, dueMs] of this.dueAt) {
      if (dueMs <= now && due.length < count) {
        due.push(id);
        this.dueAt.delete(id);
      } else if (dueMs < earliest) {
        earliest = dueMs;
      }
    }
    this.earliest = earliest;
    return due;
  }

  ids(): EntryId[] {
    return [...this.dueAt.keys()];
  }

  clear(): void {
    this.dueAt.clear();
    this.earliest = Infinity;
  }
}
