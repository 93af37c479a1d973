import type { ConsumerInfo, GroupInfo, PendingSummary, StreamInfo } from '../entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { exact, unknown } from './figures';
import type { Figure } from './figures';
import { outcomeOf } from './inspectPort';
import type { InspectPort } from './inspectPort';
import { lagOf, removedUnread } from './lag';

/** A group, with what its numbers mean. */
export interface GroupDescription {
  readonly name: GroupName;
  readonly consumers: number;
  readonly pending: number;
  readonly lastDeliveredId: EntryId;
  /** Entries that it has still to read. `countUnread` finds a bound where this is unknown. */
  readonly lag: Figure;
  /** Entries that were removed before it read them. */
  readonly removedUnread: Figure;
  /** The pending entry with the lowest id, which is not always the one delivered first; null when nothing is pending. */
  readonly firstPendingId: EntryId | null;
  /** Who holds how much, of those who hold anything. */
  readonly holders: PendingSummary['consumers'];
}

/** A consumer. */
export interface ConsumerDescription {
  readonly name: ConsumerName;
  readonly pending: number;
  /** Since it last asked for entries; unknown before 7.2. */
  readonly sinceAttemptMs: Figure;
  /** Since it last got or claimed an entry; `never` when it never did, as far as the server remembers. */
  readonly sinceSuccessMs: Figure | { readonly kind: 'never'; readonly source: string };
}

/** The groups of a stream, in the server's order. Two round trips. Rejects with `no-key` when the stream is gone. */
export async function describeGroups(port: InspectPort, key: StreamKey): Promise<readonly GroupDescription[]> {
  const [info, groups] = await Promise.all([port.streamInfo(key), port.groupInfos(key)]);
  return describeGroupsOf(port, key, info, groups);
}

/** The groups of a stream of which the server told already. One round trip. */
export async function describeGroupsOf(
  port: Pick<InspectPort, 'pendingSummary'>,
  key: StreamKey,
  info: StreamInfo,
  groups: readonly GroupInfo[],
): Promise<readonly GroupDescription[]> {
  const summaries = await Promise.all(groups.map((group) => summaryOf(port, key, group)));
  return groups.map((group, index) => ({
    name: group.name,
    consumers: group.consumers,
    pending: group.pending,
    lastDeliveredId: group.lastDeliveredId,
    lag: lagOf(group, info),
    removedUnread: removedUnread(group, info),
    firstPendingId: summaries[index]?.firstId ?? null,
    holders: summaries[index]?.consumers ?? [],
  }));
}

/** The consumers of a group, in one round trip. Rejects with `no-group` when it is gone. */
export async function describeConsumers(
  port: Pick<InspectPort, 'consumerInfos'>,
  key: StreamKey,
  group: GroupName,
): Promise<readonly ConsumerDescription[]> {
  return (await port.consumerInfos(key, group)).map(describeConsumer);
}

/** Until 7.0 `idle` counts from the last success; from 7.2 from the last attempt, and `inactive` from the last success. */
export function describeConsumer({ name, pending, idleMs, inactiveMs }: ConsumerInfo): ConsumerDescription {
  if (inactiveMs === undefined) {
    return {
      name,
      pending,
      sinceAttemptMs: unknown(
        'not-told-by-this-server',
        'Servers before Redis 7.2 do not tell when a consumer last asked.',
      ),
      sinceSuccessMs: exact(idleMs, 'idle of XINFO CONSUMERS'),
    };
  }
  const source = 'inactive of XINFO CONSUMERS';
  return {
    name,
    pending,
    sinceAttemptMs: exact(idleMs, 'idle of XINFO CONSUMERS'),
    sinceSuccessMs: inactiveMs < 0 ? { kind: 'never', source } : exact(inactiveMs, source),
  };
}

async function summaryOf(
  port: Pick<InspectPort, 'pendingSummary'>,
  key: StreamKey,
  group: GroupInfo,
): Promise<PendingSummary | undefined> {
  if (group.pending === 0) return undefined;
  const outcome = await outcomeOf(port.pendingSummary(key, group.name));
  return outcome.state === 'read' ? outcome.value : undefined;
}
