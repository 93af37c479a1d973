import type { Entry, PendingEntry } from '../entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { InspectPort } from './inspectPort';

/** A pending entry beside its message. */
export interface PendingRow extends PendingEntry {
  /** The message; null when it was deleted or trimmed while it was pending. */
  readonly entry: Entry | null;
  /** Server time minus idle; undefined for an entry that was released without an owner (Redis 8.8). */
  readonly lastDeliveredAtMs: number | undefined;
}

/** Some of a group's pending entries. */
export interface PendingPage {
  /** In the order of their ids. */
  readonly rows: readonly PendingRow[];
  /** Give it as `after` to go on; undefined when there are no more. */
  readonly next: EntryId | undefined;
  readonly serverTimeMs: number;
}

/** Which pending entries to list: those after an id, of one consumer or of all. */
export interface PendingPageQuery {
  readonly after?: EntryId;
  readonly consumer?: ConsumerName;
  readonly count: number;
}

/** A page of pending entries with their messages. Two round trips; it never claims. Rejects with `no-group`. */
export async function pendingPage(
  port: InspectPort,
  key: StreamKey,
  group: GroupName,
  { after, consumer, count }: PendingPageQuery,
): Promise<PendingPage> {
  const [found, serverTimeMs] = await Promise.all([
    port.pending(key, group, {
      from: after === undefined ? 'min' : { after },
      to: 'max',
      count: count + 1,
      ...(consumer === undefined ? {} : { consumer }),
    }),
    port.serverTimeMs(key),
  ]);
  const shown = found.slice(0, count);
  const entries = await Promise.all(shown.map(({ id }) => port.range(key, { from: id, to: id, count: 1 })));
  return {
    rows: shown.map((row, index) => ({
      ...row,
      entry: entries[index]?.[0] ?? null,
      lastDeliveredAtMs: lastDeliveredAtMs(row, serverTimeMs),
    })),
    next: found.length > count ? shown.at(-1)?.id : undefined,
    serverTimeMs,
  };
}

/** When a pending entry was last delivered, by the server's clock; undefined when it has no owner. */
export function lastDeliveredAtMs({ idleMs }: PendingEntry, serverTimeMs: number): number | undefined {
  return idleMs < 0 ? undefined : serverTimeMs - idleMs;
}
