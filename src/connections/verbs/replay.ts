import { BusError, readDeadLetter, replay as replayScript, replayFields } from '../../bus';
import type { EntryFields, EntryId, GroupName, ReplayItem, StreamKey } from '../../bus';
import { batches, evalCommand, resultOf } from './pendingRows';
import type { ItemResult, Obstacle, PlannedItem, ReadingPort, SkippedItem, Verb } from './verb';
import { replayByTransaction } from './withoutScripts';

/** Which dead letters to publish again, and where. */
export interface ReplayRequest {
  readonly deadLetters: StreamKey;
  readonly target: StreamKey;
  readonly ids: readonly EntryId[];
}

/** A dead letter that would be replayed. `given` is what to publish of one that is not of the bus's own form. */
export interface ReplayPlanned extends PlannedItem {
  readonly id: EntryId;
  readonly fields: EntryFields;
  readonly given: EntryFields | undefined;
  /** How often it was replayed before. */
  readonly replays: number;
}

/** How many values a script can pass on. */
export const maxScriptValues = 7900;

/** Publishes dead letters again as new entries, for every group of the target, and removes them in the same step. */
export const replay: Verb<ReplayRequest, ReplayPlanned> = {
  name: 'replay',
  risk: 'permanent',
  target: 'deadLetter',
  targetOf: ({ target }) => ({ stream: target }),
  preview: async (port, { deadLetters, target, ids }) => {
    const { hasScripts } = await port.capabilities();
    const items: ReplayPlanned[] = [];
    const skipped: SkippedItem[] = [];
    for (const part of batches([...new Set(ids)])) {
      const found = await Promise.all(part.map((id) => port.range(deadLetters, { from: id, to: id, count: 1 })));
      for (const [index, id] of part.entries()) {
        const [entry] = found[index] ?? [];
        if (!entry) {
          skipped.push({ id, why: 'missing' });
          continue;
        }
        const letter = readDeadLetter(entry);
        const fields = replayFields(letter);
        if (hasScripts && fields.length > maxScriptValues) {
          skipped.push({ id, why: 'too-wide', detail: String(fields.length / 2) });
          continue;
        }
        const given = letter.form === 'block' ? undefined : fields;
        items.push({ id, fields, given, replays: letter.failure.replays ?? 0 });
      }
    }
    return {
      items,
      skipped,
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts,
      ...(await receiversOf(port, target, deadLetters)),
    };
  },
  run: async (port, { deadLetters, target }, items, mode) => {
    if (mode === 'unguarded') {
      const results: ItemResult[] = [];
      for (const { id, fields } of items) {
        const result = await replayByTransaction(port, { deadLetters, target, deadId: id, fields });
        results.push({
          ...resultOf(id, { status: result.status }, ['replayed']),
          ...(result.status === 'replayed' ? { newId: result.newId } : {}),
        });
      }
      return results;
    }
    const reply = await port.run(replayScript, { deadLetters, target, makeStream: false, items: items.map(itemOf) });
    if (reply.status === 'bad-target')
      throw new BusError('wrong-type', `${target} is a ${reply.type} and no stream; nothing was replayed.`);
    if (reply.status === 'no-stream')
      throw new BusError('no-key', `Stream ${target} does not exist any more; nothing was replayed.`);
    return items.map(({ id }, index): ItemResult => {
      const result = reply.results[index] ?? { status: 'gone' };
      const base = resultOf(id, { status: result.status }, ['replayed']);
      return 'id' in result ? { ...base, newId: result.id } : base;
    });
  },
  cli: ({ deadLetters, target }, items) => [
    evalCommand(replayScript, { deadLetters, target, makeStream: false, items: items.map(itemOf) }),
  ],
  recheck: async (port, { deadLetters }, items) => {
    const found = await Promise.all(items.map(({ id }) => port.range(deadLetters, { from: id, to: id, count: 1 })));
    return found.map((entries) => (entries.length > 0 ? 'still a dead letter' : 'no dead letter any more'));
  },
  undo: () => undefined,
  logged: ({ deadLetters }) => ({ deadLetters }),
};

/** Who would receive an entry of the target, and why nothing can be published there. */
export async function receiversOf(
  port: ReadingPort,
  target: StreamKey,
  source: StreamKey,
): Promise<{ readonly receivers: readonly GroupName[]; readonly obstacle?: Obstacle }> {
  const { isCluster } = await port.capabilities();
  if (isCluster && port.slotOf(source) !== port.slotOf(target))
    return { receivers: [], obstacle: { kind: 'cross-slot', source, target } };
  const type = await port.typeOf(target);
  if (type === 'none') return { receivers: [], obstacle: { kind: 'no-stream', stream: target } };
  if (type !== 'stream') return { receivers: [], obstacle: { kind: 'wrong-type', stream: target, type } };
  return { receivers: (await port.groupInfos(target)).map(({ name }) => name) };
}

function itemOf({ id, given }: ReplayPlanned): ReplayItem {
  return given === undefined ? { deadId: id } : { deadId: id, fields: given };
}
