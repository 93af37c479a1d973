/**
 * The bus beside the raw ioredis loop: throughput with handlers that do nothing and with handlers that wait, latency on an idle
 * stream, closing while blocked. Rounds are interleaved, ratios are taken within a round, every run is checked drained.
 *
 * Flags: `--quick` for fewer and smaller rounds, `--json`, `--all-variants` for the telemetry that is only reported, `--scenario <text>` for
 * those whose name has it, `--with-bullmq` when bullmq was installed by hand.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createBus } from '../src/bus';
import { startRedis } from '../test/support/redisServer';
import type { RedisServer } from '../test/support/redisServer';
import { bullmqLoop } from './busBullmq';
import { benchGroup, busLoop, rawMultiId, rawPipelined } from './busLoops';
import type { BenchHandler, BenchLoop } from './busLoops';
import { busVariants } from './busVariants';
import type { BusVariant } from './busVariants';
import { figureOf, readBenchFlags, report } from './support/report';
import type { Figure } from './support/report';

const flags = readBenchFlags();
const variants = busVariants.filter(({ isExtra }) => !isExtra || process.argv.includes('--all-variants'));
const only = process.argv[process.argv.indexOf('--scenario') + 1 || process.argv.length] ?? '';
const withBullmq = process.argv.includes('--with-bullmq');
const rounds = flags.quick ? 3 : 7;
const payload = 'x'.repeat(100);

interface Scenario {
  readonly name: string;
  readonly concurrency: number;
  readonly total: number;
  readonly handler: BenchHandler;
  readonly aim?: { readonly text: string; readonly met: (value: number) => boolean };
}

const nothing = (): Promise<void> => Promise.resolve();
const waiting: BenchHandler = async () => {
  await sleep(Math.random() * 10);
};
const atLeast = (least: number): NonNullable<Scenario['aim']> => ({
  text: `at least ${least}`,
  met: (value) => value >= least,
});
const size = flags.quick ? 20_000 : 60_000;
const scenarios: readonly Scenario[] = [
  { name: 'no-op, c=1', concurrency: 1, total: size, handler: nothing, aim: atLeast(0.85) },
  { name: 'no-op, c=10', concurrency: 10, total: size, handler: nothing, aim: atLeast(1) },
  { name: 'no-op, c=100', concurrency: 100, total: size, handler: nothing, aim: atLeast(1) },
  { name: '0-10 ms, c=10', concurrency: 10, total: Math.round(size / 20), handler: waiting },
  { name: '0-10 ms, c=100', concurrency: 100, total: Math.round(size / 3), handler: waiting, aim: atLeast(1.8) },
];

async function main(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis({ port: server.port, host: server.host });
  const bench: Bench = { server, redis };
  try {
    const figures: Figure[] = [];
    for (const scenario of scenarios.filter(({ name }) => name.includes(only)))
      figures.push(...(await measureThroughput(bench, scenario)));
    figures.push(...(await measureLatency(bench)), await measureClose(bench));
    report('The bus beside the raw ioredis loop (COUNT 100, pipelined XACK)', figures, flags);
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

interface Bench {
  readonly server: RedisServer;
  readonly redis: Redis;
}

async function measureThroughput(bench: Bench, scenario: Scenario): Promise<Figure[]> {
  const loops: Record<string, BenchLoop> = {
    raw: rawPipelined,
    'raw, multi-id XACK': rawMultiId,
    bus: (run) => busLoop(run, {}),
    ...Object.fromEntries(variants.map((variant) => [variant.name, variantLoop(variant)])),
    ...(withBullmq ? { BullMQ: bullmqLoop } : {}),
  };
  const names = Object.keys(loops);
  const rates = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    // Each round begins with another one, so that none is always measured on the warmer or the busier machine.
    for (const offset of names.keys()) {
      const name = names[(round + offset) % names.length] ?? '';
      const loop = loops[name];
      if (loop) rates.get(name)?.push(await measureRun(bench, loop, scenario, name === 'BullMQ'));
    }
  }
  const ratios = (name: string, to = 'raw'): number[] => {
    const base = rates.get(to) ?? [];
    return (rates.get(name) ?? []).map((rate, round) => rate / (base[round] ?? NaN));
  };
  return [
    ...names.map((name) => figureOf(`${scenario.name}: ${name}`, 'msg/s', rates.get(name) ?? [])),
    ...names
      .filter((name) => name !== 'raw')
      .map((name) => {
        const { comparedTo = 'raw', aim } = variants.find((variant) => variant.name === name) ?? {};
        const least = aim === undefined || scenario.concurrency === 1 ? undefined : atLeast(aim);
        const goal = name === 'bus' ? scenario.aim : least;
        return figureOf(`${scenario.name}: ${name} / ${comparedTo}`, 'x', ratios(name, comparedTo), goal);
      }),
  ];
}

function variantLoop(variant: BusVariant): BenchLoop {
  return async (run) => {
    try {
      return await busLoop(run, variant.options());
    } finally {
      variant.end?.();
    }
  };
}

async function measureRun(bench: Bench, loop: BenchLoop, scenario: Scenario, fillsItself: boolean): Promise<number> {
  const { server, redis } = bench;
  const { total, concurrency, handler } = scenario;
  await redis.flushall();
  const stream = 'bench';
  if (!fillsItself) await fill(redis, stream, total);
  const ms = await loop({ port: server.port, stream, total, concurrency, handler });
  if (!fillsItself) await assertDrained(redis, stream, total);
  return (total / ms) * 1000;
}

async function fill(redis: Redis, stream: string, total: number): Promise<void> {
  await redis.xgroup('CREATE', stream, benchGroup, '0', 'MKSTREAM');
  for (let from = 0; from < total; from += 1000) {
    const pipeline = redis.pipeline();
    for (let index = from; index < Math.min(total, from + 1000); index += 1)
      pipeline.xadd(stream, '*', 'payload', payload, 'n', String(index));
    await pipeline.exec();
  }
}

async function assertDrained(redis: Redis, stream: string, total: number): Promise<void> {
  const [pending] = (await redis.xpending(stream, benchGroup)) as [number];
  assert.equal(pending, 0, 'nothing is pending');
  const [group] = (await redis.xinfo('GROUPS', stream)) as (string | number)[][];
  assert.equal(group?.[group.indexOf('entries-read') + 1] ?? total, total, 'everything was read');
}

async function measureLatency({ server, redis }: Bench): Promise<Figure[]> {
  await redis.flushall();
  const bus = createBus({ redis: server.url });
  const samples: number[] = [];
  let began = 0;
  let received: () => void = () => undefined;
  const consumer = bus.consume('idle', { group: benchGroup }, () => {
    samples.push(performance.now() - began);
    received();
  });
  await consumer.start();
  for (let index = 0; index < (flags.quick ? 300 : 1000); index += 1) {
    const arrived = new Promise<void>((resolve) => {
      received = resolve;
    });
    began = performance.now();
    await bus.publish('idle', { body: { n: String(index) } });
    await arrived;
    await sleep(2);
  }
  await bus.close();
  samples.sort((a, b) => a - b);
  const at = (part: number): number => samples[Math.floor(samples.length * part)] ?? NaN;
  return [
    figureOf('publish to handler, p50', 'ms', [at(0.5)]),
    figureOf('publish to handler, p99', 'ms', [at(0.99)], { text: 'under 5', met: (value) => value < 5 }),
  ];
}

async function measureClose({ server }: Bench): Promise<Figure> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bus = createBus({ redis: server.url });
    const consumer = bus.consume('idle', { group: benchGroup, blockMs: 5000 }, nothing);
    await consumer.start();
    await sleep(50);
    const began = performance.now();
    await consumer.close();
    times.push(performance.now() - began);
    await bus.close();
  }
  return figureOf('close while blocked', 'ms', times, { text: 'under 20', met: (value) => value < 20 });
}

void main();
