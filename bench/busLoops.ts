/** The consumers that `bench/bus.ts` compares: the raw ioredis loop in two forms, this bus, and BullMQ when it is installed by hand. */
import { Redis } from 'ioredis';
import { createBus } from '../src/bus';
import type { Bus, BusOptions, ConsumerOptions, Middleware } from '../src/bus';

/** What a handler of the benchmark does with one message. */
export type BenchHandler = (payload: string | undefined) => Promise<void>;

/** One measured run: `total` messages are in the stream; resolves with the milliseconds from the first read to the last acknowledgement. */
export type BenchLoop = (run: {
  readonly port: number;
  readonly stream: string;
  readonly total: number;
  readonly concurrency: number;
  readonly handler: BenchHandler;
}) => Promise<number>;

/** The group that every run reads in. */
export const benchGroup = 'workers';

/** XREADGROUP COUNT 100, the batch's handlers with at most `concurrency` at once, an XACK for each in one pipeline. */
export const rawPipelined: BenchLoop = (run) =>
  rawLoop(run, async (redis, ids) => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.xack(run.stream, benchGroup, id);
    await pipeline.exec();
  });

/** The same with one XACK for all ids of the batch. */
export const rawMultiId: BenchLoop = (run) =>
  rawLoop(run, async (redis, ids) => {
    await redis.xack(run.stream, benchGroup, ...ids);
  });

/** Options of the bus and its consumer besides the defaults, made anew for each run. */
export interface BusLoopOptions {
  readonly bus?: Partial<BusOptions>;
  readonly consumer?: Partial<ConsumerOptions>;
  /** Middleware that needs the bus. */
  readonly use?: (bus: Bus) => readonly Middleware[];
}

/** This bus with its defaults, heartbeats on, and as many read ahead as the raw loop reads at once. */
export async function busLoop(
  { port, stream, total, concurrency, handler }: Parameters<BenchLoop>[0],
  options: BusLoopOptions,
): Promise<number> {
  const bus = createBus({ redis: `redis://127.0.0.1:${port}`, ...options.bus });
  try {
    let acknowledged = 0;
    let finish: (ms: number) => void = () => undefined;
    const done = new Promise<number>((resolve) => {
      finish = resolve;
    });
    const use = options.use?.(bus) ?? [];
    const consumerOptions = { group: benchGroup, concurrency, prefetch: 100, use, ...options.consumer };
    const consumer = bus.consume(stream, consumerOptions, ({ fields }) => handler(fields.payload));
    let began = 0;
    consumer.on('acknowledged', ({ ids }) => {
      acknowledged += ids.length;
      if (acknowledged >= total) finish(performance.now() - began);
    });
    // Connected and paused, as the raw loop is connected before its clock starts.
    consumer.pause();
    await consumer.start();
    began = performance.now();
    consumer.resume();
    return await done;
  } finally {
    await bus.close();
  }
}

async function rawLoop(
  { port, stream, total, concurrency, handler }: Parameters<BenchLoop>[0],
  acknowledge: (redis: Redis, ids: string[]) => Promise<void>,
): Promise<number> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  try {
    await redis.ping();
    const began = performance.now();
    let handled = 0;
    while (handled < total) {
      const reply = await redis.xreadgroup(
        'GROUP',
        benchGroup,
        'raw',
        'COUNT',
        100,
        'BLOCK',
        5000,
        'STREAMS',
        stream,
        '>',
      );
      const entries = ((reply as [string, [string, string[]][]][] | null)?.[0]?.[1] ?? []).slice();
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let entry = entries[next++]; entry; entry = entries[next++]) await handler(entry[1][1]);
      };
      await Promise.all(Array.from({ length: Math.min(concurrency, entries.length) }, worker));
      await acknowledge(
        redis,
        entries.map(([id]) => id),
      );
      handled += entries.length;
    }
    return performance.now() - began;
  } finally {
    redis.disconnect();
  }
}
