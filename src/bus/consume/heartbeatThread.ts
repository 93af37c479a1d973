/**
 * The heartbeat thread: keeps what a consumer holds while the consumer's own thread is busy or paused by a debugger.
 *
 * This module is both sides' protocol and the thread's program: loaded in a `worker_threads` thread with `HeartbeatThreadData`, it
 * beats. In a bundle the thread loads the whole bundle again, so an entry file must do nothing when `isMainThread` is false.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock';
import { BusError } from '../errors';
import { nextEntryId } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { connectRedis } from '../redis/connect';
import type { RedisPortOptions } from '../redis/connect';
import { heartbeat, release } from '../scripts/settle';
import type { LostEntry } from '../scripts/settle';
import { HeldTable } from './heldTable';
import { lifelineLimits, watchLifeline } from './lifeline';
import type { Lifeline, LifelineEnd } from './lifeline';
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
  readonly minIdleMs: number;
  /** When its far end is gone and the main thread does not answer, the thread ends the process. */
  readonly lifeline?: Lifeline;
}

/** What the thread tells after each beat. */
export type HeartbeatMessage =
  | { readonly kind: 'beat'; readonly lost: readonly LostEntry[] }
  | { readonly kind: 'failed'; readonly message: string; readonly retriable: boolean };

/** The file to start a thread from: this one, or the bundle that it became a part of. */
export const heartbeatThreadFile = __filename;

/** Set when this thread is about to kill the process: then it must not close what giving back needs. */
let isEnding = false;

if (!isMainThread && isHeartbeatData(workerData)) void beatUntilStopped(workerData);

async function beatUntilStopped(data: HeartbeatThreadData): Promise<void> {
  const clock = systemClock();
  const table = new HeldTable(data.buffer, data.capacity);
  let port: StreamPort | undefined;
  let isStopped = false;
  let wake: (() => void) | undefined;
  const stop = (): void => {
    isStopped = true;
    wake?.();
  };
  const stopped = (): boolean => isStopped;
  const unwatch =
    data.lifeline &&
    watchLifeline(data.lifeline, (how) => {
      void endUnlessClosing(how, table, stopped, async () => {
        stop();
        await beating;
        if (port) await giveBack(port, table, data);
      });
    });
  parentPort?.on('message', () => {
    unwatch?.();
    stop();
  });
  const beating = (async () => {
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
        const isWaitedFor = BusError.is(error, 'no-group') || BusError.is(error, 'no-key');
        const retriable = isWaitedFor || (BusError.is(error) && error.retriable);
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
  })();
  await beating;
  if (isEnding) return;
  await port?.close();
  parentPort?.close();
}

/**
 * The consumer is not wanted any more. Leaves closing to its own thread when that answers in time and gets done in time; else gives
 * back what is held and kills the process, because a thread that is busy or paused can be ended in no other way. A thread that is
 * known to be paused is not waited for: a debugger that lets go of it would let the handler run on.
 */
async function endUnlessClosing(
  how: LifelineEnd,
  table: HeldTable,
  isStopped: () => boolean,
  giveBackHeld: () => Promise<void>,
): Promise<void> {
  const { answerMs, closeMs, giveBackMs } = lifelineLimits;
  if (how === 'in-time') await sleep(answerMs, undefined, { ref: false });
  if (!isStopped() && table.isClosing) await sleep(closeMs - answerMs, undefined, { ref: false });
  if (isStopped()) return;
  isEnding = true;
  const failed = (): void => undefined;
  await Promise.race([giveBackHeld().catch(failed), sleep(giveBackMs)]);
  process.kill(process.pid, 'SIGKILL');
}

async function giveBack(port: StreamPort, table: HeldTable, data: HeartbeatThreadData): Promise<void> {
  const { stream, group, consumer, minIdleMs } = data;
  const ids = [...new Set([...table.snapshot().map(({ id }) => id), ...(await onTheirWay(port, table, data))])];
  for (let from = 0; from < ids.length; from += maxHeartbeatIds) {
    const chunk = ids.slice(from, from + maxHeartbeatIds);
    await port.run(release, { stream, group, consumer, idleMs: minIdleMs, ids: chunk });
  }
}

/**
 * What the server has delivered into a read whose reply the main thread has not looked at and never will. Reads that take over from
 * others as well may leave such an entry pending with its delivery counted: nothing tells it from one whose retry is scheduled.
 */
async function onTheirWay(port: StreamPort, table: HeldTable, data: HeartbeatThreadData): Promise<readonly EntryId[]> {
  const { stream, group, consumer } = data;
  const { readTo } = table;
  const from = readTo && nextEntryId(readTo);
  if (from === undefined) return [];
  const pending = await port.pending(stream, group, { from, to: 'max', count: table.capacity, consumer });
  return pending.map(({ id }) => id);
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
