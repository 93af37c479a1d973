// Approximate trims remove what Redis removes: the engine's nodes end where Redis's do, whatever the size of the entries.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import { startRedis } from '../support/redisServer';
import { WireClient } from './support/wireClient';

const size = fc.oneof(
  fc.constantFrom(0, 1, 2, 62, 63, 64, 65, 126, 127, 4093, 4095, 4096),
  fc.nat(300),
  fc.nat(20_000),
);
const value = fc.oneof(
  { weight: 3, arbitrary: size.map((length) => 'v'.repeat(length)) },
  fc.constantFrom(
    '127',
    '128',
    '4095',
    '4096',
    '-4097',
    '32768',
    '8388608',
    '2147483648',
    '9223372036854775807',
    '9223372036854775808',
    '-0',
    '01',
  ),
);
const entry = fc.tuple(fc.constantFrom('a', 'a', 'b'), value, fc.boolean());
const trim = fc.tuple(
  fc.constantFrom('MAXLEN', 'MINID'),
  fc.constantFrom('~', '='),
  fc.nat(400),
  fc.option(fc.nat(300)),
);

describe('the nodes of a stream in the embedded engine', function () {
  this.timeout(60_000);

  it('hold what those of a real server hold, seen by approximate trims and XINFO', async () => {
    const redis = await startRedis();
    const embedded = await startRespServer({ engine: new EmbeddedServer({ clock: systemClock() }).engine });
    const clients = [await WireClient.open(redis.port), await WireClient.open(embedded.port)];
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(entry, { minLength: 1, maxLength: 40, size: 'max' }),
          fc.integer({ min: 1, max: 12 }),
          fc.array(fc.nat(400), { maxLength: 60, size: 'max' }),
          fc.array(trim, { minLength: 1, maxLength: 4 }),
          async (entries, repeats, deletions, trims) => {
            const commands: string[][] = [['FLUSHALL']];
            let n = 0;
            for (let round = 0; round < repeats; round++) {
              for (const [name, text, isWide] of entries) {
                n += 1;
                commands.push([
                  'XADD',
                  's',
                  `${Math.floor(n / 3)}-${n}`,
                  name,
                  text,
                  ...(isWide ? ['c', text.slice(0, 9)] : []),
                ]);
              }
            }
            for (const at of deletions) commands.push(['XDEL', 's', `${Math.floor(at / 3)}-${at}`]);
            const look = [
              ['XINFO', 'STREAM', 's'],
              ['XRANGE', 's', '-', '+', 'COUNT', '3'],
            ];
            commands.push(...look);
            for (const [strategy, mark, bound, limit] of trims) {
              const threshold = strategy === 'MAXLEN' ? String(bound) : `${Math.floor(bound / 3)}-${bound}`;
              const limited = limit === null || mark === '=' ? [] : ['LIMIT', String(limit)];
              commands.push(['XTRIM', 's', strategy, mark, threshold, ...limited], ...look);
            }
            const [left, right] = await Promise.all(clients.map((client) => client.sendAll(commands)));
            for (const [at, command] of commands.entries())
              assert.deepEqual(right?.[at], left?.[at], command.join(' ').slice(0, 99));
          },
        ),
        { numRuns: 10_000, plugins: [fc.interruptAfterTimeLimit(5_000)] },
      );
    } finally {
      for (const client of clients) client.close();
      await embedded.close();
      await redis.stop();
    }
  });
});
