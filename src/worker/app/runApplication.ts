/**
 * `run` without a stream: a worker of the runs application. Executes what the gateway published, one of any number of such processes.
 *
 * Its tests are in `test/worker/runsApplication.test.ts`.
 */
import { createLogLines } from '../run/logLines';
import { UsageError } from '../usageError';
import { AppLife } from './appLife';
import { abortGraceMs, appFlags, readAppOptions, readWorkersOptions, requireShared, workerFlags } from './appOptions';
import type { AppOptions, WorkersOptions } from './appOptions';
import { startMonitoring } from './monitoring';
import { openApplication } from './openApplication';
import { Settings } from './settings';
import { startWorker } from './workers';

/** All that a worker of the runs application is told. */
export interface RunApplicationOptions extends AppOptions {
  readonly workersOptions: WorkersOptions;
}

/** Reads the arguments of `run` for the runs application. */
export function readRunApplicationOptions(args: readonly string[], env: NodeJS.ProcessEnv): RunApplicationOptions {
  const settings = new Settings(args, env, { valued: [...appFlags, ...workerFlags] });
  if (settings.text('url') === undefined) throw new UsageError('run needs --url (or REDIS_STREAMS_URL)');
  if (settings.text('store') === undefined && settings.secret('DATABASE_URL') === undefined) {
    throw new UsageError(
      'run needs --stream (or REDIS_STREAMS_STREAM) to read a stream of yours, or DATABASE_URL to be a worker of the runs application. ' +
        'Without a PostgreSQL, run gateway and workers in one process: gateway --workers 2',
    );
  }
  const app = readAppOptions(settings, args);
  requireShared(app, 'run');
  return { ...app, workersOptions: readWorkersOptions(settings, app) };
}

/** Executes runs until it is told to end, then ends the process with one of `exitCodes`. */
export async function runApplication(options: RunApplicationOptions): Promise<never> {
  const log = await createLogLines(options.log);
  const life = new AppLife(log, options.closeMs + abortGraceMs);
  return life.run(async () => {
    const monitoring = life.add(await startMonitoring(options, log));
    const opening = { clientName: 'redis-streams-worker', log, monitoring };
    const { execute, parts, marker } = await openApplication(life, options, opening);
    const { consumer, consumerOptions } = options.workersOptions;
    await startWorker(life, parts, marker, execute, {
      name: consumer,
      consumerOptions,
      closeMs: options.closeMs,
      monitoring,
    });
  });
}
