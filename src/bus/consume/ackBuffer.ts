import type { Clock } from '../../base/clock';
import type { EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { acknowledgeDelete } from '../scripts/stream';
import type { Backoff } from './backoff';
import { Batch } from './batch';
import type { Delivery } from './delivery';

/** The most ids of one XACK; a hundred thousand at once would hold the server up for a quarter of a second. */
export const maxAckIds = 1000;

/** What acknowledging needs, and whom it tells. */
export interface AckBufferOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly backoff: Backoff;
  /** Whether to delete what no group needs any more. */
  readonly deletes: boolean;
  /** These are settled. `elsewhere` counts those that were not pending any more. */
  acknowledged(deliveries: readonly Delivery[], elsewhere: number): void;
  /** Says whether they are to be tried again. */
  failed(deliveries: readonly Delivery[], error: unknown): 'retry' | 'drop';
}

/** Coalesces acknowledgements into XACKs of many ids. */
export class AckBuffer {
  private readonly batch: Batch<Delivery>;

  constructor(options: AckBufferOptions) {
    const { port, clock, stream, group, backoff } = options;
    this.batch = new Batch<Delivery>({
      clock,
      backoff,
      maxItems: maxAckIds,
      send: async (deliveries, attempt) => {
        const ids: EntryId[] = [];
        for (const { id } of deliveries) ids.push(id);
        const count = options.deletes
          ? await acknowledgeAndDelete(port, stream, group, ids)
          : await port.acknowledge(stream, group, ids);
        // A repeated XACK finds nothing of what an earlier one did whose reply was lost.
        options.acknowledged(deliveries, attempt === 1 ? ids.length - count : 0);
      },
      failed: (error, deliveries) => options.failed(deliveries, error),
    });
  }

  get size(): number {
    return this.batch.size;
  }

  push(delivery: Delivery): void {
    this.batch.push(delivery);
  }

  idle(): Promise<void> {
    return this.batch.idle();
  }

  stop(): readonly Delivery[] {
    return this.batch.stop();
  }
}

async function acknowledgeAndDelete(
  port: StreamPort,
  stream: StreamKey,
  group: GroupName,
  ids: readonly EntryId[],
): Promise<number> {
  const { hasAckDelete } = await port.capabilities();
  return (await port.run(acknowledgeDelete, { stream, group, ids, hasAckDelete })).acknowledged;
}
