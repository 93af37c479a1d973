/** Workers that die by SIGKILL at named points, and what the others make of what they left. Effects are counted in a list. */
import assert from 'node:assert/strict';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import { uniqueKey } from '../support/uniqueKey';
import { killCrashWorkers, startCrashWorker } from './support/crash';
import { isScriptCall } from './support/scriptCalls';
import { addNumbered, group, pendingRows, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

interface Effect {
  readonly n: string;
  readonly deliveryCount: number;
}

describe('a worker that is killed', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  beforeEach(() => world.redis.del('effects'));
  afterEach(() => killCrashWorkers());
  after(() => world.stop());

  const effects = async (): Promise<Effect[]> =>
    (await world.redis.lrange('effects', 0, -1)).map((text) => JSON.parse(text) as Effect);

  async function prepare(count: number): Promise<string> {
    const stream = uniqueKey();
    await world.redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
    await addNumbered(world.redis, stream, count);
    return stream;
  }

  const drained = (stream: string): Promise<true> =>
    eventually(async () => {
      const [info] = (await world.redis.xinfo('GROUPS', stream)) as (string | number)[][];
      const lastDelivered = info?.[info.indexOf('last-delivered-id') + 1];
      const [last] = await world.redis.xrevrange(stream, '+', '-', 'COUNT', 1);
      return lastDelivered === last?.[0] && (await pendingRows(world.redis, stream)).length === 0;
    });

  it('before its handler did anything: the entry has its effect once, by another worker', async () => {
    const stream = await prepare(5);
    const victim = await startCrashWorker({ url: world.server.url, stream, killAt: 'before-handler', killId: '2' });
    assert.equal(await victim.ended, 'SIGKILL');
    await startCrashWorker({ url: world.server.url, stream });
    await drained(stream);
    const done = (await effects()).filter(({ n }) => n === '2');
    assert.deepEqual(done, [{ n: '2', deliveryCount: 2 }]);
    assert.deepEqual(new Set((await effects()).map(({ n }) => n)), new Set(['0', '1', '2', '3', '4']));
  });

  it('after the effect and before it could acknowledge: the effect comes twice, and no more often', async () => {
    const stream = await prepare(3);
    const victim = await startCrashWorker({ url: world.server.url, stream, killAt: 'after-effect', killId: '1' });
    assert.equal(await victim.ended, 'SIGKILL');
    await startCrashWorker({ url: world.server.url, stream });
    await drained(stream);
    const counts = (await effects()).filter(({ n }) => n === '1').map(({ deliveryCount }) => deliveryCount);
    assert.deepEqual(counts, [1, 2]);
  });

  it('by the same entry again and again: it is dead-lettered after as many deliveries as it may have (I6)', async () => {
    for (const name of [undefined, 'fixed'] as const) {
      const stream = await prepare(1);
      const options = { url: world.server.url, stream, killAt: 'before-handler', killId: '0' } as const;
      for (let life = 1; life <= 3; life += 1) {
        const victim = await startCrashWorker({ ...options, ...(name === undefined ? {} : { name }) });
        assert.equal(await victim.ended, 'SIGKILL', `life ${life}`);
      }
      const survivor = await startCrashWorker({ ...options, ...(name === undefined ? {} : { name }) });
      await eventually(async () => (await world.redis.xlen(`${stream}:dlq`)) === 1);
      await survivor.kill();
      const [[, fields] = assert.fail()] = await world.redis.xrange(`${stream}:dlq`, '-', '+');
      assert.equal(fields[fields.indexOf('dl.reason') + 1], 'delivery-limit');
      assert.equal(fields[fields.indexOf('dl.deliveries') + 1], '3');
      assert.deepEqual(await effects(), []);
    }
  });

  for (const [what, match] of [
    ['before it could acknowledge', 'XACK'],
    ['in the middle of a dead-letter move', isScriptCall('deadLetter')],
    ['in the middle of scheduling a retry', isScriptCall('retryLater')],
  ] as const) {
    for (const fault of ['cut-before-forwarding', 'hold-reply'] as const) {
      const when = fault === 'hold-reply' ? 'after the server did it' : 'before the server heard of it';
      it(`${what}, ${when}: nothing is lost and nothing is dead twice (I8)`, async () => {
        const stream = await prepare(0);
        await world.redis.xadd(stream, '*', 'n', '0', ...(match === 'XACK' ? [] : ['fail', 'always']));
        const proxy = await startFaultProxy(world.server.port);
        try {
          const hit = proxy.next(match, fault);
          const victim = await startCrashWorker({ url: proxy.url, stream });
          await hit.fired;
          if (fault === 'hold-reply' && match === 'XACK')
            await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
          await victim.kill();
          hit.release();
          await startCrashWorker({ url: world.server.url, stream });
          await drained(stream);
          assert.equal(await world.redis.xlen(`${stream}:dlq`), match === 'XACK' ? 0 : 1);
          const runs = (await effects()).length;
          assert.ok(runs >= 1 && runs <= 3, `ran ${runs} times`);
        } finally {
          await proxy.stop();
        }
      });
    }
  }
});
