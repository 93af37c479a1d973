// A worker that is killed at a named point: `KILL_AT` says where, `KILL_ID` for which entry (by its field `n`). It writes what it did
// to the list `effects`. Started by crash.ts.
import { Redis } from 'ioredis';
import { createBus } from '../../../src/bus';
import { group } from './busWorld';

const { REDIS_URL = '', STREAM = '', KILL_AT = '', KILL_ID = '', NAME, MIN_IDLE_MS = '600', JOURNAL } = process.env;

async function main(): Promise<void> {
  const effects = new Redis(REDIS_URL);
  // The proxy breaks its links too; what was not written is no effect.
  effects.on('error', () => undefined);
  const bus = createBus({ redis: REDIS_URL });
  const consumer = bus.consume(
    STREAM,
    {
      group,
      ...(NAME === undefined ? {} : { name: NAME }),
      blockMs: 100,
      ownership: { minIdleMs: Number(MIN_IDLE_MS), heartbeatMs: 100 },
      retry: { maxDeliveries: 3, backoff: () => 20 },
      reclaim: { intervalMs: 50 },
      journal: JOURNAL === 'true',
    },
    async ({ fields }, { deliveryCount }) => {
      const isVictim = fields.n === KILL_ID;
      if (isVictim && KILL_AT === 'before-handler') die();
      await effects.rpush('effects', JSON.stringify({ n: fields.n, deliveryCount }));
      if (isVictim && KILL_AT === 'after-effect') die();
      if (fields.fail === 'always') throw new Error('dies');
    },
  );
  consumer.on('acknowledged', ({ ids }) => {
    process.stdout.write(`acknowledged ${ids.length}\n`);
  });
  await consumer.start();
  process.stdout.write('ready\n');
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before this returns control to anything that matters.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

void main();
