/** The promises of a store of runs, in memory and in a real PostgreSQL, and what only a database can do. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { MemoryRunStore } from '../../src/worker/runs/memoryRunStore';
import { openPostgresRunStore } from '../../src/worker/runs/postgresRunStore';
import { StoreUnavailableError } from '../../src/worker/runs/runStore';
import type { RunStore } from '../../src/worker/runs/runStore';
import { startPostgres } from '../support/postgres';
import type { PostgresServer } from '../support/postgres';
import { describeRunStore } from './runStore.contract';

const memory = new MemoryRunStore();
describeRunStore('memory', () => memory);

describe('PostgreSQL', () => {
  let server: PostgresServer;
  let store: RunStore;
  before(async () => {
    server = await startPostgres();
    store = await openPostgresRunStore(server.url, 'dev');
  });
  after(async () => {
    await store.close();
    await server.stop();
  });

  describeRunStore('PostgreSQL', () => store);

  it('can be opened by many processes at once, of which one makes the tables', async () => {
    const other = await startPostgres();
    try {
      const stores = await Promise.all(Array.from({ length: 6 }, () => openPostgresRunStore(other.url, 'dev')));
      const run = { runId: randomUUID(), sessionId: 's', idempotencyKey: 'k', input: 'i' };
      const outcomes = await Promise.all(stores.map((each) => each.create({ ...run, runId: randomUUID() })));
      assert.equal(outcomes.filter(({ isNew }) => isNew).length, 1);
      for (const each of stores) await each.close();
    } finally {
      await other.stop();
    }
  });

  it('keeps environments apart that share a database', async () => {
    const prod = await openPostgresRunStore(server.url, 'prod');
    try {
      const run = { runId: randomUUID(), sessionId: 'shared', idempotencyKey: 'shared', input: 'i' };
      await store.create(run);
      assert.equal(await prod.get(run.runId), undefined);
      assert.deepEqual((await prod.listPending({ olderThanMs: 0, limit: 10 })).runs, []);
      assert.equal((await prod.create({ ...run, runId: randomUUID() })).isNew, true);
      assert.equal(await prod.forgetSession('shared'), 1);
      assert.ok(await store.get(run.runId));
    } finally {
      await prod.close();
    }
  });

  it('holds by itself that a key is one run and a run has one reply, whoever writes', async () => {
    const pool = new Pool({ connectionString: server.url });
    try {
      const insert = (key: string): Promise<unknown> =>
        pool.query(
          `insert into runs (run_id, env, session_id, idempotency_key, input) values ($1, 'dev', $2, $3, $4)`,
          [randomUUID(), 's', key, 'i'],
        );
      await insert('twice');
      await assert.rejects(insert('twice'), /unique constraint/);
      const { run } = await store.create({ runId: randomUUID(), sessionId: 's', idempotencyKey: 'reply', input: 'i' });
      await store.complete(run.runId, 'one');
      const reply = 'insert into messages (run_id, seq, content) values ($1, 1, $2)';
      await assert.rejects(pool.query(reply, [run.runId, 'two']), /unique constraint/);
    } finally {
      await pool.end();
    }
  });

  it('loses nothing of what it answered when the database crashes, and works again when it is back', async () => {
    const other = await startPostgres();
    const crashing = await openPostgresRunStore(other.url, 'dev');
    try {
      const { run } = await crashing.create({ runId: randomUUID(), sessionId: 's', idempotencyKey: 'k', input: 'i' });
      await crashing.complete(run.runId, 'reply');
      await other.kill();
      await assert.rejects(crashing.get(run.runId), StoreUnavailableError);
      await assert.rejects(crashing.complete(run.runId, 'x'), StoreUnavailableError);
      await other.restart();
      assert.equal((await crashing.get(run.runId))?.reply, 'reply');
      assert.equal(await crashing.complete(run.runId, 'again'), false);
    } finally {
      await crashing.close();
      await other.stop();
    }
  });

  it('tells a statement that can never succeed from a server that is away', async () => {
    await assert.rejects(store.get('no run id at all'), (error) => !(error instanceof StoreUnavailableError));
  });

  it('says that the database cannot be used, without the password', async () => {
    const url = new URL(server.url);
    url.password = 'hunter2-secret';
    url.port = '1';
    await assert.rejects(openPostgresRunStore(url.href, 'dev'), (error: Error) => {
      assert.match(error.message, /DATABASE_URL cannot be used: .*ECONNREFUSED/);
      assert.doesNotMatch(JSON.stringify([error.message, error.stack]), /hunter2/);
      return true;
    });
  });
});
