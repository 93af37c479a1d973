// Half an hour of the differential test of the embedded engine. EMBEDDED_FUZZ_MINUTES sets another time.
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import { sequence } from '../embedded/support/commandArbitrary';
import { ServerPair } from '../embedded/support/differential';
import { startRedis } from '../support/redisServer';

const minutes = Number(process.env.EMBEDDED_FUZZ_MINUTES ?? 30);

describe('the embedded engine and a real server, for long', function () {
  this.timeout((minutes + 10) * 60_000);

  it(`cannot be told apart in ${minutes} minutes`, async () => {
    const redis = await startRedis();
    const embedded = await startRespServer({ engine: new EmbeddedServer({ clock: systemClock() }).engine });
    const pairs = [
      await ServerPair.open(redis.port, embedded.port, 2),
      await ServerPair.open(redis.port, embedded.port, 3),
    ];
    try {
      await fc.assert(
        fc.asyncProperty(sequence, async (steps) => {
          for (const pair of pairs) await pair.run(steps);
        }),
        { numRuns: 10_000_000, plugins: [fc.interruptAfterTimeLimit(minutes * 60_000)] },
      );
    } finally {
      for (const pair of pairs) pair.close();
      await embedded.close();
      await redis.stop();
    }
  });
});
