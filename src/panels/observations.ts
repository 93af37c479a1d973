/** What a panel saw of entries while it was open, for what no server and no journal can tell afterwards. */
import type { ConsumerName, EntryId, GroupName, HistoryEvent, MessageHistory } from '../bus';

/** A pending entry as it was seen: whose it was, and when it was last delivered. */
interface Sight {
  readonly consumer: ConsumerName;
  readonly attempt: number;
  readonly atMs: number;
}

/** One entry: how it was at the last look, and what had happened until then. */
interface Seen {
  readonly pending: Map<GroupName, Sight>;
  readonly events: HistoryEvent[];
  lookedAtMs: number;
}

/** So many entries, and events of each, are remembered. */
const maxEntries = 200;
const maxEvents = 50;

/** Compares each look at an entry with the one before: a delivery that was replaced by the next, an entry that stopped being pending. */
export class Observations {
  private readonly seen = new Map<EntryId, Seen>();

  /** Takes what is so now; answers all that was observed of the entry until now, which is nothing at the first look. */
  look(id: EntryId, standings: MessageHistory['standings'], serverTimeMs: number): readonly HistoryEvent[] {
    const before = this.seen.get(id);
    const now = new Map<GroupName, Sight>();
    for (const standing of standings) {
      if (standing.state !== 'pending' && standing.state !== 'gone') continue;
      const { pending, lastDeliveredAtMs } = standing;
      if (lastDeliveredAtMs === undefined) continue;
      const sight = { consumer: pending.consumer, attempt: pending.deliveryCount, atMs: lastDeliveredAtMs };
      now.set(standing.group, sight);
    }
    const events = before ? [...before.events, ...changes(id, before, now, serverTimeMs)].slice(-maxEvents) : [];
    // Taken out and put back, so that the one looked at longest ago is forgotten first.
    this.seen.delete(id);
    this.seen.set(id, { pending: now, events, lookedAtMs: serverTimeMs });
    const [oldest] = this.seen.keys();
    if (this.seen.size > maxEntries && oldest !== undefined) this.seen.delete(oldest);
    return events;
  }
}

function changes(
  id: EntryId,
  before: Seen,
  now: ReadonlyMap<GroupName, Sight>,
  serverTimeMs: number,
): readonly HistoryEvent[] {
  return [...before.pending].flatMap(([group, sight]): HistoryEvent[] => {
    const current = now.get(group);
    if (current?.consumer === sight.consumer && current.attempt === sight.attempt) return [];
    const delivered: HistoryEvent = { kind: 'delivered', sources: ['observed'], id, group, ...sight };
    if (current) return [delivered];
    const settled = { kind: 'settled', sources: ['observed'], id, group, atMs: serverTimeMs } as const;
    return [delivered, { ...settled, sinceMs: before.lookedAtMs }];
  });
}
