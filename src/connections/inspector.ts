import { companionCandidates, createInspector, entryIdTimeMs, readCompanionKey, readDeadLetter } from '../bus';
import type { Inspector as BusInspector, StreamKey } from '../bus';
import type { InspectPort } from './inspectPort';

/** The calls of a port that only read. */
type ReadingCalls = Pick<
  InspectPort,
  | 'range'
  | 'length'
  | 'pending'
  | 'pendingSummary'
  | 'streamInfo'
  | 'groupInfos'
  | 'consumerInfos'
  | 'scanStreams'
  | 'typeOf'
  | 'timeToLiveMs'
  | 'memoryUsage'
  | 'slotOf'
>;

/** What tree and panels may ask of a server: the bus's inspecting functions, the reading calls below them, and what reads answers. */
export interface Inspector extends BusInspector, ReadingCalls {
  readonly companionCandidates: typeof companionCandidates;
  readonly readCompanionKey: typeof readCompanionKey;
  readonly readDeadLetter: typeof readDeadLetter;
  readonly entryIdTimeMs: typeof entryIdTimeMs;
}

/**
 * An object with the reading calls of a port and no way to the rest of it. `denied` remembers the keys that the user may not read for
 * longer than the port lives.
 */
export function bindInspector(port: InspectPort, denied = new Set<StreamKey>()): Inspector {
  return {
    ...createInspector(port, { denied }),
    range: (key, query) => port.range(key, query),
    length: (key) => port.length(key),
    pending: (key, group, query) => port.pending(key, group, query),
    pendingSummary: (key, group) => port.pendingSummary(key, group),
    streamInfo: (key) => port.streamInfo(key),
    groupInfos: (key) => port.groupInfos(key),
    consumerInfos: (key, group) => port.consumerInfos(key, group),
    scanStreams: (cursor, options) => port.scanStreams(cursor, options),
    typeOf: (key) => port.typeOf(key),
    timeToLiveMs: (key) => port.timeToLiveMs(key),
    memoryUsage: (key) => port.memoryUsage(key),
    slotOf: (key) => port.slotOf(key),
    companionCandidates,
    readCompanionKey,
    readDeadLetter,
    entryIdTimeMs,
  };
}
