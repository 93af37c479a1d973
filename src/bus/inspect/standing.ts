import type { Entry, GroupInfo, PendingEntry } from '../entries';
import { compareEntryIds } from '../ids';
import type { EntryId, GroupName, StreamKey } from '../ids';
import { outcomeOf } from './inspectPort';
import type { InspectPort } from './inspectPort';
import { lastDeliveredAtMs } from './pendingPage';

/**
 * Where an entry stands in one group.
 *
 * `undelivered`: the group has not read this far. `pending`: delivered and not acknowledged. `gone`: pending, but its message was
 * deleted or trimmed. `passed`: read past and not pending, which means acknowledged, read with NOACK, or dropped with its consumer;
 * the server does not tell which. `absent`: the stream holds no such entry and the group has not read this far, so it will never
 * get it.
 */
export type Standing = {
  readonly group: GroupName;
  readonly lastDeliveredId: EntryId;
} & (
  | { readonly state: 'undelivered' | 'passed' | 'absent' }
  | {
      readonly state: 'pending' | 'gone';
      readonly pending: PendingEntry;
      /** Server time minus idle; undefined when it was released without an owner. */
      readonly lastDeliveredAtMs: number | undefined;
      /** True when the group was set back to before it: the next read delivers it again and its count starts anew. */
      readonly isAheadOfGroup: boolean;
    }
);

/** An entry and where it stands in every group of its stream. */
export interface EntryStandings {
  readonly entry: Entry | null;
  readonly standings: readonly Standing[];
  readonly serverTimeMs: number;
}

/** The calls that finding out where an entry stands takes. */
export type StandingPort = Pick<InspectPort, 'groupInfos' | 'range' | 'pending' | 'serverTimeMs'>;

/** Where an entry stands in each group, in the server's order of groups. Two round trips. Rejects with `no-key`. */
export async function standingOf(port: StandingPort, key: StreamKey, id: EntryId): Promise<EntryStandings> {
  const [groups, entries, serverTimeMs] = await Promise.all([
    port.groupInfos(key),
    port.range(key, { from: id, to: id, count: 1 }),
    port.serverTimeMs(key),
  ]);
  const entry = entries[0] ?? null;
  const rows = await Promise.all(groups.map((group) => pendingRow(port, key, group, id)));
  return {
    entry,
    standings: groups.map((group, index) => standing(group, id, entry, rows[index], serverTimeMs)),
    serverTimeMs,
  };
}

async function pendingRow(
  port: StandingPort,
  key: StreamKey,
  group: GroupInfo,
  id: EntryId,
): Promise<PendingEntry | undefined> {
  if (group.pending === 0) return undefined;
  const outcome = await outcomeOf(port.pending(key, group.name, { from: id, to: id, count: 1 }));
  return outcome.state === 'read' ? outcome.value[0] : undefined;
}

function standing(
  { name, lastDeliveredId }: GroupInfo,
  id: EntryId,
  entry: Entry | null,
  pending: PendingEntry | undefined,
  serverTimeMs: number,
): Standing {
  const common = { group: name, lastDeliveredId };
  const isAheadOfGroup = compareEntryIds(id, lastDeliveredId) > 0;
  if (pending !== undefined) {
    return {
      ...common,
      state: entry === null ? 'gone' : 'pending',
      pending,
      lastDeliveredAtMs: lastDeliveredAtMs(pending, serverTimeMs),
      isAheadOfGroup,
    };
  }
  if (!isAheadOfGroup) return { ...common, state: 'passed' };
  return { ...common, state: entry === null ? 'absent' : 'undelivered' };
}
