// A gateway or a worker of the runs application that is killed at a named point: `KILL_AT` names a method of the store, a statement of its
// SQL, a command or a script of the bus, or `execute`, `KILL_WHEN` says before or after it, `KILL_HIT` at which call. Made of the application's own parts;
// the points are around them. Started by killWorld.ts.
import { connectRedis, createBus, lazyPort } from '../../../src/bus';
import type { Bus, HandlerLog, StreamPort } from '../../../src/bus';
import { createGatewayApp } from '../../../src/worker/gateway/gatewayApp';
import { serveHttp } from '../../../src/worker/gateway/httpServer';
import { openPool } from '../../../src/worker/postgres/pool';
import { echo } from '../../../src/worker/runs/echo';
import { PostgresRunStore } from '../../../src/worker/runs/postgresRunStore';
import { createRunsConsumer, createSweeper } from '../../../src/worker/runs/runsWorker';
import type { RunsParts } from '../../../src/worker/runs/runsWorker';

const { ROLE = '', REDIS_URL = '', DATABASE_URL = '', APP_ENV = '' } = process.env;
const { KILL_AT = '', KILL_WHEN = '', KILL_HIT = '1' } = process.env;

let hitsLeft = Number(KILL_HIT);

/** Dies when this is the point, the time and the call. */
function point(name: string, when: 'before' | 'after'): void {
  if (name !== KILL_AT || when !== KILL_WHEN) return;
  hitsLeft -= 1;
  if (hitsLeft > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before this returns control to anything that matters.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** The object with a point before and after each of its methods that answer promises. */
function withPoints<T extends object>(target: T, nameOf: (method: string, args: readonly unknown[]) => string): T {
  return new Proxy(target, {
    get(object, property) {
      const value: unknown = Reflect.get(object, property);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        const name = nameOf(String(property), args);
        point(name, 'before');
        const result: unknown = Reflect.apply(value, object, args);
        if (!(result instanceof Promise)) return result;
        return result.then((answer: unknown) => {
          point(name, 'after');
          return answer;
        });
      };
    },
  });
}

function scriptName([script]: readonly unknown[]): string {
  return typeof script === 'object' && script !== null && 'name' in script ? String(script.name) : '';
}

/** `sql.commit`, `sql.update runs`, `sql.insert into messages`: the first words of a statement. */
function sqlName(method: string, [statement]: readonly unknown[]): string {
  if (method !== 'query' || typeof statement !== 'string') return '';
  return `sql.${/^\s*(\w+(?: into)?(?: \w+)?)/.exec(statement)?.[1] ?? ''}`;
}

const silent: HandlerLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function main(): Promise<void> {
  const redis = { url: REDIS_URL };
  const plain: StreamPort = lazyPort(() => connectRedis(redis));
  const port = withPoints(plain, (method, args) => (method === 'run' ? `bus.${scriptName(args)}` : `bus.${method}`));
  const pool = openPool(DATABASE_URL);
  const watched = new Proxy(withPoints(pool, sqlName), {
    get: (target, property) =>
      property === 'connect'
        ? async () => withPoints(await pool.connect(), sqlName)
        : (Reflect.get(target, property) as unknown),
  });
  const store = withPoints(new PostgresRunStore(watched, APP_ENV), (method) => `store.${method}`);
  const bus: Bus = createBus({ port, env: APP_ENV });
  const parts: RunsParts = { bus, port, store, group: 'workers', log: silent };
  const { marker, sweeper } = createSweeper(parts, { staleMs: 300, intervalMs: 100 });
  sweeper.start();
  if (ROLE === 'gateway') {
    const app = createGatewayApp({ store, bus, log: silent, token: undefined, limiter: undefined, maxBodyBytes: 4096 });
    const { url } = await serveHttp(app, '127.0.0.1', 0);
    process.stdout.write(`ready ${url}\n`);
    return;
  }
  const consumer = createRunsConsumer(
    parts,
    marker,
    async (message, context) => {
      point('execute', 'before');
      const reply = await echo(message, context);
      point('execute', 'after');
      return reply;
    },
    {
      blockMs: 200,
      ownership: { minIdleMs: 300, heartbeatMs: 100 },
      retry: { maxDeliveries: 3, backoff: () => 20 },
      reclaim: { intervalMs: 50 },
    },
  );
  await consumer.start();
  process.stdout.write('ready\n');
}

void main();
