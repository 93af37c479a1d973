import { entryIdTimeMs } from '../ids';
import type { EntryId, GroupName, StreamKey } from '../ids';
import { describeConsumers, describeGroupsOf } from './groups';
import type { ConsumerDescription, GroupDescription } from './groups';
import { outcomeOf } from './inspectPort';
import type { InspectPort } from './inspectPort';

/** A stream at one moment, as `Bus.inspect` tells it. */
export interface StreamInspection {
  readonly key: StreamKey;
  readonly length: number;
  /** The ids of its first and last entry; null when it has none. */
  readonly firstId: EntryId | null;
  readonly lastId: EntryId | null;
  /** In the server's order. */
  readonly groups: readonly GroupInspection[];
  readonly serverTimeMs: number;
}

/** A group of an inspected stream. */
export interface GroupInspection {
  readonly name: GroupName;
  readonly lastDeliveredId: EntryId;
  /** How many entries it has still to read; null when that is not known, as before Redis 7.0 and after deletions. */
  readonly lag: number | null;
  readonly pending: number;
  /** How old its oldest unacknowledged entry is, by the time in its id; null when nothing is pending or the id is no time. */
  readonly oldestPendingMs: number | null;
  readonly consumers: readonly ConsumerDescription[];
}

/**
 * Looks at a stream, its groups and their consumers, changing nothing; a group that is removed meanwhile is left out. XINFO STREAM and
 * GROUPS, then XPENDING and XINFO CONSUMERS of each group: two round trips. Rejects with `no-key` when there is no stream.
 */
export async function inspectStream(
  port: Pick<InspectPort, 'streamInfo' | 'groupInfos' | 'serverTimeMs' | 'pendingSummary' | 'consumerInfos'>,
  key: StreamKey,
): Promise<StreamInspection> {
  const [info, infos, serverTimeMs] = await Promise.all([
    port.streamInfo(key),
    port.groupInfos(key),
    port.serverTimeMs(key),
  ]);
  const [groups, consumers] = await Promise.all([
    describeGroupsOf(port, key, info, infos),
    Promise.all(infos.map(({ name }) => outcomeOf(describeConsumers(port, key, name)))),
  ]);
  return {
    key,
    length: info.length,
    firstId: info.firstEntry?.id ?? null,
    lastId: info.lastEntry?.id ?? null,
    groups: groups.flatMap((group, index) => {
      const outcome = consumers[index];
      return outcome?.state === 'read' ? [inspection(group, serverTimeMs, outcome.value)] : [];
    }),
    serverTimeMs,
  };
}

function inspection(
  { name, lastDeliveredId, lag, pending, firstPendingId }: GroupDescription,
  serverTimeMs: number,
  consumers: readonly ConsumerDescription[],
): GroupInspection {
  const sinceMs = firstPendingId === null ? undefined : entryIdTimeMs(firstPendingId);
  return {
    name,
    lastDeliveredId,
    lag: lag.kind === 'exact' ? lag.value : null,
    pending,
    oldestPendingMs: sinceMs === undefined ? null : Math.max(0, serverTimeMs - sinceMs),
    consumers,
  };
}
