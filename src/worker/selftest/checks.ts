import { groupName } from '../../bus';
import type { Consumer } from '../../bus';
import { echo } from '../runs/echo';
import type { RunExecutor } from '../runs/executeRun';
import { FailureMarker } from '../runs/failureMarker';
import { runsTopic } from '../runs/runsStream';
import { createRunsConsumer } from '../runs/runsWorker';
import type { Run } from '../runs/runStore';
import type { Actor, Stage } from './stage';
import { until } from './until';

/** What the checks put into the stream, to be compared with what the server says at the end. */
export interface Tally {
  published: number;
  deadLetters: number;
}

/** A check: what it shows, and how it is done. It answers its figures, or throws with what is wrong. */
export interface Check {
  readonly name: string;
  readonly run: (stage: Stage, tally: Tally) => Promise<string>;
}

/** Short times: nothing here takes long, so that what is late is dead. */
const minIdleMs = 300;

/** The five checks, in order; they share a stream. */
export const checks: readonly Check[] = [
  { name: 'publish and consume', run: publishAndConsume },
  { name: 'two workers share', run: twoWorkersShare },
  { name: 'duplicate is blocked', run: duplicateIsBlocked },
  { name: 'crash before ack', run: crashBeforeAck },
  { name: 'poison', run: poison },
];

async function publishAndConsume(stage: Stage, tally: Tally): Promise<string> {
  const { runId } = await post(stage, tally, 'hello', 'hello');
  return withWorkers(stage, [{ name: 'a' }], async ([a]) => {
    const run = await finished(stage, runId);
    expect(run.reply === 'echo: hello', `the reply is ${JSON.stringify(run.reply)}`);
    await nothingPending(stage);
    return `run ${run.status}, consumed ${a?.handled ?? 0}, replies ${await replies(stage, [runId])}, pending 0`;
  });
}

async function twoWorkersShare(stage: Stage, tally: Tally): Promise<string> {
  // The first run that a worker gets waits until the other has one too, so that neither can take all three.
  const begun = new Set<string>();
  const together: RunExecutor = async (message, context) => {
    begun.add(context.consumer);
    await until(() => begun.size === 2, 'both workers to have a run');
    return echo(message, context);
  };
  return withWorkers(
    stage,
    [{ name: 'a' }, { name: 'b' }],
    async ([a, b]) => {
      const runIds = await postAll(stage, tally, ['one', 'two', 'three']);
      for (const runId of runIds) await finished(stage, runId);
      await nothingPending(stage);
      const [ofA, ofB] = [a?.handled ?? 0, b?.handled ?? 0];
      expect(ofA + ofB === 3 && ofA > 0 && ofB > 0, `a=${ofA} b=${ofB}`);
      return `a=${ofA} b=${ofB}, replies ${await replies(stage, runIds)}, pending 0`;
    },
    together,
  );
}

async function duplicateIsBlocked(stage: Stage, tally: Tally): Promise<string> {
  const before = await stage.port.length(stage.stream);
  const runIds = await postAll(stage, tally, ['four', 'five', 'six']);
  const again = await stage.post('five', 'five');
  expect(again.duplicated && again.runId === runIds[1], 'the gateway took the duplicate for a new run');
  const added = (await stage.port.length(stage.stream)) - before;
  expect(added === 3, `${added} entries were published for three runs`);
  return withWorkers(stage, [{ name: 'a' }], async () => {
    for (const runId of runIds) await finished(stage, runId);
    await nothingPending(stage);
    return `posted 4, duplicated 1, runs ${runIds.length}, replies ${await replies(stage, runIds)}, pending 0`;
  });
}

async function crashBeforeAck(stage: Stage, tally: Tally): Promise<string> {
  const { runId } = await post(stage, tally, 'crash', 'crash');
  const a = await openWorker(stage, { name: 'a', crashesBeforeAck: true });
  try {
    await until(async () => (await stage.store.countReplies(runId)) === 1, 'the reply to be written');
    await until(() => a.hasCrashed, 'the worker to crash');
    const left = await pendingCount(stage);
    expect(left === 1, `pending ${left} after the crash`);
    return await withWorkers(stage, [{ name: 'b' }], async ([b]) => {
      await nothingPending(stage);
      const tookOver = b?.reclaimed ?? 0;
      expect(tookOver === 1, `b took over ${tookOver}`);
      return `pending 1, b took over ${tookOver}, pending 0, replies ${await replies(stage, [runId])}`;
    });
  } finally {
    await a.close();
  }
}

async function poison(stage: Stage, tally: Tally): Promise<string> {
  const { runId } = await post(stage, tally, 'poison', 'boom');
  const deadLetters = stage.bus.deadLetters(runsTopic);
  const before = await deadLetters.count();
  return withWorkers(stage, [{ name: 'a' }], async ([a]) => {
    const run = await finished(stage, runId);
    await nothingPending(stage);
    const dead = (await deadLetters.count()) - before;
    tally.deadLetters += dead;
    const failures = a?.failed ?? 0;
    const why = run.failure?.reason ?? 'no reason';
    expect(run.status === 'failed' && why === 'handler-error', `the run is ${run.status}, ${why}`);
    expect(failures === 3 && dead === 1, `failures ${failures}, dead letters ${dead}`);
    return `failures ${failures}, dead letters ${dead}, run ${run.status} (${why}), pending 0`;
  });
}

/** A worker of a check and what it did. */
interface CheckWorker {
  readonly name: string;
  handled: number;
  failed: number;
  reclaimed: number;
  hasCrashed: boolean;
  close(): Promise<void>;
}

interface WorkerSetup {
  readonly name: string;
  readonly crashesBeforeAck?: boolean;
}

async function openWorker(stage: Stage, setup: WorkerSetup, execute: RunExecutor = echo): Promise<CheckWorker> {
  const { store, group, log } = stage;
  const actor = await stage.openActor(setup.name);
  const parts = { bus: actor.bus, port: stage.port, store, group, log };
  const marker = new FailureMarker({ deadLetters: stage.bus.deadLetters(runsTopic), store, group });
  const consumer = createRunsConsumer(parts, marker, execute, {
    name: setup.name,
    concurrency: 1,
    prefetch: 0,
    blockMs: 200,
    handlerTimeoutMs: 0,
    ownership: { minIdleMs, heartbeatMs: minIdleMs / 3 },
    retry: { maxDeliveries: 3, backoff: () => 20 },
    reclaim: { intervalMs: 50 },
    use: [
      async (_message, _context, next) => {
        await next();
        worker.handled += 1;
        if (setup.crashesBeforeAck !== true) return;
        await actor.crash();
        worker.hasCrashed = true;
      },
    ],
  });
  const worker = watch(setup.name, consumer, actor);
  await consumer.start();
  return worker;
}

function watch(name: string, consumer: Consumer, actor: Actor): CheckWorker {
  const worker: CheckWorker = {
    name,
    handled: 0,
    failed: 0,
    reclaimed: 0,
    hasCrashed: false,
    close: async () => {
      // A crashed process closes nothing; its timers ended with it.
      if (!worker.hasCrashed) await consumer.close({ timeoutMs: 5000 });
      else void consumer.close({ timeoutMs: 0 }).catch(() => undefined);
      if (!worker.hasCrashed) await actor.close();
    },
  };
  consumer.on('handler-failed', () => {
    worker.failed += 1;
  });
  consumer.on('reclaimed', ({ ids }) => {
    worker.reclaimed += ids.length;
  });
  return worker;
}

async function withWorkers(
  stage: Stage,
  setups: readonly WorkerSetup[],
  run: (workers: readonly CheckWorker[]) => Promise<string>,
  execute?: RunExecutor,
): Promise<string> {
  const workers: CheckWorker[] = [];
  try {
    for (const setup of setups) workers.push(await openWorker(stage, setup, execute));
    return await run(workers);
  } finally {
    for (const worker of workers) await worker.close();
  }
}

async function post(stage: Stage, tally: Tally, key: string, input: string): Promise<{ readonly runId: string }> {
  const posted = await stage.post(key, input);
  expect(!posted.duplicated, 'the gateway took a new run for a duplicate');
  tally.published += 1;
  return posted;
}

async function postAll(stage: Stage, tally: Tally, inputs: readonly string[]): Promise<readonly string[]> {
  const runIds: string[] = [];
  for (const input of inputs) runIds.push((await post(stage, tally, input, input)).runId);
  return runIds;
}

async function finished(stage: Stage, runId: string): Promise<Run> {
  return until(async () => {
    const run = await stage.store.get(runId);
    return run !== undefined && run.status !== 'pending' && run;
  }, 'the run to be finished');
}

async function nothingPending(stage: Stage): Promise<void> {
  await until(async () => (await pendingCount(stage)) === 0, 'nothing to be pending');
}

async function pendingCount({ port, stream, group }: Stage): Promise<number> {
  return (await port.pendingSummary(stream, groupName(group))).count;
}

async function replies({ store }: Stage, runIds: readonly string[]): Promise<number> {
  const counts = await Promise.all(runIds.map((runId) => store.countReplies(runId)));
  const sum = counts.reduce((total, count) => total + count, 0);
  expect(sum === runIds.length, `replies ${sum} for ${runIds.length} runs`);
  return sum;
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise);
}
