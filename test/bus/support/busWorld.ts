// A real server with buses and a plain client on it: what every test of the bus begins with. Tested by its users.
import { Redis } from 'ioredis';
import { createBus } from '../../../src/bus';
import type {
  Bus,
  BusOptions,
  Consumer,
  ConsumerEventName,
  ConsumerEvents,
  ConsumerOptions,
  EntryId,
} from '../../../src/bus';
import { startRedis } from '../../support/redisServer';
import type { RedisOptions, RedisServer } from '../../support/redisServer';

/** The group that tests read in. */
export const group = 'workers';

/** Everything a test of the bus needs; stop it in the `after` hook. */
export interface BusWorld {
  readonly server: RedisServer;
  /** A client that has nothing to do with the bus. */
  readonly redis: Redis;
  /** A bus of its own, closed by `closeBuses`. */
  bus(options?: Partial<BusOptions>): Bus;
  /** Closes every bus that was made, in the `afterEach` hook. */
  closeBuses(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server and a client. */
export async function startBusWorld(options: RedisOptions = {}): Promise<BusWorld> {
  const server = await startRedis(options);
  const redis = new Redis({ host: server.host, port: server.port });
  redis.on('error', () => undefined);
  const buses = new Set<Bus>();
  const closeBuses = async (): Promise<void> => {
    const open = [...buses];
    buses.clear();
    await Promise.all(open.map((bus) => bus.close({ timeoutMs: 100 })));
  };
  return {
    server,
    redis,
    bus: (busOptions = {}) => {
      const bus = createBus(busOptions.port ? busOptions : { redis: server.url, ...busOptions });
      buses.add(bus);
      return bus;
    },
    closeBuses,
    stop: async () => {
      await closeBuses();
      redis.disconnect();
      await server.stop();
    },
  };
}

/** Options with which a test need not wait: the idle times are long enough for a slow machine, entries are aged by hand. */
export function quickOptions(options: Partial<ConsumerOptions> = {}): ConsumerOptions {
  return {
    group,
    blockMs: 200,
    abortGraceMs: 300,
    ownership: { minIdleMs: 6000, heartbeatMs: 1000 },
    retry: { backoff: () => 20 },
    reclaim: { intervalMs: 100 },
    ...options,
  };
}

/** Collects events of a consumer as they come. */
export function collect<Name extends ConsumerEventName>(consumer: Consumer, name: Name): ConsumerEvents[Name][] {
  const events: ConsumerEvents[Name][] = [];
  consumer.on(name, (event) => events.push(event));
  return events;
}

/** One row of XPENDING. */
export interface PendingRow {
  readonly id: string;
  readonly consumer: string;
  readonly idleMs: number;
  readonly deliveries: number;
}

/** The pending entries of the group, by a plain client. */
export async function pendingRows(redis: Redis, stream: string, name = group): Promise<PendingRow[]> {
  const rows = (await redis.xpending(stream, name, '-', '+', 10_000)) as [string, string, number, number][];
  return rows.map(([id, consumer, idleMs, deliveries]) => ({ id, consumer, idleMs, deliveries }));
}

/** Makes entries look as if they had been idle for long, with their owner and count as they are. */
export async function age(redis: Redis, stream: string, consumer: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await redis.call('XCLAIM', stream, group, consumer, '0', ...ids, 'IDLE', '1000000', 'JUSTID');
}

/** Adds entries with a field `n`; their ids. */
export async function addNumbered(redis: Redis, stream: string, count: number, from = 0): Promise<EntryId[]> {
  const pipeline = redis.pipeline();
  for (let n = from; n < from + count; n += 1) pipeline.xadd(stream, '*', 'n', String(n));
  const results = (await pipeline.exec()) ?? [];
  return results.map(([error, id]) => {
    if (error) throw error;
    return String(id) as EntryId;
  });
}

/** Reads entries as a consumer that then does nothing with them, as one that died would have. */
export async function readAs(redis: Redis, stream: string, consumer: string, count: number): Promise<string[]> {
  await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM').catch(() => undefined);
  const reply = (await redis.xreadgroup('GROUP', group, consumer, 'COUNT', count, 'STREAMS', stream, '>')) as
    [string, [string, string[]][]][] | null;
  return (reply?.[0]?.[1] ?? []).map(([id]) => id);
}

/** A promise and its resolver, to hold a handler until the test lets it go. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
}
