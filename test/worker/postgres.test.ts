import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findProgram } from '../../scripts/lib/findProgram.mjs';
import { findPostgres } from '../../scripts/lib/postgresPrograms.mjs';
import { startPostgres } from '../support/postgres';
import type { PostgresServer } from '../support/postgres';

describe('a PostgreSQL server of a test', () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  const query = (sql: string): string => {
    const psql = findProgram('psql', [findPostgres() ?? '']);
    assert.ok(psql, 'there is no psql beside PostgreSQL or on PATH');
    const run = spawnSync(psql, ['-X', '-A', '-t', '-c', sql, server.url], { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stderr);
    return run.stdout.trim();
  };

  it('takes tables and rows', () => {
    query('CREATE TABLE seen (id text PRIMARY KEY)');
    assert.equal(query("INSERT INTO seen VALUES ('1-0') ON CONFLICT DO NOTHING RETURNING id").split('\n')[0], '1-0');
    assert.equal(
      query("INSERT INTO seen VALUES ('1-0') ON CONFLICT DO NOTHING RETURNING id").split('\n')[0],
      'INSERT 0 0',
    );
  });

  it('keeps what was committed across a crash and a restart on the same port', async () => {
    const { pid, port } = server;
    query('CREATE TABLE kept AS SELECT 7 AS n');
    await server.kill();
    await server.restart();
    assert.notEqual(server.pid, pid);
    assert.equal(server.port, port);
    assert.equal(query('SELECT n FROM kept'), '7');
  });

  it('leaves no folder behind', async () => {
    const other = await startPostgres();
    assert.ok(existsSync(other.dir));
    await other.stop();
    assert.ok(!existsSync(other.dir));
  });
});
