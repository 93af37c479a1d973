// A worker that is killed at a named point of handling a message once: `MODE` says by what it does that, `KILL_AT` where it dies. Its effects
// are in a list in Redis, or in a table in inbox mode. Started by onceCrash.ts.
import { Redis } from 'ioredis';
import { createBus, idempotent } from '../../../src/bus';
import type { Message, Middleware } from '../../../src/bus';
import { postgresIdempotencyStore } from '../../../src/worker/postgres/idempotencyStore';
import { postgresInbox } from '../../../src/worker/postgres/inbox';
import { openPool } from '../../../src/worker/postgres/pool';

const { REDIS_URL = '', DATABASE_URL = '', STREAM = '', MODE = '', KILL_AT = '', GROUP = '' } = process.env;
const leaseMs = 400;

async function main(): Promise<void> {
  const effects = new Redis(REDIS_URL);
  const bus = createBus({ redis: REDIS_URL });
  const pool = openPool(DATABASE_URL);
  const intoList = async ({ fields: { n = '' } }: Message): Promise<void> => {
    await effects.rpush(`effects:${STREAM}`, n);
    if (KILL_AT === 'after-effect') die();
  };
  const intoTable = postgresInbox(pool).handler(async ({ fields: { n = '' } }, _context, client) => {
    await client.query('insert into effects (stream, n) values ($1, $2)', [STREAM, n]);
    if (KILL_AT === 'after-effect') die();
  });
  const store = MODE === 'postgres' ? postgresIdempotencyStore(pool) : bus.idempotencyStore();
  // Outermost: what it sees returning is acknowledged next.
  const dieAfter: Middleware = async (_message, _context, next) => {
    await next();
    if (KILL_AT === 'before-acknowledgement') die();
  };
  const consumer = bus.consume(
    STREAM,
    {
      group: GROUP,
      blockMs: 100,
      ownership: { minIdleMs: 600, heartbeatMs: 100 },
      retry: { maxDeliveries: 10, backoff: () => 20 },
      reclaim: { intervalMs: 50 },
      use: MODE === 'inbox' ? [dieAfter] : [dieAfter, idempotent(store, { leaseMs })],
    },
    MODE === 'inbox' ? intoTable : intoList,
  );
  await consumer.start();
  process.stdout.write('ready\n');
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before this returns control to anything that matters.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

void main();
