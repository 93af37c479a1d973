import type { Consumer, HandlerLog } from '../../bus';
import { exitCodes } from '../run/exitCodes';
import { loadHandlerFile } from '../run/handlerFile';
import { thrownText } from '../run/logLines';
import { reportEvents } from '../run/reportEvents';
import { echo } from '../runs/echo';
import type { RunExecutor } from '../runs/executeRun';
import type { FailureMarker } from '../runs/failureMarker';
import { closeRunsConsumer, createRunsConsumer } from '../runs/runsWorker';
import type { RunsParts } from '../runs/runsWorker';
import type { Monitoring } from '../telemetry/openMonitoring';
import type { AppLife } from './appLife';
import type { WorkersOptions } from './appOptions';

/** The echo, or the handler of a file: it gets the run as `message.body`, and what it returns is the reply. */
export async function loadExecutor({ handler }: WorkersOptions): Promise<RunExecutor> {
  return handler === undefined ? echo : loadHandlerFile(handler);
}

/** How a consumer of runs is started. */
export interface WorkerSetup extends Pick<WorkersOptions, 'consumerOptions'> {
  readonly name: string;
  readonly closeMs: number;
  readonly monitoring: Monitoring;
}

/** Starts a consumer of runs as a part of a process; resolves when it reads. */
export async function startWorker(
  life: Pick<AppLife, 'add' | 'fail'>,
  parts: RunsParts,
  marker: FailureMarker,
  execute: RunExecutor,
  options: WorkerSetup,
): Promise<Consumer> {
  const { name, closeMs, consumerOptions, monitoring } = options;
  const { log } = parts;
  const consumer = createRunsConsumer(parts, marker, execute, { ...consumerOptions, name });
  monitoring.watch(consumer);
  reportEvents(consumer, {
    log,
    settled: () => undefined,
    fatal: (error) => {
      const why = error instanceof Error ? error.message : thrownText(error);
      life.fail(exitCodes.failed, `Cannot go on reading ${consumer.stream} in group ${parts.group}: ${why}`);
    },
  });
  life.add({
    close: async () => {
      const report = await closeRunsConsumer(consumer, marker, closeMs);
      reportClose(log, consumer.name, report.leftPending);
    },
  });
  await consumer.start();
  log.info(`Reading ${consumer.stream} in group ${parts.group} as consumer ${consumer.name}`);
  return consumer;
}

function reportClose(log: HandlerLog, name: string, leftPending: readonly string[]): void {
  if (leftPending.length > 0) log.warn(`Consumer ${name} left pending: ${leftPending.join(', ')}`);
  else log.info(`Consumer ${name} is closed`);
}
