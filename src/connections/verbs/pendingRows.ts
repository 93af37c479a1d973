/** What the verbs on pending entries share: which entries, how they are read first, and the guards. */
import { bytesToText } from '../../base/byteText';
import { compareEntryIds, nextEntryId } from '../../bus';
import type { ConsumerName, EntryId, GroupName, GuardedId, PendingEntry, PendingGuard, StreamKey } from '../../bus';
import { maxBatch, recentMs } from './verb';
import type { ItemResult, PendingBefore, PlannedItem, Preview, ReadingPort, SkippedItem } from './verb';

/** Which pending entries: these, or all of a group or consumer, or those of them whose message is gone. */
export type PendingSelection =
  { readonly ids: readonly EntryId[] } | { readonly all: 'pending' | 'gone'; readonly consumer?: ConsumerName };

/**
 * What must still be true on the server for an entry to be changed. `strict`: still pending, same owner, same count, not delivered or
 * heartbeaten later than shown. `atLeast`: still pending and delivered at least so often, for what crashes its workers in a loop.
 */
export type GuardChoice = 'strict' | { readonly atLeast: number };

/** What every verb on pending entries is asked with. */
export interface PendingRequest {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly select: PendingSelection;
  readonly guard: GuardChoice;
}

/** A pending entry that a verb would change. */
export interface PendingItem extends PlannedItem {
  readonly id: EntryId;
  readonly before: PendingBefore;
  readonly isGone: boolean;
}

/** The most entries of one action; who wants more does it again. */
export const maxItems = 20_000;

/** Reads the rows that are asked for; `wantsBodies` also tells which of them have lost their message. */
export async function readPending(
  port: ReadingPort,
  { stream, group, select }: Pick<PendingRequest, 'stream' | 'group' | 'select'>,
  wantsBodies: boolean,
): Promise<Preview<PendingItem>> {
  const { hasScripts } = await port.capabilities();
  const items: PendingItem[] = [];
  const skipped: SkippedItem[] = [];
  let isCut = false;
  const take = async (rows: readonly PendingEntry[], serverTimeMs: number): Promise<void> => {
    const onlyGone = 'all' in select && select.all === 'gone';
    const gone = wantsBodies || onlyGone ? await goneAmong(port, stream, rows) : new Set<EntryId>();
    for (const row of rows) {
      if (onlyGone && !gone.has(row.id)) continue;
      items.push({ id: row.id, before: beforeOf(row, serverTimeMs), isGone: gone.has(row.id) });
    }
  };
  if ('ids' in select) {
    // In their order, so that those of a batch lie near each other.
    const unique = [...new Set(select.ids)].sort(compareEntryIds);
    isCut = unique.length > maxItems;
    for (const ids of batches(unique.slice(0, maxItems))) {
      const [rows, serverTimeMs] = await readRows(port, stream, group, ids);
      const wanted = ids.flatMap((id) => rows.get(id) ?? []);
      await take(wanted, serverTimeMs);
      skipped.push(...ids.filter((id) => !rows.has(id)).map((id) => ({ id, why: 'not-pending' }) as const));
    }
  } else {
    let after: EntryId | undefined;
    do {
      const count = 5 * maxBatch;
      const [rows, serverTimeMs] = await Promise.all([
        port.pending(stream, group, {
          from: after === undefined ? 'min' : (nextEntryId(after) ?? after),
          to: 'max',
          count,
          ...(select.consumer === undefined ? {} : { consumer: select.consumer }),
        }),
        port.serverTimeMs(stream),
      ]);
      await take(rows, serverTimeMs);
      after = rows.length < count ? undefined : rows.at(-1)?.id;
      if (items.length > maxItems) {
        isCut = true;
        items.length = maxItems;
      }
    } while (after !== undefined && !isCut);
  }
  return { items, skipped, isCut, recent: recentOf(items), hasScripts };
}

/** The rows of some ids and the server's time after they were read, in one round trip, or two where other rows lie between. */
export async function readRows(
  port: ReadingPort,
  stream: StreamKey,
  group: GroupName,
  ids: readonly EntryId[],
): Promise<readonly [ReadonlyMap<EntryId, PendingEntry>, number]> {
  const found = findAmong(ids, (from, to, count) => port.pending(stream, group, { from, to, count }));
  // After the rows: a clock read before them would make every entry look delivered earlier than it was.
  const [rows, serverTimeMs] = await Promise.all([found, found.then(() => port.serverTimeMs(stream))]);
  return [rows, serverTimeMs];
}

/** A row as a guard and undo want it. */
export function beforeOf({ consumer, deliveryCount, idleMs }: PendingEntry, serverTimeMs: number): PendingBefore {
  return {
    owner: consumer,
    deliveries: deliveryCount,
    idleMs,
    deliveredAtMs: idleMs < 0 ? undefined : serverTimeMs - idleMs,
  };
}

/** The items with their guards, as the scripts take them. */
export function guarded(items: readonly PendingItem[], guard: GuardChoice): readonly GuardedId[] {
  return items.map(({ id, before }) => ({ id, guard: guardOf(before, guard) }));
}

/** What a choice of guard means for one row. */
export function guardOf(before: PendingBefore, guard: GuardChoice): PendingGuard {
  if (guard !== 'strict') return { deliveries: { atLeast: guard.atLeast } };
  return {
    owner: before.owner,
    deliveries: { exactly: before.deliveries },
    ...(before.deliveredAtMs === undefined ? {} : { deliveredUntilMs: before.deliveredAtMs }),
  };
}

/** A choice of guard, for the log and for confirmations. */
export function loggedGuard(guard: GuardChoice): Readonly<Record<string, string | number>> {
  return guard === 'strict' ? { guard } : { guard: 'relaxed', atLeast: guard.atLeast };
}

/** What a script says of an item, as a result. */
export function resultOf(
  id: EntryId,
  result: { readonly status: string } & Readonly<Record<string, unknown>>,
  done: readonly string[],
): ItemResult {
  const detail = ['owner', 'idleMs', 'deliveries', 'deliveredAtMs', 'fieldCount', 'group']
    .map((name) => result[name])
    .find((value) => typeof value === 'string' || typeof value === 'number');
  const isDone = done.includes(result.status);
  return {
    id,
    outcome: isDone ? 'done' : 'refused',
    status: result.status,
    ...(detail === undefined || isDone ? {} : { detail: String(detail) }),
  };
}

/** What is true now of entries whose change failed or was not answered. */
export async function recheckPending(
  port: ReadingPort,
  { stream, group }: Pick<PendingRequest, 'stream' | 'group'>,
  items: readonly PlannedItem[],
): Promise<readonly string[]> {
  const ids = items.flatMap(({ id }) => (id === 'new' ? [] : [id]));
  const [rows] = await readRows(port, stream, group, ids);
  return items.map(({ id }) => {
    const row = id === 'new' ? undefined : rows.get(id);
    return row === undefined ? 'not-pending' : `pending with ${row.consumer}, ${row.deliveryCount} deliveries`;
  });
}

/** Which rows have no message any more. */
export async function goneAmong(
  port: ReadingPort,
  stream: StreamKey,
  rows: readonly { readonly id: EntryId }[],
): Promise<Set<EntryId>> {
  const gone = new Set<EntryId>();
  for (const part of batches(rows.map(({ id }) => id))) {
    const entries = await findAmong(part, (from, to, count) => port.range(stream, { from, to, count }));
    for (const id of part) if (!entries.has(id)) gone.add(id);
  }
  return gone;
}

/**
 * Finds ids by one range over all of them, which in most cases holds little else; those that the range was too short for are asked
 * for one by one.
 */
async function findAmong<Found extends { readonly id: EntryId }>(
  ids: readonly EntryId[],
  read: (from: EntryId, to: EntryId, count: number) => Promise<readonly Found[]>,
): Promise<ReadonlyMap<EntryId, Found>> {
  const sorted = ids.toSorted(compareEntryIds);
  const [first] = sorted;
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return new Map();
  const count = 2 * sorted.length;
  const found = await read(first, last, count);
  const end = found.at(-1)?.id;
  const rest = found.length < count || end === undefined ? [] : sorted.filter((id) => compareEntryIds(id, end) > 0);
  const singles = await Promise.all(rest.map((id) => read(id, id, 1)));
  return new Map([...found, ...singles.flat()].map((each) => [each.id, each]));
}

/** How many were delivered a moment ago, and how long ago the latest of them was. */
export function recentOf(items: readonly { readonly before?: PendingBefore }[]): Preview<PlannedItem>['recent'] {
  const idles = items.flatMap(({ before }) => {
    const idleMs = before?.idleMs ?? -1;
    return idleMs >= 0 && idleMs < recentMs ? [idleMs] : [];
  });
  return { count: idles.length, latestMs: idles.length === 0 ? undefined : idles.reduce((a, b) => Math.min(a, b)) };
}

/** A list in parts of at most `maxBatch`. */
export function batches<T>(list: readonly T[]): readonly (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let from = 0; from < list.length; from += maxBatch) parts.push(list.slice(from, from + maxBatch));
  return parts;
}

/** An EVAL command, word by word. */
export function evalCommand<Arguments>(
  script: {
    readonly text: string;
    keys(args: Arguments): readonly StreamKey[];
    argv(args: Arguments): readonly (string | number | Buffer)[];
  },
  args: Arguments,
): readonly string[] {
  const keys = script.keys(args);
  const argv = script.argv(args).map((value) => (Buffer.isBuffer(value) ? bytesToText(value) : String(value)));
  return ['EVAL', script.text, String(keys.length), ...keys, ...argv];
}
