import { guardedAcknowledge } from '../../bus';
import type { PendingGuard } from '../../bus';
import { evalCommand, guardOf, loggedGuard, readPending, recheckPending, resultOf } from './pendingRows';
import type { GuardChoice, PendingItem, PendingRequest } from './pendingRows';
import type { ItemResult, Verb } from './verb';

/** Acknowledges pending entries: they will not be delivered to this group again. */
export const acknowledge: Verb<PendingRequest, PendingItem> = {
  name: 'acknowledge',
  risk: 'undoable',
  target: 'pending',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: (port, request) => readPending(port, request, true),
  run: async (port, { stream, group, guard }, items, mode) => {
    if (mode === 'guarded') {
      const results = await port.run(guardedAcknowledge, { stream, group, items: guardedItems(items, guard) });
      return items.map(({ id }, index) => resultOf(id, results[index] ?? { status: 'not-pending' }, ['acknowledged']));
    }
    return Promise.all(
      items.map(async ({ id }): Promise<ItemResult> => {
        const removed = await port.acknowledge(stream, group, [id]);
        return resultOf(id, { status: removed > 0 ? 'acknowledged' : 'not-pending' }, ['acknowledged']);
      }),
    );
  },
  cli: ({ stream, group, guard }, items, mode) =>
    mode === 'guarded'
      ? [evalCommand(guardedAcknowledge, { stream, group, items: guardedItems(items, guard) })]
      : [['XACK', stream, group, ...items.map(({ id }) => id)]],
  recheck: recheckPending,
  undo: () => ({ kind: 'unacknowledge' }),
  logged: ({ guard }) => loggedGuard(guard),
};

/** Nobody can process a message that is gone: of such an entry only that it is still pending matters. */
function guardedItems(
  items: readonly PendingItem[],
  guard: GuardChoice,
): readonly { readonly id: PendingItem['id']; readonly guard: PendingGuard }[] {
  return items.map(({ id, before, isGone }) => ({ id, guard: isGone ? {} : guardOf(before, guard) }));
}
