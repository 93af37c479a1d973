import { compareEntryIds, consumerName, readDeadLetter, replayToGroup as replayToGroupScript } from '../../bus';
import type { EntryId, GroupName, StreamKey } from '../../bus';
import { reclaimableIdleMs } from './makeReclaimable';
import { batches, evalCommand, readRows, resultOf } from './pendingRows';
import type { Obstacle, PlannedItem, SkippedItem, Verb } from './verb';

/** Which dead letters to give back to the group in which they died. */
export interface ReplayToGroupRequest {
  readonly deadLetters: StreamKey;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly ids: readonly EntryId[];
}

/** A dead letter whose entry still exists. */
export interface ReturnItem extends PlannedItem {
  readonly id: EntryId;
  readonly entry: EntryId;
}

/** Who owns the entries until a reclaimer takes them. */
export const returnedTo = consumerName('replay');

/**
 * Gives dead letters back to the one group in which they died, as the entries that they were: pending, idle long enough for any
 * reclaimer, with no delivery counted. No other group sees them again.
 */
export const replayToGroup: Verb<ReplayToGroupRequest, ReturnItem> = {
  name: 'replayToGroup',
  risk: 'undoable',
  target: 'deadLetter',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, { deadLetters, stream, group, ids }) => {
    const { hasScripts, isCluster } = await port.capabilities();
    const items: ReturnItem[] = [];
    const skipped: SkippedItem[] = [];
    const common = { isCut: false, recent: { count: 0, latestMs: undefined }, hasScripts, receivers: [group] } as const;
    const refuse = (obstacle: Obstacle) => ({ ...common, items, skipped, obstacle });
    if (isCluster && port.slotOf(deadLetters) !== port.slotOf(stream))
      return refuse({ kind: 'cross-slot', source: deadLetters, target: stream });
    if (!hasScripts) return refuse({ kind: 'needs-scripts' });
    const type = await port.typeOf(stream);
    if (type !== 'stream')
      return refuse(type === 'none' ? { kind: 'no-stream', stream } : { kind: 'wrong-type', stream, type });
    const found = (await port.groupInfos(stream)).find(({ name }) => name === group);
    if (!found) return refuse({ kind: 'no-group', stream, group });
    for (const part of batches([...new Set(ids)])) {
      const letters = await Promise.all(part.map((id) => port.range(deadLetters, { from: id, to: id, count: 1 })));
      const known = part.flatMap((id, index) => {
        const [entry] = letters[index] ?? [];
        const died = entry && readDeadLetter(entry).failure.entry;
        if (!entry) skipped.push({ id, why: 'missing' });
        else if (died === undefined) skipped.push({ id, why: 'unknown-origin' });
        return died === undefined ? [] : [{ id, entry: died }];
      });
      const [originals, [rows]] = await Promise.all([
        Promise.all(known.map(({ entry }) => port.range(stream, { from: entry, to: entry, count: 1 }))),
        readRows(
          port,
          stream,
          group,
          known.map(({ entry }) => entry),
        ),
      ]);
      for (const [index, item] of known.entries()) {
        const { id, entry } = item;
        if (originals[index]?.length === 0) skipped.push({ id, why: 'gone', detail: entry });
        else if (rows.has(entry)) skipped.push({ id, why: 'pending', detail: entry });
        else if (compareEntryIds(found.lastDeliveredId, entry) < 0)
          skipped.push({ id, why: 'not-read-yet', detail: entry });
        else items.push(item);
      }
    }
    return { ...common, items, skipped };
  },
  run: async (port, request, items) => {
    const results = await port.run(replayToGroupScript, argumentsOf(request, items));
    return items.map(({ id, entry }, index) => {
      const result = resultOf(id, results[index] ?? { status: 'gone' }, ['returned']);
      return result.outcome === 'done' ? { ...result, newId: entry } : result;
    });
  },
  cli: (request, items) => [evalCommand(replayToGroupScript, argumentsOf(request, items))],
  recheck: async (port, { deadLetters, stream, group }, items) => {
    const [rows] = await readRows(
      port,
      stream,
      group,
      items.map(({ entry }) => entry),
    );
    const letters = await Promise.all(items.map(({ id }) => port.range(deadLetters, { from: id, to: id, count: 1 })));
    return items.map(
      ({ entry }, index) =>
        `${rows.has(entry) ? 'pending' : 'not-pending'}, ${letters[index]?.length === 0 ? 'no dead letter any more' : 'still a dead letter'}`,
    );
  },
  undo: () => undefined,
  logged: ({ deadLetters }) => ({ deadLetters }),
};

function argumentsOf(
  { deadLetters, stream, group }: ReplayToGroupRequest,
  items: readonly ReturnItem[],
): Parameters<typeof replayToGroupScript.keys>[0] {
  return {
    deadLetters,
    stream,
    group,
    consumer: returnedTo,
    idleMs: reclaimableIdleMs,
    items: items.map(({ id, entry }) => ({ deadId: id, entry })),
  };
}
