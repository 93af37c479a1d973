import { setTimeout as sleep } from 'node:timers/promises';
import { BusError, connectRedis, consumerName, groupName, removeGroup, streamKey } from '../../bus';
import type { HandlerLog } from '../../bus';
import type { RunOptions } from './runOptions';

/** A session that is paused beats every second; who was not seen for this long is gone. */
const goneAfterMs = 10_000;

/** Removes what an earlier session left of the worker's own group; false when somebody is in it. */
export function removeFormerGroup(options: RunOptions, log: HandlerLog): Promise<boolean> {
  return remove(options, goneAfterMs, log);
}

/** Removes the worker's own group when it is done with it. */
export async function removeOwnGroup(options: RunOptions, log: HandlerLog): Promise<void> {
  const removed = await Promise.race([remove(options, 0, log), sleep(1500, undefined)]).catch(() => undefined);
  if (removed === undefined) log.warn(`The group ${options.group} could not be removed; it is the next time`);
}

async function remove(options: RunOptions, minIdleMs: number, log: HandlerLog): Promise<boolean> {
  const { url, stream, group, consumer, ownGroup } = options;
  const consumers = [...(ownGroup?.formerConsumers ?? []), consumer].map(consumerName);
  const port = await connectRedis({ url, clientName: 'redis-streams-worker' });
  try {
    const result = await port.run(removeGroup, {
      stream: streamKey(stream),
      group: groupName(group),
      minIdleMs,
      consumers,
    });
    if (result.status === 'in-use') log.warn(`The group ${group} stays: consumer ${result.consumer} is in it`);
    else log.info(`Removed the group ${group}, which was only for debugging`);
    return result.status === 'removed';
  } catch (error) {
    if (BusError.is(error, 'no-group') || BusError.is(error, 'no-key')) return true;
    throw error;
  } finally {
    await port.close();
  }
}
