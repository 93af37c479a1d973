import { systemClock } from '../../base/clock';
import type { Bus, CloseReport, Consumer, ConsumerOptions, HandlerLog, StreamPort } from '../../bus';
import { runHandler } from './executeRun';
import type { RunExecutor } from './executeRun';
import { FailureMarker } from './failureMarker';
import { runsTopic } from './runsStream';
import type { RunStore } from './runStore';
import { publishRun } from './submitRun';
import { Sweeper } from './sweeper';

/** What every process of the runs application shares. */
export interface RunsParts {
  readonly bus: Bus;
  /** For what the sweeper looks up; the same server as the bus. */
  readonly port: StreamPort;
  readonly store: RunStore;
  readonly group: string;
  readonly log: HandlerLog;
}

/** How the sweeper works; `intervalMs` 0 for no sweeper. */
export interface SweepOptions {
  readonly staleMs: number;
  readonly intervalMs: number;
}

/** Makes the marker of failed runs and the sweeper of a process. */
export function createSweeper(parts: RunsParts, options: SweepOptions): { marker: FailureMarker; sweeper: Sweeper } {
  const { bus, port, store, group, log } = parts;
  const marker = new FailureMarker({ deadLetters: bus.deadLetters(runsTopic), store, group });
  const sweeper = new Sweeper({
    store,
    port,
    stream: bus.keyOf(runsTopic),
    group,
    marker,
    publish: (run, lost) => publishRun({ bus }, run, lost),
    clock: systemClock(),
    log,
    ...options,
  });
  return { marker, sweeper };
}

/** How one consumer of runs works. */
export type RunsConsumerOptions = Omit<ConsumerOptions, 'group' | 'log'>;

/**
 * Makes a consumer that executes runs: reads the runs stream, takes over from consumers that died, and moves what was delivered three
 * times to the dead letters, upon which the run is marked failed.
 */
export function createRunsConsumer(
  { bus, store, group, log }: RunsParts,
  marker: FailureMarker,
  execute: RunExecutor,
  options: RunsConsumerOptions,
): Consumer {
  const consumer = bus.consume(runsTopic, { ...options, group, log }, runHandler(store, execute));
  consumer.on('dead-lettered', () => {
    marker.catchUp().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : 'unknown';
      log.warn(`A failed run could not be marked yet, which a sweep will do: ${why}`);
    });
  });
  return consumer;
}

/** Closes a consumer of runs, and marks what it dead-lettered meanwhile. */
export async function closeRunsConsumer(
  consumer: Consumer,
  marker: FailureMarker,
  timeoutMs: number,
): Promise<CloseReport> {
  const report = await consumer.close({ timeoutMs });
  await marker.catchUp().catch(() => undefined);
  return report;
}
