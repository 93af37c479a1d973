import type { Pool, PoolClient } from 'pg';
import { idempotencyKey, RetryLater } from '../../bus';
import type { HandlerContext, HandlerOf, Message } from '../../bus';
import { storedKey } from './idempotencyStore';
import { inTransaction } from './pool';
import type { Migration } from './pool';
import { PeriodicDelete } from './periodicDelete';

/** The table of `postgresInbox`: the messages that were handled. */
export const inboxMigrations: readonly Migration[] = [
  {
    name: 'inbox-1',
    sql: `
create table worker_inbox (
  key text primary key,
  handled_at timestamptz not null default now()
);
create index worker_inbox_handled_at on worker_inbox (handled_at);
`,
  },
];

/** What a handler in an inbox may do with the transaction's connection: ask. Beginning, committing and releasing are the inbox's. */
export type InboxClient = Pick<PoolClient, 'query'>;

/** The options of `postgresInbox`. */
export interface PostgresInboxOptions {
  /** What makes two messages of a stream the same for a group. Default: the id of the first publication, which replays keep. */
  readonly keyOf?: (message: Message) => string;
  /** How long a handled message is remembered. Default 30 days: more than any redelivery or replay is expected after. */
  readonly ttlMs?: number;
}

/** A transactional inbox. */
export interface PostgresInbox {
  /**
   * Makes a handler that runs in a transaction together with the record that its message was handled. What it writes through `client` is
   * there exactly once, whatever crashes: both are committed or neither. A message that was handled before is acknowledged without running
   * it; one that is being handled is retried later. When it throws, everything is rolled back.
   */
  handler<Received extends Message>(
    handle: (message: Received, context: HandlerContext, client: InboxClient) => unknown,
  ): HandlerOf<Received>;
  /** Forgets a batch of the messages whose time is over, which handlers also do now and then; answers how many. */
  prune(): Promise<number>;
}

/**
 * Makes an inbox; run `inboxMigrations` first. Each running handler needs a connection, so the pool's `max` must be at least the consumer's
 * concurrency.
 */
export function postgresInbox(pool: Pool, options: PostgresInboxOptions = {}): PostgresInbox {
  const { keyOf, ttlMs = 30 * 24 * 60 * 60 * 1000 } = options;
  if (!(Number.isSafeInteger(ttlMs) && ttlMs > 0)) throw new RangeError('ttlMs: expected whole milliseconds above 0');
  const cleaning = new PeriodicDelete(
    pool,
    'worker_inbox',
    `handled_at <= clock_timestamp() - ${ttlMs} * interval '1 millisecond'`,
  );
  return {
    handler: (handle) => async (message, context) => {
      const key = storedKey(idempotencyKey(message, context, keyOf));
      await inTransaction(pool, async (client) => {
        const { rows } = await client.query<{ locked: boolean; fresh: boolean }>(enter, [key]);
        const [{ locked, fresh } = { locked: false, fresh: false }] = rows;
        if (!locked) throw new RetryLater(busyRetryMs, 'The message is being handled');
        if (fresh) await handle(message, context, { query: client.query.bind(client) });
      });
      await cleaning.sometimes().catch((error: unknown) => {
        context.log.warn('Old rows of the inbox could not be deleted', {
          error_kind: error instanceof Error ? error.name : 'unknown',
        });
      });
    },
    prune: () => cleaning.now(),
  };
}

/** Nobody can tell how long another transaction will take. */
const busyRetryMs = 1000;

/**
 * The lock lasts as long as the transaction and does not wait, unlike the row, which would keep a second handler in its slot. Only its holder
 * inserts the row. A hash that two keys share only makes one of them wait.
 */
const enter = `
with lock as materialized (select pg_try_advisory_xact_lock(hashtextextended($1, 7212002)) as locked),
entered as (insert into worker_inbox (key) select $1 from lock where locked on conflict do nothing returning 1)
select locked, exists (select from entered) as fresh from lock`;
