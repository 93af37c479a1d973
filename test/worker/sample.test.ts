/** The sample that `npm start` shows, run as its own process against a real server. */
import assert from 'node:assert/strict';
import { readDeadLetter, streamKey } from '../../src/bus';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { sample } from '../../src/worker/sample/sampleNames';
import { eventually } from '../support/eventually';
import { startRedis, type RedisServer } from '../support/redisServer';
import { endWorkers, startWorker } from './support/workerProcess';

describe('The sample traffic', () => {
  let server: RedisServer;
  let port: RedisPort;

  before(async () => {
    server = await startRedis();
    port = await connectRedis({ url: server.url });
  });

  after(async () => {
    await endWorkers();
    await port.close();
    await server.stop();
  });

  const groupNamed = async (
    key: typeof sample.orders,
    name: string,
  ): Promise<{ pending: number; lag: number | null }> => {
    const group = (await port.groupInfos(key)).find((info) => info.name === name);
    assert.ok(group, `${key} has the group ${name}`);
    return { pending: group.pending, lag: group.lag ?? null };
  };

  it('shows every state that the extension tells apart, and moves', async () => {
    const worker = startWorker(['sample', '--url', server.url]);
    await eventually(() => worker.output().includes('are there and moving'), { what: 'the sample to be there' });

    assert.ok(((await groupNamed(sample.orders, 'analytics')).lag ?? 0) >= 150, 'a slow group lags');
    assert.equal(
      (await groupNamed(sample.audit, 'siem')).lag,
      await port.length(sample.audit),
      'nobody reads the audit log',
    );

    const [oldest] = await port.pending(sample.orders, sample.shipping.group, {
      from: 'min',
      to: 'max',
      count: 1,
      consumer: sample.shipping.stuck,
    });
    assert.ok((oldest?.idleMs ?? 0) >= 41 * 60_000, 'a consumer has been stuck for 41 minutes');
    assert.equal(oldest?.deliveryCount, 4);

    const [lost] = await port.pending(sample.readings, sample.alerts.group, { from: 'min', to: 'max', count: 1 });
    assert.ok(lost);
    assert.deepEqual(
      await port.range(sample.readings, { from: lost.id, to: lost.id, count: 1 }),
      [],
      'its message is gone',
    );

    const dead = await port.range(streamKey('shop:orders:dlq'), { from: 'min', to: 'max', count: 100 });
    const reasons = new Set(dead.map((entry) => readDeadLetter(entry).failure.reason));
    assert.deepEqual([...reasons].sort(), ['handler-error', 'invalid', 'timeout']);

    const length = await port.length(sample.orders);
    await eventually(async () => (await port.length(sample.orders)) > length + 2, { what: 'orders to be published' });
    await eventually(async () => (await groupNamed(sample.payments, 'ledger')).pending > 0, {
      what: 'the poison to be pending',
    });

    worker.kill('SIGTERM');
    assert.equal(await worker.ended, 0);
  });

  it('goes on where it stopped when it is started again', async () => {
    const worker = startWorker(['sample', '--url', server.url]);
    await eventually(() => worker.output().includes('goes on'), { what: 'the sample to go on' });
    worker.kill('SIGINT');
    assert.equal(await worker.ended, 0);
  });

  it('says why when the server is not there, and ends with 1', async () => {
    const worker = startWorker(['sample', '--url', 'redis://127.0.0.1:1']);
    assert.equal(await worker.ended, 1);
    assert.match(worker.output(), /127\.0\.0\.1:1/);
  });

  for (const args of [[], ['nonsense'], ['sample'], ['sample', '--nonsense']]) {
    it(`shows its usage and ends with 2 for the arguments ${JSON.stringify(args)}`, async () => {
      const worker = startWorker(args);
      assert.equal(await worker.ended, 2);
      assert.match(worker.output(), /Usage: /);
    });
  }
});
