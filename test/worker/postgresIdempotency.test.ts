/** Handling a message once with PostgreSQL: the store, and the inbox whose record and effect are one transaction. */
import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import * as v from 'valibot';
import { json, Reject, topic } from '../../src/bus';
import type { Bus } from '../../src/bus';
import { idempotencyMigrations, postgresIdempotencyStore, storedKey } from '../../src/worker/postgres/idempotencyStore';
import { inboxMigrations, postgresInbox } from '../../src/worker/postgres/inbox';
import type { PostgresInbox } from '../../src/worker/postgres/inbox';
import { migrate, openPool } from '../../src/worker/postgres/pool';
import { describeIdempotencyStore } from '../bus/idempotencyStore.contract';
import { collect, gate, group, quickOptions, startBusWorld } from '../bus/support/busWorld';
import type { BusWorld } from '../bus/support/busWorld';
import { eventually } from '../support/eventually';
import { startPostgres } from '../support/postgres';
import type { PostgresServer } from '../support/postgres';
import { uniqueKey } from '../support/uniqueKey';

describe('idempotency with PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let world: BusWorld;
  before(async () => {
    [server, world] = await Promise.all([startPostgres(), startBusWorld()]);
    pool = openPool(server.url, { max: 20 });
    await migrate(pool, [...idempotencyMigrations, ...inboxMigrations]);
    await pool.query('create table orders (id text primary key, cents integer not null)');
  });
  afterEach(() => world.closeBuses());
  after(async () => {
    await pool.end();
    await Promise.all([server.stop(), world.stop()]);
  });

  describeIdempotencyStore('in PostgreSQL', () => ({
    store: postgresIdempotencyStore(pool),
    expire: async (keys) => {
      await pool.query('update worker_idempotency set until = now() where key = any($1)', [keys.map(storedKey)]);
    },
  }));

  const orderOf = async (id: string): Promise<unknown[]> =>
    (await pool.query<{ cents: number }>('select cents from orders where id = $1', [id])).rows;

  it('commits the effect with the record that the message was handled, and runs no handler for it again', async () => {
    const orders = topic<{ id: string; cents: number }>(uniqueKey(), { retention: 'none', codec: json() });
    const bus = world.bus();
    const inbox = postgresInbox(pool);
    let runs = 0;
    const consumer = bus.consume(
      orders,
      quickOptions(),
      inbox.handler(async ({ body, id }, { group: name }, client) => {
        runs += 1;
        assert.equal(name, group);
        const { id: order, cents } = body as { id: string; cents: number };
        await client.query('insert into orders values ($1, $2)', [order, cents]);
        if (runs === 1) throw new Error(`not yet ${id}`);
      }),
    );
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    const id = uniqueKey();
    const published = await bus.publish(orders, { body: { id, cents: 5 } });
    await eventually(() => acknowledged.length === 1);
    assert.deepEqual([await orderOf(id), runs], [[{ cents: 5 }], 2], 'the first run left nothing behind');
    await world.redis.xadd(orders.name, '*', 'b', '{}', 'dl.id', published.id, 'dl.replays', '1');
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 2);
    await world.redis.xgroup('SETID', orders.name, group, '0');
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 4);
    assert.equal(runs, 2, 'neither a second delivery nor a replay runs it');
  });

  it('runs one of many handlers of a message at a time, and the others later', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const hold = gate();
    const runs: string[] = [];
    const inbox = postgresInbox(pool, { keyOf: ({ fields }) => fields.n ?? '' });
    const consumer = bus.consume(
      stream,
      quickOptions(),
      inbox.handler(async ({ fields: { n = '' } }) => {
        runs.push(n);
        await hold.opened;
      }),
    );
    const retries = collect(consumer, 'retry-scheduled');
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    for (const n of ['a', 'a', 'a', 'b']) await world.redis.xadd(stream, '*', 'n', n);
    await eventually(() => retries.length === 2);
    hold.open();
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 4);
    assert.deepEqual(runs.sort(), ['a', 'b']);
  });

  it('rolls back what a handler did that rejects, or whose statement failed in silence', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    const inbox = postgresInbox(pool);
    const consumer = bus.consume(
      stream,
      quickOptions({ retry: { maxDeliveries: 1 } }),
      inbox.handler(async ({ fields: { n = '' } }, _context, client) => {
        await client.query('insert into orders values ($1, 1)', [n]);
        if (n.endsWith('reject')) throw new Reject('never');
        await client.query('insert into orders values ($1, 1)', [n]).catch(() => undefined);
      }),
    );
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const names = [`${stream}reject`, `${stream}silent`];
    for (const n of names) await world.redis.xadd(stream, '*', 'n', n);
    await eventually(() => dead.length === 2);
    assert.deepEqual(dead.map(({ reason }) => reason).sort(), ['handler-error', 'rejected']);
    for (const n of names) assert.deepEqual(await orderOf(n), []);
  });

  it('handles each message once when the server dies in the middle and comes back', async function () {
    this.timeout(60_000);
    const stream = uniqueKey();
    const bus = world.bus();
    const inbox = postgresInbox(pool);
    const hold = gate();
    let runs = 0;
    const consumer = bus.consume(
      stream,
      quickOptions({ concurrency: 3, retry: { maxDeliveries: 1000, backoff: () => 100 } }),
      inbox.handler(async ({ fields: { n = '' } }, _context, client) => {
        runs += 1;
        await client.query('insert into orders values ($1, 1)', [`${stream}${n}`]);
        if (runs <= 3) await hold.opened;
      }),
    );
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    for (let n = 0; n < 5; n += 1) await world.redis.xadd(stream, '*', 'n', String(n));
    await eventually(() => runs === 3);
    await server.kill();
    hold.open();
    await server.restart();
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 5, { timeoutMs: 30_000 });
    const { rows } = await pool.query('select count(*)::int as n from orders where id like $1', [`${stream}%`]);
    assert.deepEqual(rows, [{ n: 5 }]);
    assert.ok(runs > 5);
  });

  it('forgets what was handled long ago', async () => {
    await pool.query("insert into worker_inbox values ('old', now() - interval '2 days'), ('young', now())");
    await pool.query("insert into worker_idempotency values ('old', 'a', now() - interval '2 days')");
    const inbox = postgresInbox(pool, { ttlMs: 24 * 60 * 60 * 1000 });
    assert.equal(await inbox.prune(), 1);
    const { rows } = await pool.query("select key from worker_inbox where key in ('old', 'young')");
    assert.deepEqual(rows, [{ key: 'young' }]);
    for (const ttlMs of [0, 0.5, NaN]) assert.throws(() => postgresInbox(pool, { ttlMs }), RangeError);
  });
});

/** Never run: what must and must not compile. */
export function typesOfInbox(bus: Bus, inbox: PostgresInbox): void {
  const byType = { counted: v.object({ n: v.number() }), named: v.object({ name: v.string() }) };
  const things = topic('things', byType, { retention: 'none' });
  bus.consume(things, quickOptions(), {
    counted: inbox.handler(async ({ type, body }, { signal }, client) => {
      const exact: 'counted' = type;
      await client.query('select $1', [body.n.toFixed(), exact, signal.aborted]);
      // @ts-expect-error: the other type's.
      await client.query('select $1', [body.name]);
      const mayRelease: 'release' extends keyof typeof client ? true : false = false;
      return mayRelease;
    }),
    named: inbox.handler(({ body }) => body.name),
  });
}
