/** Every option of the bus is checked where it is given, and the message names it, what was given and what is expected. */
import assert from 'node:assert/strict';
import { createBus } from '../../src/bus';
import type { ConsumerOptions } from '../../src/bus';
import { resolveConsumerOptions } from '../../src/bus/consume/consumerOptions';
import { streamKey } from '../../src/bus/ids';
import { ConfigError } from '../../src/bus/options';
import type { ConfigErrorReason } from '../../src/bus/options';

const port = { add: () => null, run: () => null, openReader: () => null, close: () => Promise.resolve() };

function errorOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (ConfigError.is(error)) return error;
    throw error;
  }
  return assert.fail('it was accepted');
}

describe('the options of a consumer', () => {
  const wrong: readonly [object, ConfigErrorReason, string, RegExp][] = [
    [{ group: '' }, 'invalid-option', 'consumer.group', /expected text that is not empty, got ''/],
    [{ group: undefined }, 'invalid-option', 'consumer.group', /expected the name of a group, got none/],
    [{ name: 5 }, 'invalid-option', 'consumer.name', /got 5/],
    [{ concurency: 5 }, 'unknown-option', 'consumer.concurency', /is no option; known are group, name, concurrency/],
    [{ toString: 5 }, 'unknown-option', 'consumer.toString', /is no option/],
    [{ concurrency: 0 }, 'invalid-option', 'consumer.concurrency', /expected an integer from 1 to 10000, got 0/],
    [{ concurrency: '10' }, 'invalid-option', 'consumer.concurrency', /got '10'/],
    [{ prefetch: 1.5 }, 'invalid-option', 'consumer.prefetch', /got 1\.5/],
    [{ blockMs: 0 }, 'invalid-option', 'consumer.blockMs', /expected whole milliseconds from 1 to 2147483647, got 0/],
    [{ blockMs: 60_001 }, 'conflicting-options', 'consumer.blockMs', /at most 60000.*time limit, got 60001/],
    [{ blockMs: '30s' }, 'invalid-option', 'consumer.blockMs', /got '30s'/],
    [{ groupStart: '0x5' }, 'invalid-option', 'consumer.groupStart', /expected '0', '\$' or an entry id/],
    [{ createGroup: 'yes' }, 'invalid-option', 'consumer.createGroup', /true or false, got 'yes'/],
    [{ handlerTimeoutMs: Infinity }, 'invalid-option', 'consumer.handlerTimeoutMs', /got Infinity/],
    [
      { ownership: { minIdleMs: 2999, heartbeatMs: 1000 } },
      'conflicting-options',
      'consumer.ownership.minIdleMs',
      /at least three heartbeats \(3 x 1000 = 3000\), got 2999/,
    ],
    [{ ownership: { minIdleMs: 2 } }, 'conflicting-options', 'consumer.ownership.minIdleMs', /three heartbeats/],
    [{ ownership: { thread: 1 } }, 'invalid-option', 'consumer.ownership.thread', /got 1/],
    [{ retry: { maxDeliveries: 0 } }, 'invalid-option', 'consumer.retry.maxDeliveries', /at least 1, got 0/],
    [{ retry: { backoff: 500 } }, 'invalid-option', 'consumer.retry.backoff', /expected a function, got 500/],
    [{ retry: { redeliverInterval: '30s' } }, 'unknown-option', 'consumer.retry.redeliverInterval', /known are/],
    [{ reclaim: true }, 'invalid-option', 'consumer.reclaim', /expected false or an object of options, got true/],
    [{ reclaim: { count: 0 } }, 'invalid-option', 'consumer.reclaim.count', /got 0/],
    [{ deadLetters: { key: '' } }, 'invalid-option', 'consumer.deadLetters.key', /got ''/],
    [{ orderBy: 'key' }, 'invalid-option', 'consumer.orderBy', /expected a function/],
    [{ codec: {} }, 'invalid-option', 'consumer.codec', /expected an object with encode, decode, got an object/],
    [{ use: [5] }, 'invalid-option', 'consumer.use', /expected a list of functions, got a list/],
    [{ unroutable: 'drop' }, 'invalid-option', 'consumer.unroutable', /'dead-letter' or 'acknowledge', got 'drop'/],
    [{ log: console.log }, 'invalid-option', 'consumer.log', /expected an object with info, warn, error/],
  ];
  for (const [options, reason, option, message] of wrong) {
    it(`refuse ${JSON.stringify(options)}`, () => {
      const given = { group: 'g', ...options } as unknown as ConsumerOptions;
      const error = errorOf(() => resolveConsumerOptions(streamKey('s'), given));
      assert.deepEqual([error.reason, error.option], [reason, option]);
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(option.split('.', 2).join('.')), error.message);
    });
  }

  it('have defaults that fit together, and names of their own', () => {
    const first = resolveConsumerOptions(streamKey('s'), { group: 'g' });
    const second = resolveConsumerOptions(streamKey('s'), { group: 'g' });
    assert.notEqual(first.name, second.name);
    const { minIdleMs, heartbeatMs, concurrency, prefetch, blockMs, maxDeliveries, groupStart } = first;
    assert.deepEqual(
      { minIdleMs, heartbeatMs, concurrency, prefetch, blockMs, maxDeliveries, groupStart },
      {
        minIdleMs: 30_000,
        heartbeatMs: 10_000,
        concurrency: 10,
        prefetch: 10,
        blockMs: 5000,
        maxDeliveries: 3,
        groupStart: '0-0',
      },
    );
    const quick = resolveConsumerOptions(streamKey('s'), { group: 'g', ownership: { minIdleMs: 900 } });
    assert.equal(quick.heartbeatMs, 300);
  });
});

describe('the options of a bus', () => {
  it('name exactly one server', () => {
    assert.match(errorOf(() => createBus({})).message, /expected either redis or port, got neither/);
    assert.match(errorOf(() => createBus({ redis: 'redis://h', port: port as never })).message, /got both/);
    assert.equal(errorOf(() => createBus({ redis: 5 as never })).option, 'bus.redis');
    assert.equal(errorOf(() => createBus({ url: 'redis://h' } as never)).reason, 'unknown-option');
    assert.equal(errorOf(() => createBus({ redis: 'redis://h', env: '' })).option, 'bus.env');
  });

  it('never show a long value, which may be a secret', () => {
    const secret = `redis://user:${'s'.repeat(50)}@host`;
    const error = errorOf(() => createBus({ redis: 'redis://h', env: secret, port: secret as never }));
    assert.ok(!error.message.includes('sss'));
  });

  it('refuse handlers that are no functions', () => {
    const bus = createBus({ port: port as never });
    assert.equal(errorOf(() => bus.consume('s', { group: 'g' }, { created: 5 } as never)).option, 'handlers');
    assert.equal(errorOf(() => bus.consume('', { group: 'g' }, () => undefined)).option, 'stream');
  });
});
