// A quarter of an hour of consume histories in virtual time, and one of scripts against their Lua. EMBEDDED_FUZZ_MINUTES sets the sum.
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import { calmHistory, runHistory, stormyHistory } from '../embedded/support/consumeHistory';
import { ServerPair } from '../embedded/support/differential';
import { normaliseScripts } from '../embedded/support/scriptNormalise';
import { scriptSequence } from '../embedded/support/scriptSequence';
import { startRedis } from '../support/redisServer';

const minutes = Number(process.env.EMBEDDED_FUZZ_MINUTES ?? 30) / 2;
const limits = { numRuns: 10_000_000, plugins: [fc.interruptAfterTimeLimit(minutes * 60_000)] };

describe('the embedded engine, for long', function () {
  this.timeout((minutes + 10) * 60_000);

  it('lets the consume loop keep its promises', async () => {
    await fc.assert(fc.asyncProperty(fc.oneof(calmHistory, stormyHistory), runHistory), limits);
  });

  it('runs the scripts as their Lua does', async () => {
    const redis = await startRedis();
    const embedded = await startRespServer({ engine: new EmbeddedServer({ clock: systemClock() }).engine });
    const pair = await ServerPair.open(redis.port, embedded.port, 3, normaliseScripts);
    try {
      await fc.assert(
        fc.asyncProperty(scriptSequence, (steps) => pair.run(steps)),
        limits,
      );
    } finally {
      pair.close();
      await embedded.close();
      await redis.stop();
    }
  });
});
