import type { Clock } from '../../base/clock';
import { deadLetterFields, readDeadLetter } from '../deadLetters';
import type { DeadLetterReason } from '../deadLetters';
import { BusError } from '../errors';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { deadLetter, maxDeadLetterItems } from '../scripts/deadLetter';
import type { DeadLetterResult } from '../scripts/deadLetter';
import { guardedAcknowledge } from '../scripts/pending';
import type { Backoff } from './backoff';
import { Batch } from './batch';
import type { Delivery } from './delivery';

/** One entry on its way to the dead letters. */
export interface DeadLetterMove {
  readonly delivery: Delivery;
  readonly reason: DeadLetterReason;
  readonly errorType: string;
  readonly errorMessage: string;
  /** Who let it die, when that is not this consumer. */
  readonly consumer: ConsumerName | undefined;
}

/** What moving needs, and whom it tells. */
export interface DeadLetterMovesOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly stream: StreamKey;
  readonly target: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly backoff: Backoff;
  moved(move: DeadLetterMove, deadId: EntryId): void;
  /** It is not pending any more, or not with this consumer: nothing was moved. */
  lost(move: DeadLetterMove, owner: ConsumerName | undefined): void;
  /** Its message is no more; it was acknowledged. */
  gone(move: DeadLetterMove): void;
  failed(moves: readonly DeadLetterMove[], error: unknown): 'retry' | 'drop';
}

/** How many of the newest dead letters are looked through for one whose move was answered by silence. */
const lookBack = 200;

/** Moves entries to the dead letters, many in one script. A move that fails is tried again; the entry stays pending meanwhile. */
export class DeadLetterMoves {
  private readonly batch: Batch<DeadLetterMove>;
  /** Moves of a batch that were settled before a later one of it failed and had it sent again. */
  private readonly settled = new WeakSet<DeadLetterMove>();

  constructor(private readonly options: DeadLetterMovesOptions) {
    this.batch = new Batch<DeadLetterMove>({
      clock: options.clock,
      backoff: options.backoff,
      maxItems: maxDeadLetterItems,
      send: (moves, attempt) => this.send(moves, attempt > 1),
      failed: (error, moves) => options.failed(moves, error),
    });
  }

  get size(): number {
    return this.batch.size;
  }

  push(move: DeadLetterMove): void {
    this.batch.push(move);
  }

  idle(): Promise<void> {
    return this.batch.idle();
  }

  stop(): readonly DeadLetterMove[] {
    return this.batch.stop();
  }

  private async send(batch: readonly DeadLetterMove[], isRepeated: boolean): Promise<void> {
    const moves = isRepeated ? batch.filter((move) => !this.settled.has(move)) : batch;
    const { port, stream, target, group, consumer } = this.options;
    const reply = await port.run(deadLetter, {
      source: stream,
      target,
      group,
      items: moves.map(({ delivery, reason, errorType, errorMessage, consumer: died }) => ({
        id: delivery.id,
        guard: { owner: consumer },
        reason,
        errorType,
        errorMessage,
        ...(died === undefined ? {} : { consumer: died }),
        // Taking it over may have counted one more, which no handler saw.
        ...(reason === 'delivery-limit' ? { deliveries: delivery.deliveries } : {}),
      })),
    });
    if (reply.status === 'bad-target') {
      const message = `Cannot dead-letter: ${target} is a ${reply.type}, not a stream`;
      throw new BusError('wrong-type', message, { command: 'deadLetter' });
    }
    for (const [index, move] of moves.entries()) {
      const result = reply.results[index];
      if (result) await this.settle(move, result, isRepeated);
      this.settled.add(move);
    }
  }

  private async settle(move: DeadLetterMove, result: DeadLetterResult, isRepeated: boolean): Promise<void> {
    const { port, stream, group } = this.options;
    switch (result.status) {
      case 'moved':
        this.options.moved(move, result.deadId);
        return;
      case 'gone':
        await port.acknowledge(stream, group, [move.delivery.id]);
        this.options.gone(move);
        return;
      case 'too-wide':
        await this.moveWide(move, isRepeated);
        return;
      case 'owner-changed':
        this.options.lost(move, result.owner);
        return;
      default: {
        const deadId = isRepeated ? await this.findMoved(move) : undefined;
        if (deadId === undefined) this.options.lost(move, undefined);
        else this.options.moved(move, deadId);
      }
    }
  }

  /** The dead letter that an earlier try made whose reply was lost. */
  private async findMoved({ delivery }: DeadLetterMove): Promise<EntryId | undefined> {
    const { port, target, stream, group } = this.options;
    const newest = await port.range(target, { from: 'min', to: 'max', count: lookBack, reverse: true });
    return newest.map(readDeadLetter).find(({ failure }) => {
      return failure.entry === delivery.id && failure.stream === stream && failure.group === group;
    })?.deadId;
  }

  /**
   * An entry with more fields than a script can pass on is copied first and acknowledged after, in two steps. When it was settled in
   * between, the copy is taken back; when the link broke, the copy is looked for before there is another. A crash in between leaves the
   * copy and the entry pending: twice, never lost.
   */
  private async moveWide(move: DeadLetterMove, isRepeated: boolean): Promise<void> {
    const { port, stream, target, group, consumer } = this.options;
    const { id } = move.delivery;
    const [entry] = await port.range(stream, { from: id, to: id, count: 1 });
    if (!entry) {
      this.options.gone(move);
      return;
    }
    const fields = deadLetterFields(entry, {
      stream,
      group,
      consumer: move.consumer ?? consumer,
      reason: move.reason,
      errorType: move.errorType,
      errorMessage: move.errorMessage,
      deliveries: move.delivery.deliveries,
      atMs: await port.serverTimeMs(),
    });
    const deadId = (isRepeated ? await this.findMoved(move) : undefined) ?? (await port.add(target, fields));
    const [result] = await port.run(guardedAcknowledge, { stream, group, items: [{ id, guard: { owner: consumer } }] });
    if (result?.status === 'acknowledged' && deadId !== null) {
      this.options.moved(move, deadId);
      return;
    }
    if (deadId !== null) await port.delete(target, [deadId]);
    this.options.lost(move, result?.status === 'owner-changed' ? result.owner : undefined);
  }
}
