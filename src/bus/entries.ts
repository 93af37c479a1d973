import type { ConsumerName, EntryId, GroupName } from './ids';

/** The fields of an entry as Redis keeps them: name, value, name, value; order and duplicates matter, all of it bytes. */
export type EntryFields = readonly Buffer[];

/** An entry of a stream. */
export interface Entry {
  readonly id: EntryId;
  readonly fields: EntryFields;
}

/** An entry as a group's reader gets it. `fields` is null when the entry is pending but its message is gone. */
export interface DeliveredEntry {
  readonly id: EntryId;
  readonly fields: EntryFields | null;
  /** How often it was delivered before this delivery and how long it was idle, when the read command tells (Redis 8.4 CLAIM). */
  readonly before?: { readonly deliveryCount: number; readonly idleMs: number };
}

/** Whether a read took the entry over from who had let it lie: it was idle for some time, which a new one never was. */
export function wasPending({ before }: DeliveredEntry): boolean {
  return before !== undefined && before.idleMs > 0;
}

/**
 * One row of a group's pending entries list.
 *
 * Counts are what the server says: a hint that may be 0, negative or 2^63 - 1. They are doubles, as Lua sees them too, so that a
 * guard compares the same value on both sides. `idleMs` is -1 for an entry that was released without an owner (Redis 8.8).
 */
export interface PendingEntry {
  readonly id: EntryId;
  readonly consumer: ConsumerName;
  readonly idleMs: number;
  readonly deliveryCount: number;
}

/** The summary form of XPENDING: `consumers` lists only those with pending entries. */
export interface PendingSummary {
  readonly count: number;
  readonly firstId: EntryId | null;
  readonly lastId: EntryId | null;
  readonly consumers: readonly { readonly name: ConsumerName; readonly pending: number }[];
}

/** XINFO STREAM. What older servers do not tell is undefined. */
export interface StreamInfo {
  readonly length: number;
  readonly groups: number;
  readonly lastGeneratedId: EntryId;
  readonly firstEntry: Entry | null;
  readonly lastEntry: Entry | null;
  /** 7.0 and later. */
  readonly entriesAdded?: number;
  /** 7.0 and later. */
  readonly maxDeletedId?: EntryId;
}

/** One row of XINFO GROUPS. */
export interface GroupInfo {
  readonly name: GroupName;
  readonly consumers: number;
  readonly pending: number;
  readonly lastDeliveredId: EntryId;
  /** null when the server cannot tell, undefined when it is older than 7.0. */
  readonly entriesRead?: number | null;
  /** null when the server cannot tell, undefined when it is older than 7.0; never read as 0. May be wrong after trims. */
  readonly lag?: number | null;
}

/** One row of XINFO CONSUMERS. */
export interface ConsumerInfo {
  readonly name: ConsumerName;
  readonly pending: number;
  /** Until 7.0 since the last successful interaction, from 7.2 since the last attempt. */
  readonly idleMs: number;
  /** 7.2 and later: since the last successful interaction; -1 when there was none. */
  readonly inactiveMs?: number;
}
