/** Pools, transactions and migrations on a real PostgreSQL. */
import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { inTransaction, migrate, openPool } from '../../src/worker/postgres/pool';
import { UsageError } from '../../src/worker/usageError';
import { eventually } from '../support/eventually';
import { startPostgres } from '../support/postgres';
import type { PostgresServer } from '../support/postgres';

describe('a pool of PostgreSQL connections', () => {
  let server: PostgresServer;
  let pool: Pool;
  const lost: Error[] = [];
  before(async () => {
    server = await startPostgres();
    pool = openPool(server.url, { max: 3, onError: (error) => lost.push(error) });
    await pool.query('create table notes (text text not null)');
  });
  after(async () => {
    await pool.end();
    await server.stop();
  });

  const notes = async (): Promise<string[]> =>
    (await pool.query<{ text: string }>('select text from notes order by text')).rows.map(({ text }) => text);

  it('is not opened for anything but a PostgreSQL URL, and the error does not repeat it', () => {
    for (const url of ['', 'secret', 'redis://user:secret@host:1/0', 'postgres://user:secret@host:999999/x'])
      assert.throws(
        () => openPool(url),
        (error) => error instanceof UsageError && !JSON.stringify([error, error.message]).includes('secret'),
      );
  });

  it('commits what a function did when it resolves, and nothing of it when it rejects', async () => {
    const write = (text: string, fails: boolean): Promise<string> =>
      inTransaction(pool, async (client) => {
        await client.query('insert into notes values ($1)', [text]);
        if (fails) throw new Error('changed my mind');
        return text;
      });
    assert.equal(await write('kept', false), 'kept');
    await assert.rejects(write('lost', true), /changed my mind/);
    assert.deepEqual(await notes(), ['kept']);
    assert.equal(pool.idleCount, pool.totalCount, 'every connection came back');
  });

  it('does not take a transaction for committed whose failed statement was passed over in silence', async () => {
    const silent = inTransaction(pool, async (client) => {
      await client.query('insert into notes values ($1)', ['gone']);
      await client.query('insert into no_such_table values (1)').catch(() => undefined);
    });
    await assert.rejects(silent, /rolled back because one of its statements had failed/);
    assert.deepEqual(await notes(), ['kept']);
  });

  it('bears the loss of a connection in a transaction and while idle', async () => {
    const terminate =
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null';
    const broken = inTransaction(pool, async (client) => {
      const gone = new Promise((resolve) => client.once('end', resolve));
      await pool.query(terminate);
      await gone;
      await client.query('insert into notes values ($1)', ['late']);
    });
    await assert.rejects(broken);
    await Promise.all([pool.query('select 1'), pool.query('select 1')]);
    const before = lost.length;
    await pool.query(terminate);
    await eventually(() => lost.length > before);
    assert.deepEqual(await notes(), ['kept']);
  });

  it('runs each migration once, all or none, also when two processes begin at the same time', async () => {
    const migrations = [
      { name: 'one', sql: 'create table one (n integer)' },
      { name: 'two', sql: 'create table two (n integer); insert into two values (1)' },
    ];
    const ran = await Promise.all([migrate(pool, migrations), migrate(pool, migrations)]);
    assert.deepEqual(ran.flat(), ['one', 'two']);
    const more = [...migrations, { name: 'three', sql: 'create table three (n integer)' }];
    const broken = [...more, { name: 'four', sql: 'create tabel four ()' }];
    await assert.rejects(migrate(pool, broken));
    assert.deepEqual(await migrate(pool, more), ['three']);
    assert.deepEqual((await pool.query('select n from two')).rows, [{ n: 1 }]);
  });
});
