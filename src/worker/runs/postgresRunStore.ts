import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { parseEntryId } from '../../bus';
import type { EntryId } from '../../bus';
import { inTransaction, migrate, openPool } from '../postgres/pool';
import type { Migration } from '../postgres/pool';
import { asDatabaseError, asStoreFailure } from './postgresFailure';
import type { NewRun, PendingCursor, PendingRuns, Run, RunFailure, RunStatus, RunStore } from './runStore';

/**
 * The tables of runs. Two unique constraints carry the promises: a key is one run of its environment, and a run has one reply. Environments
 * that share a database see nothing of each other, or the sweeper of one would publish the runs of another.
 */
export const runMigrations: readonly Migration[] = [
  {
    name: 'runs-1',
    sql: `
      create table runs (
        run_id uuid primary key,
        env text not null,
        session_id text not null,
        idempotency_key text not null,
        input text not null,
        status text not null default 'pending' check (status in ('pending', 'done', 'failed')),
        stream_id text,
        failure_reason text,
        failure_message text,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        unique (idempotency_key, env)
      );
      create table messages (
        run_id uuid not null references runs on delete cascade,
        seq integer not null,
        content text not null,
        created_at timestamptz not null default now(),
        unique (run_id, seq)
      );
      create index runs_pending on runs (env, created_at, run_id) where status = 'pending';
      create index runs_of_session on runs (env, session_id);
    `,
  },
];

/** The place of a reply among the messages of its run. */
const replySeq = 1;

const columns = `
  r.run_id, r.session_id, r.idempotency_key, r.input, r.status, r.stream_id, r.failure_reason, r.failure_message,
  r.created_at, r.created_at::text as created_text, m.content as reply`;

const runsWithReplies = `runs r left join messages m on m.run_id = r.run_id and m.seq = ${replySeq}`;

interface RunRow {
  readonly run_id: string;
  readonly session_id: string;
  readonly idempotency_key: string;
  readonly input: string;
  readonly status: RunStatus;
  readonly stream_id: string | null;
  readonly failure_reason: string | null;
  readonly failure_message: string | null;
  readonly created_at: Date;
  readonly created_text: string;
  readonly reply: string | null;
}

/** Connects, brings the tables up to date and answers the store of an environment. Rejects when the database cannot be used. */
export async function openPostgresRunStore(databaseUrl: string, env: string): Promise<RunStore> {
  const pool = openPool(databaseUrl);
  try {
    await migrate(pool, runMigrations);
  } catch (error) {
    await pool.end();
    throw asDatabaseError(error);
  }
  return new PostgresRunStore(pool, env);
}

/** Keeps the runs of one environment in PostgreSQL. */
export class PostgresRunStore implements RunStore {
  readonly kind = 'postgres';

  constructor(
    private readonly pool: Pool,
    private readonly env: string,
  ) {}

  async create({
    runId,
    sessionId,
    idempotencyKey,
    input,
  }: NewRun): Promise<{ readonly run: Run; readonly isNew: boolean }> {
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const inserted = await this.query(
        `insert into runs (run_id, env, session_id, idempotency_key, input) values ($1, $2, $3, $4, $5) on conflict do nothing`,
        [runId, this.env, sessionId, idempotencyKey, input],
      );
      const run = await this.findBy('idempotency_key', idempotencyKey);
      if (run) return { run, isNew: inserted.rowCount === 1 };
      // The run that had the key was removed between the two statements.
    }
    throw new Error('A run could not be kept: the run that has its idempotency key comes and goes');
  }

  get(runId: string): Promise<Run | undefined> {
    return this.findBy('run_id', runId);
  }

  async published(runId: string, streamId: EntryId): Promise<void> {
    await this.query(
      `update runs set stream_id = $2, updated_at = now() where run_id = $1 and (status = 'pending' or stream_id is null)`,
      [runId, streamId],
    );
  }

  complete(runId: string, reply: string, streamId?: EntryId): Promise<boolean> {
    return this.transaction(async (client) => {
      const { rowCount } = await client.query(
        `update runs set status = 'done', stream_id = coalesce($2, stream_id), failure_reason = null, failure_message = null,
           updated_at = now()
         where run_id = $1 and status <> 'done'`,
        [runId, streamId ?? null],
      );
      if (rowCount !== 1) return false;
      await client.query('insert into messages (run_id, seq, content) values ($1, $2, $3) on conflict do nothing', [
        runId,
        replySeq,
        reply,
      ]);
      return true;
    });
  }

  fail(runId: string, { reason, message }: RunFailure): Promise<boolean> {
    return this.changed(
      `update runs set status = 'failed', failure_reason = $2, failure_message = $3, updated_at = now()
       where run_id = $1 and status = 'pending'`,
      // What a dead letter says may hold what no text column does.
      [runId, reason.replaceAll('\0', ''), message.replaceAll('\0', '')],
    );
  }

  reopen(runId: string, streamId: EntryId): Promise<boolean> {
    return this.changed(
      `update runs set status = 'pending', stream_id = $2, failure_reason = null, failure_message = null, updated_at = now()
       where run_id = $1 and status = 'failed'`,
      [runId, streamId],
    );
  }

  async listPending(query: {
    readonly olderThanMs: number;
    readonly limit: number;
    readonly after?: PendingCursor;
  }): Promise<PendingRuns> {
    const { olderThanMs, limit, after } = query;
    const { rows } = await this.query<RunRow>(
      `select ${columns} from ${runsWithReplies}
       where r.env = $5 and r.status = 'pending' and r.created_at <= now() - $1 * interval '1 millisecond'
         and ($3::timestamptz is null or (r.created_at, r.run_id) > ($3::timestamptz, $4::uuid))
       order by r.created_at, r.run_id limit $2`,
      [olderThanMs, limit + 1, after?.createdAt ?? null, after?.runId ?? null, this.env],
    );
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      runs: rows.slice(0, limit).map(readRow),
      next: last && { createdAt: last.created_text, runId: last.run_id },
    };
  }

  async countReplies(runId: string): Promise<number> {
    const { rows } = await this.query<{ count: number }>(
      'select count(*)::integer as count from messages where run_id = $1',
      [runId],
    );
    return rows[0]?.count ?? 0;
  }

  async forgetSession(sessionId: string): Promise<number> {
    const { rowCount } = await this.query('delete from runs where env = $1 and session_id = $2', [this.env, sessionId]);
    return rowCount ?? 0;
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async findBy(column: 'run_id' | 'idempotency_key', value: string): Promise<Run | undefined> {
    const { rows } = await this.query<RunRow>(
      `select ${columns} from ${runsWithReplies} where r.${column} = $1 and r.env = $2`,
      [value, this.env],
    );
    return rows[0] && readRow(rows[0]);
  }

  private async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<QueryResult<Row>> {
    try {
      return await this.pool.query<Row>(sql, [...values]);
    } catch (error) {
      throw asStoreFailure(error);
    }
  }

  private async transaction<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    try {
      return await inTransaction(this.pool, run);
    } catch (error) {
      throw asStoreFailure(error);
    }
  }

  private async changed(sql: string, values: readonly unknown[]): Promise<boolean> {
    const { rowCount } = await this.query(sql, values);
    return rowCount === 1;
  }
}

function readRow(row: RunRow): Run {
  return {
    runId: row.run_id,
    sessionId: row.session_id,
    idempotencyKey: row.idempotency_key,
    input: row.input,
    status: row.status,
    streamId: row.stream_id === null ? undefined : parseEntryId(row.stream_id),
    reply: row.reply ?? undefined,
    failure:
      row.failure_reason === null ? undefined : { reason: row.failure_reason, message: row.failure_message ?? '' },
    createdAtMs: row.created_at.getTime(),
  };
}
