// The contract of StreamPort on a real server, over RESP2 and RESP3.
import { Redis } from 'ioredis';
import { textToBytes } from '../../src/base/byteText';
import { connectRedis } from '../../src/bus/redis/connect';
import { startRedis } from '../support/redisServer';
import { describeStreamPort } from './streamPort.contract';

for (const protocol of [2, 3] as const) {
  describeStreamPort(`the Redis port over RESP${protocol}`, async () => {
    const server = await startRedis();
    const port = await connectRedis({ url: server.url, protocol });
    const client = new Redis(server.url);
    return {
      port,
      openAnother: () => connectRedis({ url: server.url, protocol }),
      makeOtherKey: async (key) => {
        await client.set(textToBytes(key), 'text');
      },
      countBlocked: async () => Number(/blocked_clients:(\d+)/.exec(await client.info('clients'))?.[1]),
      expire: async (key) => {
        await client.expire(textToBytes(key), 1000);
      },
      close: async () => {
        client.disconnect();
        await port.close();
        await server.stop();
      },
    };
  });
}
