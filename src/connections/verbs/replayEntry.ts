import {
  encodeReplayOrigin,
  minEntryId,
  publishDeduplicated,
  replayMarkerKey,
  replayMemoryMs,
  splitReplayOrigin,
} from '../../bus';
import type { EntryFields, EntryId, StreamKey } from '../../bus';
import { BusError } from '../../bus';
import { batches, evalCommand } from './pendingRows';
import { maxScriptValues, receiversOf } from './replay';
import type { ItemResult, PlannedItem, SkippedItem, Verb } from './verb';

/** Which entries of a stream to publish once more, and where. */
export interface ReplayEntryRequest {
  readonly stream: StreamKey;
  readonly target: StreamKey;
  readonly ids: readonly EntryId[];
}

/** An entry that would be published once more. */
export interface ReplayEntryItem extends PlannedItem {
  readonly id: EntryId;
  readonly fields: EntryFields;
}

/**
 * Publishes entries once more as new entries, for every group of the target. The entries stay. Their first id goes with the copies,
 * and a second replay within a day is told apart by a marker that expires by itself.
 */
export const replayEntry: Verb<ReplayEntryRequest, ReplayEntryItem> = {
  name: 'replayEntry',
  risk: 'permanent',
  target: 'entry',
  targetOf: ({ target }) => ({ stream: target }),
  preview: async (port, { stream, target, ids }) => {
    const { hasScripts } = await port.capabilities();
    const items: ReplayEntryItem[] = [];
    const skipped: SkippedItem[] = [];
    for (const part of batches([...new Set(ids)])) {
      const found = await Promise.all(part.map((id) => port.range(stream, { from: id, to: id, count: 1 })));
      for (const [index, id] of part.entries()) {
        const [entry] = found[index] ?? [];
        if (!entry) {
          skipped.push({ id, why: 'missing' });
          continue;
        }
        const { fields, origin } = splitReplayOrigin(entry.fields);
        items.push({
          id,
          fields: [...fields, ...encodeReplayOrigin({ id: origin?.id ?? id, replays: (origin?.replays ?? 0) + 1 })],
        });
      }
    }
    return {
      items,
      skipped,
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts,
      ...(await receiversOf(port, target, stream)),
    };
  },
  run: async (port, { stream, target }, items, mode) => {
    const { isCluster, hasExclusiveRanges } = await port.capabilities();
    return Promise.all(
      items.map(async ({ id, fields }): Promise<ItemResult> => {
        if (mode === 'unguarded' || fields.length > maxScriptValues || !hasMarker(port, stream, isCluster)) {
          const added = await port.add(target, fields, hasExclusiveRanges ? { makeStream: false } : {});
          if (added === null) return { id, outcome: 'refused', status: 'no-stream' };
          return { id, outcome: 'done', status: 'replayed', newId: added };
        }
        const reply = await port.run(publishDeduplicated, argumentsOf(stream, target, { id, fields }));
        if (reply.status === 'wrong-type')
          throw new BusError('wrong-type', `${target} is a ${reply.type} and no stream; nothing was published.`);
        if (reply.status === 'no-stream') return { id, outcome: 'refused', status: reply.status };
        return reply.status === 'published'
          ? { id, outcome: 'done', status: 'replayed', newId: reply.id }
          : { id, outcome: 'refused', status: 'already-replayed', newId: reply.id };
      }),
    );
  },
  cli: ({ stream, target }, items) =>
    items.map((item) => evalCommand(publishDeduplicated, argumentsOf(stream, target, item))),
  recheck: async (port, { target }, items) => {
    const newest = await port.range(target, { from: 'min', to: 'max', count: 200, reverse: true });
    return items.map(({ id }) => {
      const copy = newest.find(({ fields }) => splitReplayOrigin(fields).origin?.id === id);
      return copy === undefined ? 'no copy among the newest entries' : `a copy is ${copy.id}`;
    });
  },
  undo: () => undefined,
  logged: ({ stream }) => ({ from: stream }),
};

/** The marker lies beside the stream; where it would lie in another slot there is none. */
function hasMarker(port: { slotOf(key: StreamKey): number }, stream: StreamKey, isCluster: boolean): boolean {
  return !isCluster || port.slotOf(replayMarkerKey(stream, minEntryId)) === port.slotOf(stream);
}

function argumentsOf(
  stream: StreamKey,
  target: StreamKey,
  { id, fields }: ReplayEntryItem,
): Parameters<typeof publishDeduplicated.keys>[0] {
  return { stream: target, marker: replayMarkerKey(stream, id), windowMs: replayMemoryMs, makeStream: false, fields };
}
