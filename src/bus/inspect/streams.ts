import type { StreamInfo } from '../entries';
import type { StreamKey } from '../ids';
import { exact, unknown } from './figures';
import type { Figure } from './figures';
import { outcomeOf } from './inspectPort';
import type { InspectPort } from './inspectPort';

/** How many keys one step of a scan looks at: few steps over a million keys, none of which holds the server up (5.5 ms). */
const scanCount = 1000;

/** A stream of a list. `unreadable` is a key that the user may see but not read. */
export type StreamSummary = {
  readonly key: StreamKey;
} & (
  | { readonly state: 'read'; readonly length: number; readonly groups: number; readonly pending: number }
  | { readonly state: 'unreadable'; readonly reason: string }
);

/** One step through the keyspace. */
export interface StreamsPage {
  readonly streams: readonly StreamSummary[];
  /** Where to go on; `0` when the keyspace was scanned to its end. A step may find nothing and still not be the last. */
  readonly cursor: string;
}

/** Everything about one stream but its entries. */
export interface StreamDescription {
  readonly key: StreamKey;
  readonly info: StreamInfo;
  /** Until the key expires; null when it does not. */
  readonly timeToLiveMs: number | null;
  /** An estimate of the server, in bytes; it may be several times too high. */
  readonly memoryBytes: Figure;
  readonly serverTimeMs: number;
}

/**
 * One step of a scan, with the length, the number of groups and all that is pending of each stream found. Two round trips (three
 * on Redis 5.0). XLEN and XINFO GROUPS, since XINFO STREAM would carry the bodies of two entries along.
 */
export async function listStreams(
  port: InspectPort,
  options: { readonly cursor?: string; readonly match?: string; readonly count?: number } = {},
): Promise<StreamsPage> {
  const { cursor: start = '0', match, count = scanCount } = options;
  const { cursor, keys } = await port.scanStreams(start, { count, ...(match === undefined ? {} : { match }) });
  const found = await Promise.all([...new Set(keys)].map((key) => summarize(port, key)));
  return { cursor, streams: found.filter((summary) => summary !== undefined) };
}

/** XINFO STREAM, PTTL, MEMORY USAGE and the server's clock, in one round trip. Rejects with `no-key` when it is gone. */
export async function describeStream(port: InspectPort, key: StreamKey): Promise<StreamDescription> {
  const [info, timeToLiveMs, memory, serverTimeMs] = await Promise.all([
    port.streamInfo(key),
    port.timeToLiveMs(key),
    outcomeOf(port.memoryUsage(key)),
    port.serverTimeMs(key),
  ]);
  return { key, info, timeToLiveMs, memoryBytes: memoryFigure(memory), serverTimeMs };
}

async function summarize(port: InspectPort, key: StreamKey): Promise<StreamSummary | undefined> {
  const outcome = await outcomeOf(Promise.all([port.length(key), port.groupInfos(key)]));
  if (outcome.state === 'gone') return undefined;
  if (outcome.state === 'not-permitted') return { key, state: 'unreadable', reason: outcome.reason };
  const [length, groups] = outcome.value;
  const pending = groups.reduce((sum, group) => sum + group.pending, 0);
  return { key, state: 'read', length, groups: groups.length, pending };
}

function memoryFigure(memory: Awaited<ReturnType<typeof outcomeOf<number | null>>>): Figure {
  if (memory.state === 'not-permitted') return unknown('not-permitted', memory.reason);
  return exact(memory.state === 'read' ? (memory.value ?? 0) : 0, 'MEMORY USAGE, an estimate');
}
