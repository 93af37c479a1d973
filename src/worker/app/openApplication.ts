import type { HandlerLog } from '../../bus';
import type { RunExecutor } from '../runs/executeRun';
import type { FailureMarker } from '../runs/failureMarker';
import { openRunStore } from '../runs/openRunStore';
import { createSweeper } from '../runs/runsWorker';
import type { RunsParts } from '../runs/runsWorker';
import type { Monitoring } from '../telemetry/openMonitoring';
import type { AppLife } from './appLife';
import type { AppOptions, WorkersOptions } from './appOptions';
import { openServer } from './openServer';
import { loadExecutor } from './workers';

/** The parts that every process of the runs application has. */
export interface Application {
  readonly execute: RunExecutor;
  readonly parts: RunsParts;
  readonly marker: FailureMarker;
}

/**
 * What a gateway and a worker of the runs application begin with: the executor of runs, store, server and sweeper. Each part is closed by
 * `life`; a handler file that cannot be used is told before anything is connected.
 */
export async function openApplication(
  life: Pick<AppLife, 'add'>,
  options: AppOptions & { readonly workersOptions: WorkersOptions },
  {
    clientName,
    log,
    monitoring,
  }: { readonly clientName: string; readonly log: HandlerLog; readonly monitoring: Monitoring },
): Promise<Application> {
  const execute = await loadExecutor(options.workersOptions);
  const store = life.add(await openRunStore(options.store, options.env));
  const server = life.add(openServer(options.url, options.env, clientName, monitoring.telemetry));
  const parts = { bus: server.bus, port: server.port, store, group: options.group, log };
  const { marker, sweeper } = createSweeper(parts, options.sweep);
  if (options.sweep.intervalMs > 0) {
    sweeper.start();
    life.add({ close: () => sweeper.stop() });
  }
  return { execute, parts, marker };
}
