import { guardedClaim } from '../../bus';
import type { ConsumerName } from '../../bus';
import { evalCommand, guarded, loggedGuard, readPending, recheckPending, resultOf } from './pendingRows';
import type { PendingItem, PendingRequest } from './pendingRows';
import type { ItemResult, Verb } from './verb';

/** A claim: to whom, and whether it counts as a delivery. The count is kept by default, since nothing was delivered. */
export interface ClaimRequest extends PendingRequest {
  readonly consumer: ConsumerName;
  readonly count: 'keep' | 'increment';
}

/** Gives pending entries to another consumer, which is created when it does not exist. */
export const claim: Verb<ClaimRequest, PendingItem> = {
  name: 'claim',
  risk: 'undoable',
  target: 'pending',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, request) => {
    const [preview, consumers] = await Promise.all([
      readPending(port, request, true),
      port.consumerInfos(request.stream, request.group),
    ]);
    const gone = preview.items.filter(({ isGone }) => isGone).map(({ id }) => ({ id, why: 'gone' }) as const);
    return {
      ...preview,
      items: preview.items.filter(({ isGone }) => !isGone),
      skipped: [...preview.skipped, ...gone],
      consumerExists: consumers.some(({ name }) => name === request.consumer),
    };
  },
  run: async (port, { stream, group, consumer, count, guard }, items, mode) => {
    if (mode === 'guarded') {
      const results = await port.run(guardedClaim, { stream, group, consumer, count, items: guarded(items, guard) });
      return items.map(({ id }, index) => resultOf(id, results[index] ?? { status: 'not-pending' }, ['claimed']));
    }
    return Promise.all(
      items.map(async ({ id, before }): Promise<ItemResult> => {
        // The one guard that XCLAIM has itself: not delivered since it was seen.
        const claimed = await port.claim(stream, group, consumer, [id], {
          minIdleMs: Math.max(0, before.idleMs),
          count,
        });
        return resultOf(id, { status: claimed.length > 0 ? 'claimed' : 'not-claimed' }, ['claimed']);
      }),
    );
  },
  cli: ({ stream, group, consumer, count, guard }, items, mode) =>
    mode === 'guarded'
      ? [evalCommand(guardedClaim, { stream, group, consumer, count, items: guarded(items, guard) })]
      : items.map(({ id, before }) => [
          'XCLAIM',
          stream,
          group,
          consumer,
          String(Math.max(0, before.idleMs)),
          id,
          ...(count === 'keep' ? ['JUSTID'] : []),
        ]),
  recheck: recheckPending,
  undo: ({ consumer, count }) => ({
    kind: 'claim-back',
    ownerAfter: consumer,
    countAfter: count === 'keep' ? 'same' : 'incremented',
  }),
  logged: ({ consumer, count, guard }) => ({
    consumer,
    count,
    ...loggedGuard(guard),
  }),
};
