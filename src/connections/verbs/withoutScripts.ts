/**
 * Moves between streams where EVAL is refused: claim, then MULTI, then take back one's own copy when somebody else was faster. The
 * reply of XACK (or, for replays, WATCH on the dead letters) decides who of several does it. The streams must share a slot.
 */
import { randomBytes } from 'node:crypto';
import type { ConsumerName, EntryFields, EntryId, GroupName, StreamKey, TransactionCall } from '../../bus';
import { BusError, consumerName, entryId } from '../../bus';
import type { PendingBefore, WritingPort } from './verb';

/** A copy to make of a pending entry, which then is acknowledged. */
export interface Move {
  readonly source: StreamKey;
  readonly target: StreamKey;
  readonly group: GroupName;
  readonly id: EntryId;
  readonly before: PendingBefore;
  readonly fields: EntryFields;
}

/** What became of a move. */
export type Moved =
  | { readonly status: 'moved'; readonly newId: EntryId }
  | { readonly status: 'not-claimed' | 'not-pending' | 'too-fresh' };

/** An entry delivered more recently cannot be told apart by its idle time from one that is being delivered now. */
const leastIdleMs = 1000;

/** Moves one pending entry. */
export async function moveByTransaction(port: WritingPort, move: Move): Promise<Moved> {
  const { source, target, group, id, before, fields } = move;
  if (before.idleMs < leastIdleMs) return { status: 'too-fresh' };
  const mover = consumerName(`mover-${randomBytes(6).toString('hex')}`);
  const claimed = await port.claim(source, group, mover, [id], {
    minIdleMs: before.idleMs,
    count: { set: before.deliveries },
  });
  if (claimed.length === 0) return { status: 'not-claimed' };
  let isAcknowledgedByUs = false;
  try {
    const replies = await execute(port, source, undefined, [
      { command: 'XADD', args: [target, '*', ...fields] },
      { command: 'XACK', args: [source, group, id] },
    ]);
    const [added, acknowledged] = replies ?? [];
    isAcknowledgedByUs = acknowledged === 1;
    if (BusError.is(added)) throw added;
    if (acknowledged === 1) return { status: 'moved', newId: idOf(added) };
    await port.delete(target, [idOf(added)]);
    if (BusError.is(acknowledged)) throw acknowledged;
    return { status: 'not-pending' };
  } catch (error) {
    if (!(BusError.is(error) && error.details.ambiguous === true))
      await giveBack(port, move, mover, isAcknowledgedByUs);
    throw error;
  }
}

/** A dead letter to publish again and to remove. */
export interface ReplayMove {
  readonly deadLetters: StreamKey;
  readonly target: StreamKey;
  readonly deadId: EntryId;
  readonly fields: EntryFields;
}

/** Replays one dead letter; of racing replays the watched stream lets one through. */
export async function replayByTransaction(
  port: WritingPort,
  { deadLetters, target, deadId, fields }: ReplayMove,
): Promise<{ readonly status: 'replayed'; readonly newId: EntryId } | { readonly status: 'gone' }> {
  for (;;) {
    const outcome = await execute(
      port,
      deadLetters,
      async () => (await port.range(deadLetters, { from: deadId, to: deadId, count: 1 })).length > 0,
      [
        { command: 'XADD', args: [target, '*', ...fields] },
        { command: 'XDEL', args: [deadLetters, deadId] },
      ],
    );
    if (outcome === undefined) return { status: 'gone' };
    // Null: the stream was changed while it was watched; look again.
    if (outcome === null) continue;
    const [added, deleted] = outcome;
    if (BusError.is(added)) throw added;
    if (BusError.is(deleted)) throw deleted;
    return { status: 'replayed', newId: idOf(added) };
  }
}

/** Undefined when what must hold after WATCH does not. */
async function execute(
  port: WritingPort,
  key: StreamKey,
  stillHolds: (() => Promise<boolean>) | undefined,
  calls: readonly TransactionCall[],
): Promise<readonly unknown[] | null | undefined> {
  if (!port.openTransaction)
    throw new BusError('unknown-command', 'This server runs neither scripts nor transactions; nothing was changed.');
  const transaction = await port.openTransaction(key);
  try {
    if (stillHolds) {
      await transaction.watch([key]);
      if (!(await stillHolds())) return undefined;
    }
    return await transaction.execute(calls);
  } finally {
    transaction.close();
  }
}

/** Gives the entry back as it was; makes it pending again only when it was acknowledged here although its copy had failed. */
async function giveBack(
  port: WritingPort,
  { source, group, id, before }: Move,
  mover: ConsumerName,
  force: boolean,
): Promise<void> {
  const [row] = await port.pending(source, group, { from: id, to: id, count: 1 });
  if (row === undefined ? !force : row.consumer !== mover) return;
  await port.claim(source, group, before.owner, [id], {
    minIdleMs: 0,
    count: { set: before.deliveries },
    idleMs: before.idleMs,
    force,
  });
}

function idOf(reply: unknown): EntryId {
  return entryId(Buffer.isBuffer(reply) ? reply.toString('latin1') : '');
}
