/** Workers that die by SIGKILL around the effect of a message that is handled once, and how often it has its effect. */
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { idempotencyMigrations } from '../../src/worker/postgres/idempotencyStore';
import { inboxMigrations } from '../../src/worker/postgres/inbox';
import { migrate, openPool } from '../../src/worker/postgres/pool';
import { eventually } from '../support/eventually';
import { startPostgres } from '../support/postgres';
import type { PostgresServer } from '../support/postgres';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { killOnceWorkers, startOnceWorker } from './support/onceCrash';
import type { OnceWorkerOptions } from './support/onceCrash';

const group = 'workers';

describe('a message that is handled once, by a worker that is killed', function () {
  this.timeout(60_000);
  let server: RedisServer;
  let postgres: PostgresServer;
  let redis: Redis;
  let pool: Pool;
  before(async () => {
    [server, postgres] = await Promise.all([startRedis(), startPostgres()]);
    redis = new Redis({ host: server.host, port: server.port });
    pool = openPool(postgres.url);
    await migrate(pool, [...idempotencyMigrations, ...inboxMigrations]);
    await pool.query('create table effects (stream text not null, n text not null)');
  });
  afterEach(() => killOnceWorkers());
  after(async () => {
    redis.disconnect();
    await pool.end();
    await Promise.all([server.stop(), postgres.stop()]);
  });

  async function effectsOf(stream: string, mode: OnceWorkerOptions['mode']): Promise<string[]> {
    if (mode !== 'inbox') return redis.lrange(`effects:${stream}`, 0, -1);
    const { rows } = await pool.query<{ n: string }>('select n from effects where stream = $1 order by n', [stream]);
    return rows.map(({ n }) => n);
  }

  async function effectsAfterDeath(
    mode: OnceWorkerOptions['mode'],
    killAt: NonNullable<OnceWorkerOptions['killAt']>,
  ): Promise<string[]> {
    const stream = uniqueKey();
    await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
    await redis.xadd(stream, '*', 'n', 'the message');
    const options = { redisUrl: server.url, databaseUrl: postgres.url, stream, group, mode };
    const victim = await startOnceWorker({ ...options, killAt });
    assert.equal(await victim.ended, 'SIGKILL');
    const pending = async (): Promise<number> => ((await redis.xpending(stream, group)) as [number])[0];
    assert.equal(await pending(), 1, 'it died before it could acknowledge');
    await startOnceWorker(options);
    await eventually(async () => (await pending()) === 0, { timeoutMs: 20_000 });
    assert.equal(await redis.exists(`${stream}:dlq`), 0);
    return effectsOf(stream, mode);
  }

  for (const mode of ['redis', 'postgres', 'inbox'] as const)
    it(`after the effect and before the acknowledgement: the effect comes once (${mode})`, async () => {
      assert.deepEqual(await effectsAfterDeath(mode, 'before-acknowledgement'), ['the message']);
    });

  it('between the effect and the commit of an inbox: the effect comes once, because the first was rolled back', async () => {
    assert.deepEqual(await effectsAfterDeath('inbox', 'after-effect'), ['the message']);
  });

  for (const mode of ['redis', 'postgres'] as const)
    it(`between an effect elsewhere and the mark in the store: the effect comes twice, which no store can help (${mode})`, async () => {
      assert.deepEqual(await effectsAfterDeath(mode, 'after-effect'), ['the message', 'the message']);
    });
});
