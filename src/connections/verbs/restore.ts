import { guardedClaim, replayToGroup } from '../../bus';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../../bus';
import { evalCommand, goneAmong, readRows, recheckPending, resultOf } from './pendingRows';
import type { ItemResult, PendingBefore, PlannedItem, SkippedItem, UndoKind, Verb } from './verb';

/** What is to be taken back, as the action log has it. */
export interface RestoreRequest {
  readonly kind: UndoKind;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly deadLetters: StreamKey | undefined;
  readonly entries: readonly RestoreEntry[];
  /** How long ago the action was. */
  readonly ageMs: number;
}

/** One entry of an action: how it was, how the action left it. */
export interface RestoreEntry {
  readonly id: EntryId;
  readonly before: Pick<PendingBefore, 'owner' | 'deliveries' | 'idleMs'>;
  readonly ownerAfter: ConsumerName;
  readonly deliveriesAfter: number;
  readonly deadId: EntryId | undefined;
}

/** An entry that would be as it was before. */
export interface RestoreItem extends PlannedItem {
  readonly id: EntryId;
  readonly entry: RestoreEntry;
}

/** No entry is idle for so long: with it XCLAIM FORCE takes only ids that are not pending, in one step on any version. */
const neverIdleMs = 8_000_000_000_000_000;

/**
 * Takes an action back: makes acknowledged entries pending again, gives claimed ones back, returns dead letters to their group; each
 * with the owner, count and idle time of before, and only when nothing has happened to it since.
 */
export const restore: Verb<RestoreRequest, RestoreItem> = {
  name: 'restore',
  risk: 'undoable',
  target: 'action',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, { kind, stream, group, entries }) => {
    const { hasScripts } = await port.capabilities();
    const items: RestoreItem[] = [];
    const skipped: SkippedItem[] = [];
    const ids = entries.map(({ id }) => id);
    const rows = new Map<EntryId, { readonly consumer: ConsumerName; readonly deliveryCount: number }>();
    for (let from = 0; from < ids.length; from += 100) {
      const [part] = await readRows(port, stream, group, ids.slice(from, from + 100));
      for (const [id, row] of part) rows.set(id, row);
    }
    const gone = await goneAmong(port, stream, entries);
    for (const entry of entries) {
      const { id } = entry;
      const row = rows.get(id);
      if (gone.has(id)) skipped.push({ id, why: 'gone' });
      else if (kind !== 'claim-back' && row) skipped.push({ id, why: 'pending', detail: row.consumer });
      else if (kind === 'claim-back' && !row) skipped.push({ id, why: 'not-pending' });
      else if (row && (row.consumer !== entry.ownerAfter || row.deliveryCount !== entry.deliveriesAfter))
        skipped.push({ id, why: 'changed', detail: row.consumer });
      else items.push({ id, entry });
    }
    const needsScripts = kind !== 'unacknowledge' && !hasScripts;
    return {
      items,
      skipped,
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts,
      ...(needsScripts ? { obstacle: { kind: 'needs-scripts' } as const } : {}),
    };
  },
  run: (port, request, items) =>
    Promise.all(
      items.map(async ({ id, entry }): Promise<ItemResult> => {
        const { kind, stream, group, ageMs, deadLetters } = request;
        const { owner, deliveries } = entry.before;
        const idleMs = idleOf(entry, ageMs);
        if (kind === 'unacknowledge') {
          const claimed = await port.claim(stream, group, owner, [id], {
            minIdleMs: neverIdleMs,
            count: { set: deliveries },
            idleMs,
            force: true,
          });
          return resultOf(id, { status: claimed.length > 0 ? 'restored' : 'pending-or-gone' }, ['restored']);
        }
        if (kind === 'return-from-dead-letters') {
          const [returned] = await port.run(replayToGroup, {
            deadLetters: deadLetters ?? stream,
            stream,
            group,
            consumer: owner,
            idleMs,
            items: [{ deadId: entry.deadId ?? id, entry: id }],
          });
          if (returned?.status !== 'returned') return resultOf(id, returned ?? { status: 'gone' }, []);
          await port.run(guardedClaim, claimArguments(request, entry, { owner, deliveries: 0 }));
          return { id, outcome: 'done', status: 'restored' };
        }
        const after = { owner: entry.ownerAfter, deliveries: entry.deliveriesAfter };
        const [claimed] = await port.run(guardedClaim, claimArguments(request, entry, after));
        return claimed?.status === 'claimed'
          ? { id, outcome: 'done', status: 'restored' }
          : resultOf(id, claimed ?? { status: 'not-pending' }, []);
      }),
    ),
  cli: (request, items) =>
    items.flatMap(({ id, entry }): (readonly string[])[] => {
      const { kind, stream, group, ageMs, deadLetters } = request;
      const { owner, deliveries } = entry.before;
      const idleMs = idleOf(entry, ageMs);
      if (kind === 'unacknowledge') {
        const setting = ['IDLE', String(idleMs), 'RETRYCOUNT', String(deliveries), 'FORCE', 'JUSTID'];
        return [['XCLAIM', stream, group, owner, String(neverIdleMs), id, ...setting]];
      }
      if (kind === 'return-from-dead-letters') {
        const back = {
          deadLetters: deadLetters ?? stream,
          stream,
          group,
          consumer: owner,
          idleMs,
          items: [{ deadId: entry.deadId ?? id, entry: id }],
        };
        const count = claimArguments(request, entry, { owner, deliveries: 0 });
        return [evalCommand(replayToGroup, back), evalCommand(guardedClaim, count)];
      }
      const after = { owner: entry.ownerAfter, deliveries: entry.deliveriesAfter };
      return [evalCommand(guardedClaim, claimArguments(request, entry, after))];
    }),
  recheck: recheckPending,
  undo: () => undefined,
  logged: ({ kind }) => ({ kind }),
};

/** A claim that sets an entry to what it was, while it still is as `now` says. */
function claimArguments(
  { stream, group, ageMs }: RestoreRequest,
  entry: RestoreEntry,
  now: { readonly owner: ConsumerName; readonly deliveries: number },
): Parameters<typeof guardedClaim.keys>[0] {
  return {
    stream,
    group,
    consumer: entry.before.owner,
    count: { set: entry.before.deliveries },
    idleMs: idleOf(entry, ageMs),
    items: [{ id: entry.id, guard: { owner: now.owner, deliveries: { exactly: now.deliveries } } }],
  };
}

/** As idle as it would be now. */
function idleOf({ before }: RestoreEntry, ageMs: number): number {
  return Math.max(0, before.idleMs) + Math.max(0, Math.trunc(ageMs));
}
