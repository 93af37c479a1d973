// The scripts of the bus: each native twin against its Lua text on a real server.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock';
import { allScripts } from '../../src/bus/scripts';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import type { RespServer } from '../../src/embedded';
import { ReplyError } from '../../src/embedded/reply';
import { busTwins } from '../../src/embedded/scripts/registry';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { ServerPair } from './support/differential';
import { EngineClient } from './support/engineClient';
import { normaliseScripts } from './support/scriptNormalise';
import { scriptSequence } from './support/scriptSequence';

describe("the bus's scripts in the embedded engine", function () {
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

  it('have a twin each', () => {
    assert.deepEqual(
      allScripts.map(({ name, sha1 }) => [name, busTwins.get(sha1)?.name]),
      allScripts.map(({ name }) => [name, name]),
    );
  });

  for (const protocol of [2, 3] as const) {
    it(`cannot be told apart from their Lua over RESP${protocol}`, async () => {
      const pair = await ServerPair.open(redis.port, embedded.port, protocol, normaliseScripts);
      const called = new Set<string>();
      try {
        await fc.assert(
          fc.asyncProperty(scriptSequence, async (steps) => {
            for (const { script } of steps) if (script !== undefined) called.add(script);
            await pair.run(steps);
          }),
          { numRuns: 100_000, plugins: [fc.interruptAfterTimeLimit(5_000)] },
        );
      } finally {
        pair.close();
      }
      assert.deepEqual([...called].sort(), allScripts.map(({ name }) => name).sort());
    });
  }

  it('run by their hash without having been loaded, and any other script is a clear error', () => {
    const client = new EngineClient(new EmbeddedServer().engine);
    const [script] = allScripts;
    assert.deepEqual(client.send('SCRIPT', 'EXISTS', script.sha1, 'ffff'), [1, 0]);
    const unknown = client.send('EVAL', "return 'x'", '0');
    assert.ok(unknown instanceof ReplyError);
    assert.match(unknown.message, /^ERR the sandbox runs no Lua/);
    const missing = client.send('EVALSHA', 'f'.repeat(40), '0');
    assert.ok(missing instanceof ReplyError);
    assert.equal(missing.code, 'NOSCRIPT');
  });
});
