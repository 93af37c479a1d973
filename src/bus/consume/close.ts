import { BusError } from '../errors';
import type { EntryId } from '../ids';
import type { StreamPort } from '../port';
import { reapConsumer } from '../scripts/pending';
import { ShutdownError } from './abortReasons';
import type { CloseReport } from './closeReport';
import type { ResolvedConsumerOptions } from './consumerOptions';
import type { ConsumerParts } from './consumerParts';
import { within } from './within';

/** How long settling what is left may take when the link is down. */
const flushMs = 800;

/** Brings a consumer to its end; see `Consumer.close`. */
export async function closeConsumer(
  parts: ConsumerParts | undefined,
  port: StreamPort,
  options: ResolvedConsumerOptions,
  timeoutMs: number,
): Promise<CloseReport> {
  const { clock, abortGraceMs } = options;
  const beganAtMs = clock.now();
  if (!parts) return report({ durationMs: 0 });
  const { loop, slots, runs, settler, ownership, journal } = parts;
  const before = settler.settledCounts;
  ownership.closing();
  slots.hold();
  await loop.stop();
  for (const delivery of slots.takeQueued()) settler.release(delivery);
  const started = new Set(runs.running);
  await within(clock, timeoutMs, runs.whenEnded(started));
  const aborted = [...started].filter(({ isRunning, isSettled }) => isRunning && !isSettled);
  for (const delivery of aborted) delivery.abort('shutdown', new ShutdownError('The consumer is closing'));
  if (aborted.length > 0) await within(clock, abortGraceMs, runs.whenEnded(aborted));
  for (const delivery of aborted) if (delivery.isRunning && !delivery.isSettled) settler.release(delivery);
  const flushUntilMs = clock.now() + flushMs;
  await within(clock, flushMs, settler.flush());
  const leftPending = settler.stop();
  runs.dispose();
  await ownership.stop();
  const [removed] = await Promise.all([
    leftPending.length === 0 && remove(port, options),
    journal && within(clock, Math.max(0, flushUntilMs - clock.now()), journal.close()),
  ]);
  const after = settler.settledCounts;
  return report({
    completed: [...started].filter(({ isRunning }) => !isRunning).length,
    aborted: aborted.length,
    released: after.released - before.released,
    acknowledged: after.acknowledged - before.acknowledged,
    leftPending,
    stillRunning: [...started].filter(({ isRunning }) => isRunning).map(({ id }) => id),
    removed,
    durationMs: clock.now() - beganAtMs,
  });
}

function report(known: Partial<CloseReport>): CloseReport {
  const none: readonly EntryId[] = [];
  return {
    completed: 0,
    aborted: 0,
    released: 0,
    acknowledged: 0,
    leftPending: none,
    stillRunning: none,
    removed: false,
    durationMs: 0,
    ...known,
  };
}

/** Removes the consumer from the group when it owns nothing, so that names which are never used again do not pile up. */
async function remove(port: StreamPort, options: ResolvedConsumerOptions): Promise<boolean> {
  const { clock, stream, group, name } = options;
  try {
    const reap = port.run(reapConsumer, { stream, group, consumer: name, minIdleMs: 0 });
    const result = await within(clock, 200, reap);
    // Until 7.0 a consumer that was never given an entry is not in the group.
    return result?.status === 'reaped' || result?.status === 'missing';
  } catch (error) {
    if (BusError.is(error)) return false;
    throw error;
  }
}
