/**
 * PostgreSQL for the worker: opening a pool from a URL, transactions, and migrations that are SQL texts in the code.
 *
 * No error or log of this room holds a password or a value of a query. Tests are in `test/worker/postgres*.test.ts`.
 */
import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import { UsageError } from '../usageError';

/** How a pool is opened. */
export interface PoolOptions {
  /** How many connections at most. Default 10; an inbox needs one for each handler that runs at once. */
  readonly max?: number;
  /** Told when a connection that nobody uses breaks; the pool replaces it. Default: nobody. */
  readonly onError?: (error: Error) => void;
}

/**
 * Makes a pool from a URL such as `postgresql://user:password@host:5432/database`, usually `DATABASE_URL`. It connects when it is first
 * used, and whoever opened it ends it. Throws a `UsageError` that does not repeat the URL when it is none.
 */
export function openPool(url: string, options: PoolOptions = {}): Pool {
  if (!isPostgresUrl(url))
    throw new UsageError('DATABASE_URL: expected postgresql://user:password@host:port/database, got something else');
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? 10,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    application_name: 'redis-streams-worker',
  });
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', options.onError ?? (() => undefined));
  return pool;
}

/**
 * Runs a function in a transaction: committed when it resolves, rolled back when it rejects or the connection breaks. Rejects when the
 * server rolled back after all, which it does without an error when a statement failed and the function went on.
 */
export async function inTransaction<Result>(pool: Pool, run: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  // A connection that breaks between two queries tells nobody else, and its next query fails anyway.
  const broken: Error[] = [];
  const onError = (error: Error): void => void broken.push(error);
  client.on('error', onError);
  const release = (destroy: boolean): void => {
    client.off('error', onError);
    client.release(destroy || broken.length > 0);
  };
  try {
    await client.query('begin');
    const result = await run(client);
    const { command } = await client.query('commit');
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back because one of its statements had failed');
    release(false);
    return result;
  } catch (error) {
    await client.query('rollback').then(
      () => {
        release(false);
      },
      () => {
        release(true);
      },
    );
    throw error;
  }
}

/** One step of a schema: its name is remembered, its SQL runs once. A step that was published is never changed. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Runs the migrations that have not run, all or none, one process at a time; answers the names of those that it ran. */
export function migrate(pool: Pool, migrations: readonly Migration[]): Promise<readonly string[]> {
  return inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    await client.query(
      'create table if not exists worker_migrations (name text primary key, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from worker_migrations');
    const known = new Set(rows.map(({ name }) => name));
    const missing = migrations.filter(({ name }) => !known.has(name));
    for (const { name, sql } of missing) {
      await client.query(sql);
      await client.query('insert into worker_migrations (name) values ($1)', [name]);
    }
    return missing.map(({ name }) => name);
  });
}

/** Any number that no other program is likely to lock. */
const migrationLock = 7_212_001;

function isPostgresUrl(url: string): boolean {
  return URL.canParse(url) && ['postgres:', 'postgresql:'].includes(new URL(url).protocol);
}
