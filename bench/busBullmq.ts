import type { BenchLoop } from './busLoops';

interface BullmqModule {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    addBulk(jobs: readonly object[]): Promise<unknown>;
    close(): Promise<void>;
  };
  readonly Worker: new (
    name: string,
    handler: (job: { readonly data: { readonly payload?: string } }) => Promise<void>,
    options: object,
  ) => { on(event: string, listener: () => void): unknown; close(): Promise<void> };
}

/** BullMQ's worker on as many jobs of the same payload. It is no dependency of this repository. */
export const bullmqLoop: BenchLoop = async ({ port, stream, total, concurrency, handler }) => {
  const { Queue, Worker } = await loadBullmq();
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const queue = new Queue(stream, { connection });
  for (let from = 0; from < total; from += 1000) {
    const count = Math.min(1000, total - from);
    await queue.addBulk(Array.from({ length: count }, () => ({ name: 'bench', data: { payload: 'x'.repeat(100) } })));
  }
  let completed = 0;
  const began = performance.now();
  let worker: InstanceType<BullmqModule['Worker']> | undefined;
  const ms = await new Promise<number>((resolve) => {
    worker = new Worker(stream, ({ data }) => handler(data.payload), {
      connection,
      concurrency,
      removeOnComplete: { count: 0 },
    });
    worker.on('completed', () => {
      completed += 1;
      if (completed === total) resolve(performance.now() - began);
    });
  });
  await worker?.close();
  await queue.close();
  return ms;
};

async function loadBullmq(): Promise<BullmqModule> {
  const name = 'bullmq';
  try {
    return (await import(name)) as BullmqModule;
  } catch (error) {
    throw new Error('--with-bullmq needs bullmq, which is no dependency here: npm install --no-save bullmq', {
      cause: error,
    });
  }
}
