// The contract of StreamPort on the embedded engine: in the process, and through its RESP server with the port for real servers.
import { Redis } from 'ioredis';
import { systemClock } from '../../src/base/clock';
import { textToBytes } from '../../src/base/byteText';
import type { StreamKey } from '../../src/bus/ids';
import { connectRedis } from '../../src/bus/redis/connect';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import { describeStreamPort } from '../bus/streamPort.contract';
import { EngineClient } from './support/engineClient';

describeStreamPort('the embedded port', () => {
  const server = new EmbeddedServer({ clock: systemClock() });
  const port = server.process('main').openPort();
  const client = new EngineClient(server.engine);
  return Promise.resolve({
    port,
    openAnother: () => Promise.resolve(server.process('other').openPort()),
    makeOtherKey: (key) => client.done('SET', textToBytes(key), 'text'),
    countBlocked: () => Promise.resolve(server.engine.blocking.count),
    expire: (key) => client.done('EXPIRE', textToBytes(key), '1000'),
    close: () => port.close(),
  });
});

for (const protocol of [2, 3] as const) {
  describeStreamPort(`the Redis port on the sandbox server over RESP${protocol}`, async () => {
    const { engine } = new EmbeddedServer({ clock: systemClock(), password: 'secret' });
    const server = await startRespServer({ engine });
    const url = `redis://:secret@${server.host}:${server.port}`;
    const port = await connectRedis({ url, protocol });
    const client = new Redis(url);
    return {
      port,
      openAnother: () => connectRedis({ url, protocol }),
      makeOtherKey: async (key: StreamKey) => {
        await client.set(textToBytes(key), 'text');
      },
      countBlocked: async () => Number(/blocked_clients:(\d+)/.exec(await client.info('clients'))?.[1]),
      expire: async (key: StreamKey) => {
        await client.expire(textToBytes(key), 1000);
      },
      close: async () => {
        client.disconnect();
        await port.close();
        await server.close();
      },
    };
  });
}
