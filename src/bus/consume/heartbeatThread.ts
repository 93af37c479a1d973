/**
 * The heartbeat thread: keeps what a consumer holds while the consumer's own thread is busy or paused by a debugger.
 *
 * This module is both sides' protocol and the thread's program: loaded in a `worker_threads` thread with `HeartbeatThreadData`, it
 * beats. In a bundle the thread loads the whole bundle again, so an entry file must do nothing when `isMainThread` is false.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock';
import { BusError } from '../errors';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { connectRedis } from '../redis/connect';
import type { RedisPortOptions } from '../redis/connect';
import { heartbeat } from '../scripts/settle';
import type { LostEntry } from '../scripts/settle';
import { HeldTable } from './heldTable';
import { maxHeartbeatIds } from './ownership';

/** How the thread connects: all of it is copied to the thread, so it holds no functions. */
export type HeartbeatConnection = Pick<
  RedisPortOptions,
  'url' | 'tls' | 'connectTimeoutMs' | 'socketTimeoutMs' | 'protocol'
>;

/** What the thread is started with. */
export interface HeartbeatThreadData {
  readonly kind: 'redis-streams-heartbeat';
  readonly connection: HeartbeatConnection;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly heartbeatMs: number;
  readonly buffer: SharedArrayBuffer;
  readonly capacity: number;
}

/** What the thread tells after each beat. */
export type HeartbeatMessage =
  | { readonly kind: 'beat'; readonly lost: readonly LostEntry[] }
  | { readonly kind: 'failed'; readonly message: string; readonly retriable: boolean };

/** The file to start a thread from: this one, or the bundle that it became a part of. */
export const heartbeatThreadFile = __filename;

if (!isMainThread && isHeartbeatData(workerData)) void beatUntilStopped(workerData);

async function beatUntilStopped(data: HeartbeatThreadData): Promise<void> {
  const clock = systemClock();
  const table = new HeldTable(data.buffer, data.capacity);
  let port: StreamPort | undefined;
  let isStopped = false;
  let wake: (() => void) | undefined;
  parentPort?.on('message', () => {
    isStopped = true;
    wake?.();
  });
  const stopped = (): boolean => isStopped;
  while (!stopped()) {
    const beganAtMs = clock.now();
    table.beginBeat();
    let message: HeartbeatMessage;
    try {
      port ??= await connectRedis({ ...data.connection, clientName: 'redis-streams-heartbeat' });
      const lost = await beat(port, table, data);
      table.endBeat(beganAtMs);
      message = { kind: 'beat', lost };
    } catch (error) {
      table.endBeat(undefined);
      const isBusError = BusError.is(error);
      const retriable = !isBusError || error.retriable || error.reason === 'no-group' || error.reason === 'no-key';
      message = { kind: 'failed', message: error instanceof Error ? error.message : String(error), retriable };
    }
    parentPort?.postMessage(message);
    if (stopped()) break;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(data.heartbeatMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }
  await port?.close();
  parentPort?.close();
}

async function beat(port: StreamPort, table: HeldTable, data: HeartbeatThreadData): Promise<readonly LostEntry[]> {
  const { stream, group, consumer } = data;
  const held = table.snapshot();
  // Asked even when nothing is held, so that a thread which beats is one that can.
  if (held.length === 0) await port.run(heartbeat, { stream, group, consumer, ids: [] });
  const lost: LostEntry[] = [];
  for (let from = 0; from < held.length; from += maxHeartbeatIds) {
    const chunk = held.slice(from, from + maxHeartbeatIds);
    const found = await port.run(heartbeat, { stream, group, consumer, ids: chunk.map(({ id }) => id) });
    const lostIds = new Set<EntryId>(found.map(({ id }) => id));
    for (const slot of chunk) if (lostIds.has(slot.id)) table.markLost(slot);
    lost.push(...found);
  }
  return lost;
}

function isHeartbeatData(data: unknown): data is HeartbeatThreadData {
  return typeof data === 'object' && data !== null && (data as { kind?: unknown }).kind === 'redis-streams-heartbeat';
}
