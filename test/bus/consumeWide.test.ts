/** An entry with more fields than a script can pass on is dead-lettered in two steps; what that means when the process or the link breaks between them. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { Reject } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import { uniqueKey } from '../support/uniqueKey';
import { collect, group, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { killCrashWorkers, startCrashWorker } from './support/crash';
import { isScriptCall } from './support/scriptCalls';

describe('an entry of more than 3,950 fields that dies', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => Promise.all([world.closeBuses(), killCrashWorkers()]));
  after(() => world.stop());

  const wide = Array.from({ length: 3951 }, (_, index) => [`f${index % 3000}`, String(index)]).flat();
  const lettersOf = async (stream: string): Promise<string[][]> =>
    (await world.redis.xrange(`${stream}:dlq`, '-', '+')).map(([, fields]) => fields);

  // Compared here, because the difference of such lists takes minutes to print.
  const isWhole = (letter: readonly string[]): boolean => isDeepStrictEqual(letter.slice(0, -22), wide);

  it('is copied with the block behind it, then acknowledged', async () => {
    const stream = uniqueKey();
    const consumer = world.bus().consume(stream, quickOptions(), () => {
      throw new Reject('no');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const id = await world.redis.xadd(stream, '*', ...wide);
    await eventually(() => dead.length === 1);
    assert.deepEqual(await pendingRows(world.redis, stream), []);
    const [letter = assert.fail(), ...others] = await lettersOf(stream);
    assert.equal(others.length, 0);
    assert.ok(isWhole(letter), 'every field, in order, duplicates included');
    assert.deepEqual(letter.slice(-22, -18), ['dl.id', id, 'dl.entry', id]);
    const [replayed] = await world.bus().deadLetters(stream).replay({ where: {} });
    assert.equal(replayed?.status, 'too-wide', 'and no replay takes it back');
  });

  for (const fault of ['cut-before-forwarding', 'swallow-reply'] as const)
    it(`is there once also when the link breaks between the copy and the acknowledgement (${fault})`, async () => {
      const stream = uniqueKey();
      const proxy = await startFaultProxy(world.server.port);
      try {
        const hit = proxy.next(isScriptCall('guardedAcknowledge'), fault);
        const consumer = world.bus({ redis: proxy.url }).consume(stream, quickOptions(), () => {
          throw new Reject('no');
        });
        const failed = collect(consumer, 'dead-letter-failed');
        const dead = collect(consumer, 'dead-lettered');
        await consumer.start();
        await world.redis.xadd(stream, '*', ...wide);
        await hit.fired;
        await eventually(() => dead.length === 1);
        assert.equal(failed.length, 1);
        assert.deepEqual(await pendingRows(world.redis, stream), []);
        const letters = await lettersOf(stream);
        assert.deepEqual(letters.map(isWhole), [true]);
      } finally {
        await world.closeBuses();
        await proxy.stop();
      }
    });

  it('is there twice, and not lost, when the process dies between the copy and the acknowledgement', async () => {
    const stream = uniqueKey();
    const proxy = await startFaultProxy(world.server.port);
    try {
      await world.redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
      const id = await world.redis.xadd(stream, '*', ...wide, 'fail', 'always');
      const hit = proxy.next(isScriptCall('guardedAcknowledge'), 'cut-before-forwarding');
      const victim = await startCrashWorker({ url: proxy.url, stream });
      await hit.fired;
      // It shall not get a second chance.
      await proxy.setMode('refuse');
      await victim.kill();
      assert.equal((await lettersOf(stream)).length, 1);
      assert.deepEqual(
        (await pendingRows(world.redis, stream)).map((row) => row.id),
        [id],
      );
      await startCrashWorker({ url: world.server.url, stream });
      await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
      assert.equal((await lettersOf(stream)).length, 2);
    } finally {
      await proxy.stop();
    }
  });
});
