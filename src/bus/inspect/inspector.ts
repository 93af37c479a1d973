/**
 * Inspecting: what tree and panels need to know, read without changing anything.
 *
 * Every function is at most two round trips, asks only what the documented read-only ACL permits, takes ages from the server's
 * clock, and gives each figure with its source or the reason why it is unknown. It must not know what is shown where. Tests:
 * test/bus/inspect*.test.ts.
 */
import type { Entry } from '../entries';
import type { EntryId, GroupName, StreamKey } from '../ids';
import type { Capabilities } from '../port';
import { messageHistory } from '../history/messageHistory';
import type { MessageHistory, MessageHistoryQuery } from '../history/messageHistory';
import { deadLettersOf, deadLettersPage } from './deadLetterStreams';
import type { DeadLettersPage, DeadLetterStream } from './deadLetterStreams';
import { entriesPage, entryById } from './entriesPage';
import type { EntriesPage, EntriesPosition } from './entriesPage';
import type { Figure } from './figures';
import { findEntry } from './findEntry';
import type { FoundEntries } from './findEntry';
import { describeConsumers, describeGroups } from './groups';
import type { ConsumerDescription, GroupDescription } from './groups';
import type { InspectPort } from './inspectPort';
import { countUnread } from './lag';
import { pendingPage } from './pendingPage';
import type { PendingPage, PendingPageQuery } from './pendingPage';
import { standingOf } from './standing';
import type { EntryStandings } from './standing';
import { describeStream, listStreams } from './streams';
import type { StreamDescription, StreamsPage } from './streams';

/** The inspecting functions over one port. Failures are BusErrors, as the port gives them. */
export interface Inspector {
  capabilities(): Promise<Capabilities>;
  serverTimeMs(key?: StreamKey): Promise<number>;
  listStreams(options?: { cursor?: string; match?: string; count?: number }): Promise<StreamsPage>;
  describeStream(key: StreamKey): Promise<StreamDescription>;
  describeGroups(key: StreamKey): Promise<readonly GroupDescription[]>;
  countUnread(key: StreamKey, lastDeliveredId: EntryId, options?: { cap: number }): Promise<Figure>;
  describeConsumers(key: StreamKey, group: GroupName): Promise<readonly ConsumerDescription[]>;
  pendingPage(key: StreamKey, group: GroupName, query: PendingPageQuery): Promise<PendingPage>;
  entriesPage(key: StreamKey, at: EntriesPosition, count: number): Promise<EntriesPage>;
  entryById(key: StreamKey, id: EntryId): Promise<Entry | null>;
  standingOf(key: StreamKey, id: EntryId): Promise<EntryStandings>;
  messageHistory(key: StreamKey, id: EntryId, query?: MessageHistoryQuery): Promise<MessageHistory>;
  findEntry(id: EntryId, options?: { cursor?: string; match?: string; count?: number }): Promise<FoundEntries>;
  deadLettersOf(key: StreamKey, options?: { mapped?: readonly StreamKey[] }): Promise<readonly DeadLetterStream[]>;
  deadLettersPage(deadKey: StreamKey, query: { before?: EntryId; count: number }): Promise<DeadLettersPage>;
}

/** Binds the inspecting functions to a port; what it gives offers no way to the rest of the port. */
export function createInspector(port: InspectPort, memory: { readonly denied?: Set<StreamKey> } = {}): Inspector {
  return {
    capabilities: () => port.capabilities(),
    serverTimeMs: (key) => port.serverTimeMs(key),
    listStreams: (options) => listStreams(port, options),
    describeStream: (key) => describeStream(port, key),
    describeGroups: (key) => describeGroups(port, key),
    countUnread: (key, lastDeliveredId, options) => countUnread(port, key, lastDeliveredId, options),
    describeConsumers: (key, group) => describeConsumers(port, key, group),
    pendingPage: (key, group, query) => pendingPage(port, key, group, query),
    entriesPage: (key, at, count) => entriesPage(port, key, at, count),
    entryById: (key, id) => entryById(port, key, id),
    standingOf: (key, id) => standingOf(port, key, id),
    messageHistory: (key, id, query) => messageHistory(port, key, id, { ...memory, ...query }),
    findEntry: (id, options) => findEntry(port, id, options),
    deadLettersOf: (key, options) => deadLettersOf(port, key, { ...memory, ...options }),
    deadLettersPage: (deadKey, query) => deadLettersPage(port, deadKey, query),
  };
}
