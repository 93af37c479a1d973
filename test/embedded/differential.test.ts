// The embedded engine against a real redis-server: the same random commands, the same replies, the same state after each of them.
// Entries are aged with XCLAIM IDLE instead of sleeping. test/long/embeddedDifferential.test.ts runs the same for half an hour.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import type { RespServer } from '../../src/embedded';
import { Stream } from '../../src/embedded/data/stream';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { sequence } from './support/commandArbitrary';
import { ServerPair } from './support/differential';

describe('the embedded engine and a real server', function () {
  this.timeout(120_000);
  let redis: RedisServer;
  let embedded: RespServer;

  before(async () => {
    redis = await startRedis();
    embedded = await startRespServer({ engine: new EmbeddedServer({ clock: systemClock() }).engine });
  });
  after(async () => {
    await embedded.close();
    await redis.stop();
  });

  for (const protocol of [2, 3] as const) {
    it(`cannot be told apart over RESP${protocol}`, async () => {
      const pair = await ServerPair.open(redis.port, embedded.port, protocol);
      let commands = 0;
      try {
        await fc.assert(
          fc.asyncProperty(sequence, async (steps) => {
            commands += steps.length;
            await pair.run(steps);
          }),
          { numRuns: 100_000, plugins: [fc.interruptAfterTimeLimit(5_000)] },
        );
      } finally {
        pair.close();
      }
      assert.ok(commands > 0);
    });
  }

  it('are told apart when the engine makes one mistake, which is found and shrunk to a few commands', async () => {
    const settleFirstId = Object.getOwnPropertyDescriptor(Stream.prototype, 'settleFirstId');
    assert.ok(settleFirstId);
    // The mutant forgets that deleting the first entry changes which one is first.
    Stream.prototype.settleFirstId = () => undefined;
    const pair = await ServerPair.open(redis.port, embedded.port, 2);
    try {
      const found = await fc.check(
        fc.asyncProperty(sequence, (steps) => pair.run(steps)),
        { numRuns: 5_000 },
      );
      assert.equal(found.failed, true, 'the mutant was not found');
      const [steps] = found.counterexample ?? [];
      assert.ok(steps && steps.length <= 8, `shrunk to ${steps?.length} commands only`);
    } finally {
      pair.close();
      Object.defineProperty(Stream.prototype, 'settleFirstId', settleFirstId);
    }
  });
});
