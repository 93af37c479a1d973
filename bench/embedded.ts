/**
 * The sandbox's RESP server next to a redis-server in the same run: XADD, XREADGROUP + XACK and XRANGE 100 with pipelining 100, at
 * 10^4, 10^5 and 10^6 entries, and the memory of an entry. Both servers run in processes of their own, one client drives both.
 *
 *   npx tsx bench/embedded.ts [--quick] [--json]
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redisServer';
import { encode, LoadClient } from './embeddedLoad';
import { figureOf, readBenchFlags, report } from './support/report';
import type { Figure } from './support/report';

const flags = readBenchFlags();
const sizes = flags.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000];
const rounds = flags.quick ? 1 : 3;
const batch = 100;
const fields = [
  'type',
  'order.created',
  'orderId',
  '8f14e45f-ceea-467f-a83d-0f9a1b7c2d3e',
  'amount',
  '1299',
  'currency',
  'EUR',
];

interface Target {
  readonly name: 'redis' | 'embedded';
  readonly client: LoadClient;
  memory(): Promise<number>;
  /** Operations a second, by what was measured. */
  readonly rates: Map<string, number[]>;
  readonly bytesPerEntry: number[];
}

async function main(): Promise<void> {
  const redis = await startRedis();
  const admin = new Redis(redis.url);
  const child = startChild();
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const nextLine = async (): Promise<string> => String((await once(lines, 'line'))[0]);
  const port = Number(await nextLine());
  const targets: Target[] = [
    {
      name: 'redis',
      client: await LoadClient.open(redis.port),
      memory: async () => Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]),
      rates: new Map(),
      bytesPerEntry: [],
    },
    {
      name: 'embedded',
      client: await LoadClient.open(port),
      memory: async () => {
        const line = nextLine();
        child.stdin?.write('memory\n');
        return Number(await line);
      },
      rates: new Map(),
      bytesPerEntry: [],
    },
  ];
  try {
    for (const target of targets) await warmUp(target);
    for (let round = 0; round < rounds; round++) for (const target of targets) await measure(target);
  } finally {
    for (const { client } of targets) client.close();
    admin.disconnect();
    child.stdin?.end();
    await once(child, 'exit');
    await redis.stop();
  }
  report('Embedded engine and redis-server over RESP, pipelining 100', figures(targets), flags);
}

function startChild(): ChildProcess {
  const program = path.resolve(import.meta.dirname, 'embeddedChild.ts');
  return spawn(process.execPath, ['--expose-gc', '--import=tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Both servers are measured as they run after a while, not as they start. */
async function warmUp(target: Target): Promise<void> {
  const { client, rates } = target;
  for (let n = 0; n < 2; n++) {
    await client.send(Buffer.from(encode(['FLUSHALL'])), 1);
    await client.send(Buffer.from(encode(['XGROUP', 'CREATE', 's', 'g', '0', 'MKSTREAM'])), 1);
    await addUpTo(client, 0, 20_000);
    await consume(client, 0, 20_000);
    await ranges(client, 20_000, 1000);
  }
  rates.clear();
}

async function measure(target: Target): Promise<void> {
  const { client } = target;
  await client.send(Buffer.from(encode(['FLUSHALL'])), 1);
  await client.send(Buffer.from(encode(['XGROUP', 'CREATE', 's', 'g', '0', 'MKSTREAM'])), 1);
  const before = await target.memory();
  let length = 0;
  for (const size of sizes) {
    const measured = Math.min(20_000, size / 2);
    await addUpTo(client, length, size - measured);
    await rate(target, `XADD at ${label(size)}`, measured, () => addUpTo(client, size - measured, size));
    length = size;
    if (size === sizes[sizes.length - 1]) target.bytesPerEntry.push(((await target.memory()) - before) / size);
    const reads = Math.min(20_000, size / 2);
    await client.send(Buffer.from(encode(['XGROUP', 'SETID', 's', 'g', `${size - reads}-0`])), 1);
    await rate(target, `XREADGROUP + XACK at ${label(size)}`, reads, () => consume(client, size - reads, size));
    await rate(target, `XRANGE 100 at ${label(size)}`, 2000, () => ranges(client, size, 2000));
  }
}

async function rate(target: Target, name: string, operations: number, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  target.rates.set(name, [...(target.rates.get(name) ?? []), operations / seconds]);
}

async function addUpTo(client: LoadClient, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += batch) {
    let text = '';
    for (let n = at + 1; n <= at + batch; n++) text += encode(['XADD', 's', `${n}-0`, ...fields]);
    await client.send(Buffer.from(text), batch);
  }
}

async function consume(client: LoadClient, from: number, to: number): Promise<void> {
  const read = encode(['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', String(batch), 'STREAMS', 's', '>']);
  for (let at = from; at < to; at += batch) {
    const ids = Array.from({ length: batch }, (_, n) => `${at + n + 1}-0`);
    await client.send(Buffer.from(read + encode(['XACK', 's', 'g', ...ids])), 2);
  }
}

async function ranges(client: LoadClient, size: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += batch) {
    let text = '';
    for (let n = at; n < at + batch; n++) {
      const start = 1 + ((n * 7919) % (size - batch));
      text += encode(['XRANGE', 's', `${start}-0`, '+', 'COUNT', '100']);
    }
    await client.send(Buffer.from(text), batch);
  }
}

function figures(targets: readonly Target[]): Figure[] {
  const [redis, embedded] = targets;
  if (!redis || !embedded) return [];
  const found: Figure[] = [];
  for (const [name, rates] of embedded.rates) {
    const others = redis.rates.get(name) ?? [];
    found.push(figureOf(`redis-server: ${name}`, 'ops/s', others), figureOf(`embedded: ${name}`, 'ops/s', rates));
    const ratios = rates.map((one, round) => one / (others[round] ?? Number.NaN));
    found.push(figureOf(`ratio: ${name}`, 'x', ratios, { text: '>= 0.3', met: (ratio) => ratio >= 0.3 }));
  }
  for (const operation of ['XADD', 'XREADGROUP + XACK', 'XRANGE 100']) {
    const smallest = embedded.rates.get(`${operation} at ${label(sizes[0] ?? 0)}`) ?? [];
    const largest = embedded.rates.get(`${operation} at ${label(sizes[sizes.length - 1] ?? 0)}`) ?? [];
    const growth = smallest.map((one, round) => one / (largest[round] ?? Number.NaN));
    const text = '<= 2: flat';
    found.push(
      figureOf(`embedded: cost of ${operation}, largest to smallest`, 'x', growth, { text, met: (x) => x <= 2 }),
    );
  }
  for (const { name, bytesPerEntry } of targets)
    found.push(figureOf(`${name}: memory of an entry`, 'bytes', bytesPerEntry));
  return found;
}

function label(size: number): string {
  return `10^${Math.round(Math.log10(size))}`;
}

void main();
