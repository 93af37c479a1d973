import { systemClock } from '../../base/clock';
import { connectRedis } from '../../bus/redis/connect';
import { createSampleEvents } from './sampleEvents';
import { sample } from './sampleNames';
import { runSampleTraffic } from './sampleTraffic';
import { seedSample } from './seedSample';

const seed = 20_240_601;

/**
 * Fills the server at the URL with sample streams unless they are there, and keeps them moving until SIGINT or SIGTERM. Answers the
 * exit code; rejects when the server cannot be reached or is lost.
 */
export async function runSample(url: string): Promise<number> {
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  const port = await connectRedis({ url, clientName: 'redis-streams-sample' });
  try {
    const events = createSampleEvents(seed);
    const isNew = await seedSample(port, events);
    process.stdout.write(
      isNew ? `Sample streams such as ${sample.orders} are there and moving.\n` : 'Sample traffic goes on.\n',
    );
    await runSampleTraffic({ port, events, clock: systemClock(), signal: stop.signal });
    return 0;
  } finally {
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
    await port.close();
  }
}
