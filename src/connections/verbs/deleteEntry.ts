import { compareEntryIds, deleteEntries } from '../../bus';
import type { EntryId, GroupInfo, StreamKey } from '../../bus';
import { batches, evalCommand, resultOf } from './pendingRows';
import type { PlannedItem, ReadingPort, SkippedItem, Verb } from './verb';

/** Which entries to delete. */
export interface DeleteRequest {
  readonly stream: StreamKey;
  readonly ids: readonly EntryId[];
}

/** An entry that would be deleted. */
export interface DeleteItem extends PlannedItem {
  readonly id: EntryId;
}

/** Deletes entries for good, each only when every group has read and acknowledged it; says of others which group has not. */
export const deleteEntry: Verb<DeleteRequest, DeleteItem> = {
  name: 'deleteEntry',
  risk: 'permanent',
  target: 'entry',
  targetOf: ({ stream }) => ({ stream }),
  preview: async (port, { stream, ids }) => {
    const [{ hasScripts }, groups] = await Promise.all([port.capabilities(), port.groupInfos(stream)]);
    const items: DeleteItem[] = [];
    const skipped: SkippedItem[] = [];
    for (const part of batches([...new Set(ids)])) {
      const blockers = await Promise.all(part.map((id) => blockerOf(port, stream, groups, id)));
      for (const [index, id] of part.entries()) {
        const blocker = blockers[index];
        if (blocker) skipped.push(blocker);
        else items.push({ id });
      }
    }
    return {
      items,
      skipped,
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts,
      ...(hasScripts ? {} : { obstacle: { kind: 'needs-scripts' } }),
    };
  },
  run: async (port, { stream }, items) => {
    const results = await port.run(deleteEntries, { stream, ids: items.map(({ id }) => id) });
    return items.map(({ id }, index) => resultOf(id, results[index] ?? { status: 'missing' }, ['deleted']));
  },
  cli: ({ stream }, items) => [evalCommand(deleteEntries, { stream, ids: items.map(({ id }) => id) })],
  recheck: async (port, { stream }, items) => {
    const found = await Promise.all(items.map(({ id }) => port.range(stream, { from: id, to: id, count: 1 })));
    return found.map((entries) => (entries.length === 0 ? 'not in the stream' : 'in the stream'));
  },
  undo: () => undefined,
  logged: () => ({}),
};

async function blockerOf(
  port: ReadingPort,
  stream: StreamKey,
  groups: readonly GroupInfo[],
  id: EntryId,
): Promise<SkippedItem | undefined> {
  const [entries, ...rows] = await Promise.all([
    port.range(stream, { from: id, to: id, count: 1 }),
    ...groups.map(({ name }) => port.pending(stream, name, { from: id, to: id, count: 1 })),
  ]);
  if (entries.length === 0) return { id, why: 'missing' };
  for (const [index, { name, lastDeliveredId }] of groups.entries()) {
    if (compareEntryIds(lastDeliveredId, id) < 0) return { id, why: 'unread', detail: name };
    if ((rows[index]?.length ?? 0) > 0) return { id, why: 'pending', detail: name };
  }
  return undefined;
}
