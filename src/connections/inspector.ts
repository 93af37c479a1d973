import { companionCandidates, readDeadLetter } from '../bus';
import type { InspectPort } from './inspectPort';

/** What tree and panels may ask of a server: the reading calls of a port, and how the bus reads what they answer. */
export type Inspector = Pick<
  InspectPort,
  | 'capabilities'
  | 'serverTimeMs'
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
> & {
  readonly companionCandidates: typeof companionCandidates;
  readonly readDeadLetter: typeof readDeadLetter;
};

/** An object with the reading calls of a port and no way to the rest of it. */
export function bindInspector(port: InspectPort): Inspector {
  return {
    capabilities: () => port.capabilities(),
    serverTimeMs: () => port.serverTimeMs(),
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
    readDeadLetter,
  };
}
