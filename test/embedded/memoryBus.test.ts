// A bus without a server takes the options that any bus takes.
import assert from 'node:assert/strict';
import { createMemoryBus } from '../../src/embedded';

describe('A memory bus', () => {
  it('puts the environment before streams and lets middleware go around publishing, in every process', async () => {
    const seen: string[] = [];
    const memory = createMemoryBus({
      env: 'test',
      use: [
        (outgoing, next) => {
          seen.push(outgoing.stream);
          return next();
        },
      ],
    });
    const buses = [memory.bus, memory.open('other')];
    for (const bus of buses) await bus.publish('orders', { body: { n: '1' } });
    assert.deepEqual(seen, ['test:orders', 'test:orders']);
    assert.equal((await memory.bus.inspect('orders')).length, 2);
    for (const bus of buses) await bus.close();
  });

  it('refuses options that no bus has', () => {
    const options = { environment: 'test' } as object;
    assert.throws(() => createMemoryBus(options), /bus\.environment/);
  });
});
