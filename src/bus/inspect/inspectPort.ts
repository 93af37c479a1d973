import { BusError } from '../errors';
import type { KeyspacePort, StreamPort } from '../port';

/** The calls of a port that only read; nothing in this room can call another one. */
export type InspectPort = Pick<
  StreamPort & KeyspacePort,
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
>;

/** What a reading call gave, or why it gave nothing although nothing is broken: it vanished meanwhile, or may not be read. */
export type Outcome<T> =
  | { readonly state: 'read'; readonly value: T }
  | { readonly state: 'gone' }
  | { readonly state: 'not-permitted'; readonly reason: string };

/** Waits for a call whose key may vanish, change its type or be out of the user's reach; other failures are thrown. */
export async function outcomeOf<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { state: 'read', value: await call };
  } catch (error) {
    if (BusError.is(error, 'no-key') || BusError.is(error, 'no-group') || BusError.is(error, 'wrong-type'))
      return { state: 'gone' };
    if (BusError.is(error, 'no-permission')) return { state: 'not-permitted', reason: error.message };
    throw error;
  }
}
