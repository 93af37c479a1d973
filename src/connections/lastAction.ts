/** From the action log to what can be taken back. */
import { consumerName, entryId, groupName, parseEntryId, streamKey } from '../bus';
import type { LoggedAction } from './actionLog';
import type { RestoreEntry, RestoreRequest } from './verbs/restore';

/** The newest action that was done, can be taken back and was not yet; undefined when there is none. */
export function lastUndoable(actions: readonly LoggedAction[]): LoggedAction | undefined {
  return actions.find(
    ({ start, items, isUndone }) =>
      !isUndone && start.undo !== undefined && items.some(({ outcome }) => outcome === 'done'),
  );
}

/** As what a dead letter was replayed, when this extension did it; undefined when it did not. */
export function replayedAs(actions: readonly LoggedAction[], deadLetters: string, deadId: string): string | undefined {
  for (const { start, items } of actions) {
    if (start.verb !== 'replay' || start.choices.deadLetters !== deadLetters) continue;
    const item = items.find(({ id, newId }) => id === deadId && newId !== undefined);
    if (item) return item.newId;
  }
  return undefined;
}

/** What is to be restored to take an action back. */
export function restoreRequestOf({ start, items }: LoggedAction, nowMs: number): RestoreRequest | undefined {
  const { undo, group, stream, at } = start;
  if (undo === undefined || group === undefined) return undefined;
  const entries = items.flatMap(({ id, outcome, before, newId }): RestoreEntry[] => {
    const known = parseEntryId(id);
    if (outcome !== 'done' || before === undefined || known === undefined) return [];
    const added = undo.countAfter === 'incremented' ? 1 : 0;
    return [
      {
        id: known,
        before: { owner: consumerName(before.owner), deliveries: before.deliveries, idleMs: before.idleMs },
        ownerAfter: undo.ownerAfter === undefined ? consumerName(before.owner) : consumerName(undo.ownerAfter),
        deliveriesAfter: before.deliveries + added,
        deadId: newId === undefined ? undefined : entryId(newId),
      },
    ];
  });
  if (entries.length === 0) return undefined;
  return {
    kind: undo.kind,
    stream: streamKey(stream),
    group: groupName(group),
    deadLetters: undo.deadLetters === undefined ? undefined : streamKey(undo.deadLetters),
    entries,
    ageMs: nowMs - Date.parse(at),
  };
}
