/** The sample that `npm start` shows, run as its own process against a real server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { eventually } from '../support/eventually';
import { startRedis, type RedisServer } from '../support/redisServer';
import { assertSample } from './support/assertSample';
import { endWorkers, forkWorker, startWorker } from './support/workerProcess';

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

  it('shows every state that the extension tells apart, and moves', async () => {
    const worker = startWorker(['sample', '--url', server.url]);
    await eventually(() => worker.output().includes('are there and moving'), { what: 'the sample to be there' });
    await assertSample(port);
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

describe('The sandbox', () => {
  after(endWorkers);

  it('serves the same sample without a Redis, until SIGTERM', async () => {
    const worker = startWorker(['sandbox']);
    const url = await eventually(() => /redis:\/\/\S+/.exec(worker.output())?.[0] ?? false, { what: 'the sandbox' });
    const port = await connectRedis({ url });
    try {
      assert.equal((await port.capabilities()).server, 'embedded');
      await assertSample(port);
    } finally {
      await port.close();
    }
    worker.kill('SIGTERM');
    assert.equal(await worker.ended, 0);
  });

  it('ends when the process that forked it is gone', async () => {
    const worker = forkWorker(['sandbox']);
    const [ready] = (await once(worker, 'message')) as [{ type: string; port: number }];
    assert.equal(ready.type, 'ready');
    const ended = once(worker, 'exit');
    worker.disconnect();
    assert.deepEqual(await ended, [0, null]);
  });

  it('says that its port is taken, and ends with 1', async () => {
    const first = startWorker(['sandbox']);
    const url = await eventually(() => /redis:\/\/\S+/.exec(first.output())?.[0] ?? false, { what: 'the sandbox' });
    const second = startWorker(['sandbox', '--port', new URL(url).port]);
    assert.equal(await second.ended, 1);
    assert.match(second.output(), /Port \d+ is taken/);
  });
});
