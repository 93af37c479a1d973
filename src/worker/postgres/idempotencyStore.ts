import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { IdempotencyStore } from '../../bus';
import type { Migration } from './pool';
import { PeriodicDelete } from './periodicDelete';

/** The table of `postgresIdempotencyStore`. A row without a token is done. Times are the server's. */
export const idempotencyMigrations: readonly Migration[] = [
  {
    name: 'idempotency-1',
    sql: `
create table worker_idempotency (
  key text primary key,
  token text,
  until timestamptz not null
);
create index worker_idempotency_until on worker_idempotency (until);
`,
  },
];

/**
 * An idempotency store in PostgreSQL, for `idempotent`; run `idempotencyMigrations` first. Rows that ran out are deleted now and then. When
 * the effects are in the same database, `postgresInbox` is the better choice: it leaves no moment in which a crash repeats them.
 */
export function postgresIdempotencyStore(pool: Pool): IdempotencyStore {
  const cleaning = new PeriodicDelete(pool, 'worker_idempotency', 'until <= clock_timestamp()');
  return {
    async begin(key, token, leaseMs) {
      const stored = storedKey(key);
      // A key that runs out between the two statements is taken in the next turn.
      for (;;) {
        const taken = await pool.query(takeLease, [stored, storedKey(token), leaseMs]);
        if (taken.rows.length > 0) return { state: 'fresh' };
        const { rows } = await pool.query<{ is_done: boolean; left_ms: number }>(look, [stored]);
        const [row] = rows;
        if (!row) continue;
        return row.is_done ? { state: 'done' } : { state: 'busy', leaseLeftMs: Math.ceil(row.left_ms) };
      }
    },
    async complete(key, token, ttlMs) {
      await pool.query(markDone, [storedKey(key), storedKey(token), ttlMs]);
      // The mark is set; what could not be deleted now is deleted another time.
      await cleaning.sometimes().catch(() => undefined);
    },
    async abandon(key, token) {
      await pool.query('delete from worker_idempotency where key = $1 and token = $2', [
        storedKey(key),
        storedKey(token),
      ]);
    },
  };
}

const takeLease = `
insert into worker_idempotency as known (key, token, until)
values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
on conflict (key) do update set token = excluded.token, until = excluded.until
where known.token = excluded.token or known.until <= clock_timestamp()
returning 1`;

const look = `
select token is null as is_done, extract(epoch from until - clock_timestamp())::float8 * 1000 as left_ms
from worker_idempotency where key = $1 and until > clock_timestamp()`;

const markDone = `
insert into worker_idempotency as known (key, token, until)
values ($1, null, clock_timestamp() + $3 * interval '1 millisecond')
on conflict (key) do update set token = null, until = excluded.until
where known.token is null or known.token = $2 or known.until <= clock_timestamp()`;

/** A key as a column can hold it: itself when it is short, ordinary text, else its hash. */
export function storedKey(key: string): string {
  const isOrdinary = key.length <= 500 && !/[\0\ud800-\udfff]/u.test(key) && !key.startsWith('sha256:');
  return isOrdinary ? key : `sha256:${createHash('sha256').update(key, 'utf16le').digest('hex')}`;
}
