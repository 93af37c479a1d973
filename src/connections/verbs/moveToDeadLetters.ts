import { companionKey, deadLetter, deadLetterFields, readDeadLetter } from '../../bus';
import type { DeadLetterItem, EntryId, StreamKey } from '../../bus';
import { BusError } from '../../bus';
import { evalCommand, guardOf, loggedGuard, readPending, recheckPending, resultOf } from './pendingRows';
import type { PendingItem, PendingRequest } from './pendingRows';
import type { ItemResult, Obstacle, ReadingPort, Verb, WritingPort } from './verb';
import { moveByTransaction } from './withoutScripts';

/** A move to the dead letters, with the reason that a person gave. */
export interface MoveRequest extends PendingRequest {
  readonly reason: string;
}

/** A pending entry that would be moved, and where to. */
export interface MoveItem extends PendingItem {
  readonly deadLetters: StreamKey;
}

/** Moves pending entries to the dead letters: adds them there with what happened, then acknowledges them. The stream keeps its entries. */
export const moveToDeadLetters: Verb<MoveRequest, MoveItem> = {
  name: 'moveToDeadLetters',
  risk: 'undoable',
  target: 'pending',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, request) => {
    const { key, sameSlot } = await deadLettersOf(port, request.stream);
    const preview = await readPending(port, request, true);
    const gone = preview.items.filter(({ isGone }) => isGone).map(({ id }) => ({ id, why: 'gone' }) as const);
    const type = sameSlot ? await port.typeOf(key) : 'none';
    const obstacle: Obstacle | undefined = !sameSlot
      ? { kind: 'cross-slot', source: request.stream, target: key }
      : type === 'none' || type === 'stream'
        ? undefined
        : { kind: 'wrong-type', stream: key, type };
    return {
      ...preview,
      items: preview.items.filter(({ isGone }) => !isGone).map((item) => ({ ...item, deadLetters: key })),
      skipped: [...preview.skipped, ...gone],
      ...(obstacle === undefined ? {} : { obstacle }),
    };
  },
  run: async (port, request, items, mode) => {
    const [first] = items;
    if (!first) return [];
    if (mode === 'unguarded') return moveOneByOne(port, request, items);
    const reply = await port.run(deadLetter, argumentsOf(request, first.deadLetters, items));
    if (reply.status === 'bad-target')
      throw new BusError('wrong-type', `${first.deadLetters} is a ${reply.type} and no stream; nothing was moved.`);
    return items.map(({ id }, index): ItemResult => {
      const result = reply.results[index] ?? { status: 'not-pending' };
      const base = resultOf(id, result, ['moved']);
      return result.status === 'moved' ? { ...base, newId: result.deadId } : base;
    });
  },
  cli: (request, items, mode) => {
    const [first] = items;
    if (!first) return [];
    if (mode === 'guarded') return [evalCommand(deadLetter, argumentsOf(request, first.deadLetters, items))];
    return [];
  },
  recheck: async (port, request, items) => {
    const [first] = items;
    if (!first) return [];
    const rows = await recheckPending(port, request, items);
    const newest = await port.range(first.deadLetters, { from: 'min', to: 'max', count: 200, reverse: true });
    const copies = new Map<EntryId, EntryId>();
    for (const entry of newest) {
      const { failure, deadId } = readDeadLetter(entry);
      if (failure.entry !== undefined && failure.group === request.group) copies.set(failure.entry, deadId);
    }
    return items.map(({ id }, index) => {
      const copy = copies.get(id);
      return `${rows[index] ?? ''}${copy === undefined ? '' : `, dead letter ${copy}`}`;
    });
  },
  undo: () => ({ kind: 'return-from-dead-letters' }),
  logged: ({ guard, reason }) => ({
    ...loggedGuard(guard),
    reasonLength: reason.length,
  }),
};

/** Where the dead letters of a stream go, and whether that is in its slot. */
export async function deadLettersOf(
  port: Pick<ReadingPort, 'capabilities'>,
  stream: StreamKey,
): Promise<{ readonly key: StreamKey; readonly sameSlot: boolean }> {
  const { isCluster } = await port.capabilities();
  return companionKey(stream, 'dlq', { isCluster });
}

function argumentsOf(
  { stream, group, guard, reason }: MoveRequest,
  target: StreamKey,
  items: readonly MoveItem[],
): Parameters<typeof deadLetter.keys>[0] {
  return {
    source: stream,
    target,
    group,
    items: items.map(({ id, before }): DeadLetterItem => ({
      id,
      guard: guardOf(before, guard),
      reason: 'manual',
      errorType: 'manual',
      errorMessage: boundedReason(reason),
    })),
  };
}

async function moveOneByOne(
  port: WritingPort,
  { stream, group, reason }: MoveRequest,
  items: readonly MoveItem[],
): Promise<readonly ItemResult[]> {
  const results: ItemResult[] = [];
  for (const { id, before, deadLetters } of items) {
    const [[entry], atMs] = await Promise.all([
      port.range(stream, { from: id, to: id, count: 1 }),
      port.serverTimeMs(stream),
    ]);
    if (!entry) {
      results.push({ id, outcome: 'refused', status: 'gone' });
      continue;
    }
    const fields = deadLetterFields(entry, {
      stream,
      group,
      consumer: before.owner,
      reason: 'manual',
      errorType: 'manual',
      errorMessage: boundedReason(reason),
      deliveries: before.deliveries,
      atMs,
    });
    const moved = await moveByTransaction(port, { source: stream, target: deadLetters, group, id, before, fields });
    results.push({
      ...resultOf(id, { status: moved.status }, ['moved']),
      ...(moved.status === 'moved' ? { newId: moved.newId } : {}),
    });
  }
  return results;
}

/** At most 1 KiB, as the format has it; a character that is cut in half is left out. */
function boundedReason(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= 1024 ? reason : new TextDecoder().decode(bytes.subarray(0, 1024), { stream: true });
}
