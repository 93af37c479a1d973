/**
 * `run`: the reference worker. Hands the messages of one stream and group to a handler by the bus's rules: own pending entries first,
 * then new ones, acknowledged after the handler returned; taking over from others and dead-lettering only when granted.
 *
 * It knows nothing of VS Code: an editor that launches it is a launch file and a lifeline. Its tests are in `test/worker/run*.test.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BusError, ConfigError, createBus } from '../../bus';
import type { Consumer, ConsumerOptions, Handler, HandlerContext, Message } from '../../bus';
import { handle } from '../sampleHandler';
import { openMonitoring } from '../telemetry/openMonitoring';
import { exitCodes } from './exitCodes';
import { guardProcess } from './guardProcess';
import type { GuardedProcess } from './guardProcess';
import { HandlerFileError, loadHandlerFile } from './handlerFile';
import { connectLifeline } from './lifelineClient';
import type { LifelineClient } from './lifelineClient';
import { createLogLines, failureDetails, thrownText } from './logLines';
import type { RunLog } from './logLines';
import { removeFormerGroup, removeOwnGroup } from './ownGroup';
import { reportEvents } from './reportEvents';
import type { RunOptions } from './runOptions';

/** After this long a handler whose time is never up is mentioned. */
const slowHandlerMs = 30_000;

/** Runs until it is told to end, then ends the process with one of `exitCodes`. */
export async function runWorker(options: RunOptions): Promise<never> {
  const run = new WorkerRun(options, await createLogLines(options.log));
  return run.untilEnded();
}

interface Ending {
  readonly exitCode: number;
  readonly why: string;
}

class WorkerRun {
  private readonly process: GuardedProcess;
  private readonly ended: Promise<Ending>;
  /** The first reason to end counts. */
  private end: (exitCode: number, why: string) => void = () => undefined;
  private lifeline: LifelineClient | undefined;
  private handler: Handler = handle;
  private begun = 0;
  private finished = 0;

  constructor(
    private readonly options: RunOptions,
    private readonly log: RunLog,
  ) {
    this.ended = new Promise((resolve) => {
      this.end = (exitCode, why) => {
        resolve({ exitCode, why });
      };
    });
    this.process = guardProcess({
      signalled: (signal) => {
        this.end(exitCodes.ended, signal);
      },
      exitCalled: (code) => {
        this.fail(exitCodes.handlerEndedProcess, 'handler-exit', `The handler called process.exit(${code})`);
      },
      threwOutside: (thrown) => {
        const message = `Something failed outside of any message: ${thrownText(thrown)}`;
        this.fail(exitCodes.handlerEndedProcess, 'uncaught', message, failureDetails(thrown));
      },
    });
  }

  async untilEnded(): Promise<never> {
    let exitCode: number = exitCodes.failed;
    try {
      exitCode = await this.run();
    } catch (error) {
      if (ConfigError.is(error)) exitCode = exitCodes.usage;
      const sentence = ConfigError.is(error) ? error.message : `Failed: ${thrownText(error)}`;
      this.log.tell('error', 'failed', failureDetails(error), sentence);
    }
    this.lifeline?.send({ type: 'bye', exitCode });
    await this.lifeline?.close();
    return this.process.exit(exitCode);
  }

  private async run(): Promise<number> {
    const { options, log } = this;
    if (options.lifeline && !(await this.connectLifeline(options.lifeline))) return exitCodes.lifelineLost;
    if (options.ownGroup && !(await this.beginOwnGroup())) return exitCodes.failed;
    const monitoring = await openMonitoring(options.metricsPort);
    if (monitoring.port !== undefined)
      log.info(`Serving /metrics, /healthz and /readyz on 127.0.0.1:${monitoring.port}`);
    const { telemetry } = monitoring;
    const bus = createBus({ redis: { url: options.url, clientName: 'redis-streams-worker' }, telemetry });
    const consumer: Consumer = bus.consume(
      { exact: options.stream },
      this.consumerOptions(() => consumer),
      (message, context) => {
        // Taken out first, so that stack traces show the handler's own name.
        const { handler } = this;
        return handler(message, context);
      },
    );
    monitoring.watch(consumer);
    reportEvents(consumer, {
      log,
      settled: (id, outcome) => {
        this.lifeline?.send({ type: 'settled', id, outcome });
      },
      fatal: (error) => {
        this.fail(exitCodes.failed, BusError.is(error) ? error.reason : 'failed', fatalText(error, options));
      },
    });
    // The heartbeat thread starts first, so that it can end the process also when the handler file never comes to its end.
    consumer.pause();
    const started = consumer.start().then(
      () => true,
      () => false,
    );
    const isLoaded = await Promise.race([this.loadHandler(), this.ended.then(() => false)]);
    if (isLoaded) {
      consumer.resume();
      if (await Promise.race([started, this.ended.then(() => false)])) this.ready(consumer);
    }
    const { exitCode, why } = await this.ended;
    log.info(`Closing: ${why}`);
    await this.close(consumer);
    await Promise.race([Promise.all([bus.close(), monitoring.close()]), sleep(500)]);
    if (options.ownGroup) await removeOwnGroup(options, log);
    return exitCode;
  }

  private async connectLifeline(lifeline: NonNullable<RunOptions['lifeline']>): Promise<boolean> {
    try {
      this.lifeline = await connectLifeline(lifeline, (how) => {
        if (how === 'stop') this.end(exitCodes.ended, 'the editor asked for it');
        else this.end(exitCodes.lifelineLost, 'the editor that launched this worker is gone');
      });
    } catch {
      this.log.error('The editor that launched this worker is gone; nothing was read');
      return false;
    }
    this.lifeline.send({ type: 'hello', pid: process.pid });
    return true;
  }

  private async beginOwnGroup(): Promise<boolean> {
    const { options, log } = this;
    try {
      if (await removeFormerGroup(options, log)) return true;
      this.fail(exitCodes.failed, 'group-in-use', `The group ${options.group} is in use; nothing was read`);
    } catch (error) {
      this.fail(exitCodes.failed, BusError.is(error) ? error.reason : 'failed', fatalText(error, options));
    }
    return false;
  }

  private consumerOptions(consumer: () => Consumer): ConsumerOptions {
    const { options, log } = this;
    const { grant, lifeline, heartbeatMs } = options;
    return {
      group: options.group,
      name: options.consumer,
      concurrency: options.concurrency,
      prefetch: options.prefetch,
      groupStart: options.from,
      createGroup: grant.createGroup,
      handlerTimeoutMs: options.handlerTimeoutMs,
      abortGraceMs: options.abortGraceMs,
      ownership: {
        minIdleMs: options.minIdleMs,
        thread: true,
        ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
        ...(lifeline ? { lifeline: { port: lifeline.port, hello: lifeline.token } } : {}),
      },
      reclaim: grant.reclaim ? {} : false,
      deadLetters: grant.deadLetter ? {} : false,
      journal: grant.journal ?? false,
      log,
      use: [(message, context, next) => this.around(message, context, next, consumer())],
    };
  }

  /** Around every call of the handler: tells of the message before the handler can stop at a breakpoint, and counts. */
  private async around(
    { id }: Message,
    { deliveryCount, group }: HandlerContext,
    next: () => Promise<void>,
    consumer: Consumer,
  ): Promise<void> {
    const { maxMessages, entryLink, handlerTimeoutMs } = this.options;
    this.begun += 1;
    if (this.begun === maxMessages) consumer.pause();
    this.lifeline?.send({ type: 'delivered', id, deliveryCount });
    const link = entryLink === undefined ? '' : `, ${entryLink}${id}`;
    this.log.info(`Message ${id} of ${group}, delivery ${deliveryCount}${link}`);
    const slow = setTimeout(() => {
      if (handlerTimeoutMs === 0)
        this.log.warn(`The handler has not returned from ${id} for ${slowHandlerMs / 1000} s`);
    }, slowHandlerMs);
    try {
      await next();
    } finally {
      clearTimeout(slow);
      this.finished += 1;
      if (this.finished === maxMessages) this.end(exitCodes.ended, `${maxMessages} messages were handled`);
    }
  }

  private async loadHandler(): Promise<boolean> {
    const { handler } = this.options;
    if (handler === undefined) return true;
    // A turn of the loop, so that the thread is on its way before the file's own code may hold this one up.
    await sleep(0);
    const slow = setTimeout(() => {
      this.log.warn(`The handler file ${handler} has not come to its end for 10 s; nothing is read before it has`);
    }, 10_000);
    try {
      this.handler = await loadHandlerFile(handler);
      return true;
    } catch (error) {
      if (!HandlerFileError.is(error)) throw error;
      this.fail(exitCodes.handlerFile, 'handler-file', error.message);
      return false;
    } finally {
      clearTimeout(slow);
    }
  }

  private ready(consumer: Consumer): void {
    const { group } = this.options;
    this.log.info(`Reading ${consumer.stream} in group ${group} as consumer ${consumer.name}`);
    this.lifeline?.send({ type: 'ready', group, consumer: consumer.name });
  }

  /** `details` in place of a message that may quote payload. */
  private fail(exitCode: number, reason: string, message: string, details?: Readonly<Record<string, unknown>>): void {
    this.log.tell('error', reason, details ?? { error_message: message }, message);
    this.lifeline?.send({ type: 'error', reason, message });
    this.end(exitCode, reason);
  }

  private async close(consumer: Consumer): Promise<void> {
    const { closeMs, abortGraceMs } = this.options;
    const closed = consumer.close({ timeoutMs: closeMs });
    const report = await Promise.race([closed, sleep(closeMs + abortGraceMs + 3000, undefined)]);
    if (!report) {
      this.log.error('Closing took too long; what is held stays pending until somebody takes it over');
      return;
    }
    if (report.leftPending.length > 0) this.log.warn(`Left pending: ${report.leftPending.join(', ')}`);
    const { acknowledged, released, stillRunning } = report;
    this.log.info('Closed', { acknowledged, released, ...(stillRunning.length > 0 ? { stillRunning } : {}) });
  }
}

function fatalText(error: unknown, { stream, group, grant }: RunOptions): string {
  const message = error instanceof Error ? error.message : String(error);
  if (BusError.is(error, 'no-group') && !grant.createGroup) {
    return `Cannot read ${stream}: there is no group ${group}, and creating it was not granted. Create it, or grant that. (${message})`;
  }
  return `Cannot go on reading ${stream} in group ${group}: ${message}`;
}
