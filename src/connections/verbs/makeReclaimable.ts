import { guardedClaim } from '../../bus';
import { evalCommand, guarded, loggedGuard, readPending, recheckPending, resultOf } from './pendingRows';
import type { PendingItem, PendingRequest } from './pendingRows';
import type { ItemResult, Verb } from './verb';

/** How idle an entry is made: longer than any reclaimer waits. */
export const reclaimableIdleMs = 24 * 60 * 60 * 1000;

/** Raises the idle time of pending entries, with their owner and count as they are, so that the group's own reclaimer takes them at once. */
export const makeReclaimable: Verb<PendingRequest, PendingItem> = {
  name: 'makeReclaimable',
  risk: 'harmless',
  target: 'pending',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, request) => {
    const preview = await readPending(port, request, true);
    // A claim drops an entry without a message from the pending ones: acknowledging is what says so.
    const gone = preview.items.filter(({ isGone }) => isGone).map(({ id }) => ({ id, why: 'gone' }) as const);
    return { ...preview, items: preview.items.filter(({ isGone }) => !isGone), skipped: [...preview.skipped, ...gone] };
  },
  run: async (port, request, items, mode) => {
    const { stream, group, guard } = request;
    if (mode === 'guarded') {
      const results = await port.run(guardedClaim, {
        stream,
        group,
        count: 'keep',
        idleMs: reclaimableIdleMs,
        items: guarded(items, guard),
      });
      return items.map(({ id }, index) => resultOf(id, results[index] ?? { status: 'not-pending' }, ['claimed']));
    }
    return Promise.all(
      items.map(async ({ id, before }): Promise<ItemResult> => {
        const claimed = await port.claim(stream, group, before.owner, [id], {
          minIdleMs: Math.max(0, before.idleMs),
          count: 'keep',
          idleMs: reclaimableIdleMs,
        });
        return resultOf(id, { status: claimed.length > 0 ? 'claimed' : 'not-claimed' }, ['claimed']);
      }),
    );
  },
  cli: ({ stream, group, guard }, items, mode) =>
    mode === 'guarded'
      ? [
          evalCommand(guardedClaim, {
            stream,
            group,
            count: 'keep',
            idleMs: reclaimableIdleMs,
            items: guarded(items, guard),
          }),
        ]
      : items.map(({ id, before }) => [
          'XCLAIM',
          stream,
          group,
          before.owner,
          String(Math.max(0, before.idleMs)),
          id,
          'IDLE',
          String(reclaimableIdleMs),
          'JUSTID',
        ]),
  recheck: recheckPending,
  undo: () => ({ kind: 'claim-back', countAfter: 'same' }),
  logged: ({ guard }) => loggedGuard(guard),
};
