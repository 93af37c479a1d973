// COMMAND INFO of the engine against a real server's.
import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import { commandFacts } from '../../src/embedded/commands/facts';
import { serverUnderTest, startRedis } from '../support/redisServer';
import type { Wire } from './support/wireClient';
import { WireClient } from './support/wireClient';

describe('COMMAND INFO of the embedded engine', () => {
  it('says of each command what Redis 7.0 says', async function () {
    if (!serverUnderTest().version.startsWith('7.0.')) this.skip();
    const redis = await startRedis();
    const embedded = await startRespServer({ engine: new EmbeddedServer({ clock: systemClock() }).engine });
    const clients = [await WireClient.open(redis.port), await WireClient.open(embedded.port)];
    try {
      const command = ['COMMAND', 'INFO', ...commandFacts.map(({ name }) => name)];
      const [left, right] = await Promise.all(clients.map((client) => client.send(...command)));
      assert.deepEqual(facts(right), facts(left));
    } finally {
      for (const client of clients) client.close();
      await embedded.close();
      await redis.stop();
    }
  });
});

/** Name, arity, flags, keys and categories; what follows is not answered by the engine. */
function facts(reply: Wire | undefined): unknown[] {
  assert.ok(Array.isArray(reply));
  return (reply as readonly Wire[]).map((row) => (Array.isArray(row) ? (row as readonly Wire[]).slice(0, 7) : row));
}
