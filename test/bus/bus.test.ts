/** The bus as a library: bundled into one file, loaded by plain Node, its heartbeat thread from the same file. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { uniqueKey } from '../support/uniqueKey';
import { startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

const program = `
const { createBus, json, topic, Reject } = require('./bus.js');
async function main() {
  const [url, stream] = process.argv.slice(2);
  const bus = createBus({ redis: url, env: 'dev' });
  const orders = topic(stream, { retention: { maxLength: 1000 }, codec: json() });
  const seen = [];
  let finish;
  const dead = new Promise((resolve) => { finish = resolve; });
  const consumer = bus.consume(orders, { group: 'g', ownership: { thread: true } }, {
    placed: async ({ body, id }, { deliveryCount }) => {
      if (body.n === 2) throw new Reject('no');
      seen.push([body.n, deliveryCount]);
    },
  });
  consumer.on('dead-lettered', ({ reason }) => finish(reason));
  await consumer.start();
  await bus.publish(orders, { type: 'placed', body: { n: 1 } }, { dedupeKey: 'a' });
  await bus.publish(orders, { type: 'placed', body: { n: 1 } }, { dedupeKey: 'a' });
  await bus.publish(orders, { type: 'placed', body: { n: 2 } });
  const reason = await dead;
  const count = await bus.deadLetters(orders).count();
  await bus.close();
  console.log(JSON.stringify({ seen, reason, count }));
}
main();
`;

describe('the bus as a library', () => {
  let world: BusWorld;
  const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-bus-'));
  before(async () => {
    world = await startBusWorld();
    await build({
      entryPoints: [path.resolve(import.meta.dirname, '../../src/bus/index.ts')],
      outfile: path.join(folder, 'bus.js'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      logLevel: 'silent',
    });
    writeFileSync(path.join(folder, 'program.js'), program);
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await world.stop();
  });

  it('is one file that publishes, consumes with a heartbeat thread, dead-letters, and lets the process end', async () => {
    const stream = uniqueKey();
    const run = await promisify(execFile)(
      process.execPath,
      [path.join(folder, 'program.js'), world.server.url, stream],
      {
        timeout: 30_000,
      },
    );
    assert.equal(run.stderr, '');
    assert.deepEqual(JSON.parse(run.stdout), { seen: [[1, 1]], reason: 'rejected', count: 1 });
    assert.equal(await world.redis.xlen(`dev:${stream}`), 2);
  });
});
