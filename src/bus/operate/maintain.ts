import { entryId, minEntryId, nextEntryId } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { handOver, reapConsumer } from '../scripts/pending';
import type { HandOverReply, ReapResult } from '../scripts/pending';
import { safeTrim } from '../scripts/stream';

/** What a trim did. */
export interface TrimReport {
  readonly removed: number;
  /** Why less was removed than the policy wants: a group still needs what comes from this id on, or there is no group to ask. */
  readonly heldBy?: { readonly group: GroupName; readonly from: EntryId } | 'no-groups';
}

/**
 * Trims a stream from its start as far as the policy wants, but never an entry that some group has not read or not acknowledged. In
 * steps, so that the server is never held up for long; a stream without groups is left alone.
 */
export async function trimKeepingUnacknowledged(
  port: StreamPort,
  stream: StreamKey,
  policy: { readonly maxLength: number } | { readonly minId: EntryId },
): Promise<TrimReport> {
  let removed = 0;
  for (;;) {
    const step = await port.run(safeTrim, { stream, policy });
    if (step.status === 'no-groups') return { removed, heldBy: 'no-groups' };
    removed += step.removed;
    if (step.heldBy) return { removed, heldBy: step.heldBy };
    if (!step.more) return { removed };
  }
}

/** What a hand-over did. */
export interface HandOverReport {
  readonly moved: number;
  /** Entries whose message was deleted or trimmed. */
  readonly gone: number;
  /** Entries that were too fresh to be taken away. */
  readonly kept: number;
}

/** Gives all pending entries of one consumer that are idle long enough to another; counts and idle times stay as they are. */
export async function handOverPending(
  port: StreamPort,
  stream: StreamKey,
  group: GroupName,
  options: { readonly from: ConsumerName; readonly to: ConsumerName; readonly minIdleMs: number },
): Promise<HandOverReport> {
  let [moved, gone, kept] = [0, 0, 0];
  let start: EntryId | undefined = minEntryId;
  while (start !== undefined) {
    const page: HandOverReply = await port.run(handOver, { stream, group, ...options, start, count: 100 });
    moved += page.moved;
    gone += page.gone;
    kept += page.kept;
    start = page.scannedTo === undefined ? undefined : nextEntryId(entryId(page.scannedTo));
  }
  return { moved, gone, kept };
}

/** Removes every consumer of a group that owns nothing and was idle for at least `minIdleMs`; each in one guarded step. */
export async function reapConsumers(
  port: StreamPort,
  stream: StreamKey,
  group: GroupName,
  options: { readonly minIdleMs: number },
): Promise<readonly ({ readonly consumer: ConsumerName } & ReapResult)[]> {
  const consumers = await port.consumerInfos(stream, group);
  return Promise.all(
    consumers.map(async ({ name }) => ({
      consumer: name,
      ...(await port.run(reapConsumer, { stream, group, consumer: name, minIdleMs: options.minIdleMs })),
    })),
  );
}
