// The reference application as processes of their own: a Redis and a PostgreSQL of the test, gateways and workers started as users do.
import assert from 'node:assert/strict';
import { Pool } from 'pg';
import { createBus, groupName, streamKey } from '../../../src/bus';
import type { Bus, PendingEntry, StreamKey } from '../../../src/bus';
import { connectRedis } from '../../../src/bus/redis/connect';
import type { RedisPort } from '../../../src/bus/redis/redisPort';
import { eventually } from '../../support/eventually';
import { startPostgres } from '../../support/postgres';
import type { PostgresServer } from '../../support/postgres';
import { startRedis } from '../../support/redisServer';
import type { RedisServer } from '../../support/redisServer';
import { uniqueKey } from '../../support/uniqueKey';
import { endWorkers, startWorker } from './workerProcess';
import type { WorkerProcess } from './workerProcess';

/** Times that let a test see in seconds what takes minutes in life. */
export const quickFlags: readonly string[] = [
  ...['--min-idle-ms', '600', '--heartbeat-ms', '150', '--reclaim-ms', '50', '--retry-ms', '20'],
  ...['--stale-ms', '400', '--sweep-ms', '100', '--close-ms', '5000'],
];

/** A run as the gateway shows it. */
export interface ShownRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly status: 'pending' | 'done' | 'failed';
  readonly streamId: string | null;
  readonly reply: string | null;
  readonly failure: { readonly reason: string; readonly message: string } | null;
}

/** A Redis and a PostgreSQL. */
export class AppWorld {
  private constructor(
    readonly redis: RedisServer,
    readonly postgres: PostgresServer,
    readonly port: RedisPort,
    readonly pool: Pool,
  ) {}

  static async start(): Promise<AppWorld> {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
    const port = await connectRedis({ url: redis.url });
    const pool = new Pool({ connectionString: postgres.url });
    pool.on('error', () => undefined);
    return new AppWorld(redis, postgres, port, pool);
  }

  async end(): Promise<void> {
    await endWorkers();
    await this.port.close();
    await this.pool.end();
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
  }

  /** Streams of the test's own. */
  app(): App {
    return new App(this, uniqueKey('app'));
  }
}

/** One application: an environment's stream with whatever processes serve it. */
export class App {
  readonly stream: StreamKey;
  readonly bus: Bus;

  constructor(
    private readonly world: AppWorld,
    readonly env: string,
  ) {
    this.stream = streamKey(`${env}:koda:runs`);
    this.bus = createBus({ port: world.port, env });
  }

  /** What a process of this application finds in its environment. */
  get environment(): Record<string, string> {
    return {
      DATABASE_URL: this.world.postgres.url,
      REDIS_STREAMS_URL: this.world.redis.url,
      REDIS_STREAMS_ENV: this.env,
    };
  }

  start(command: string, flags: readonly string[] = [], env: Record<string, string> = {}): WorkerProcess {
    const port = command === 'gateway' ? ['--port', '0'] : [];
    return startWorker([command, ...port, ...quickFlags, ...flags], { env: { ...this.environment, ...env } });
  }

  /** Starts a gateway and resolves when it listens. */
  async gateway(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Gateway> {
    const process = this.start('gateway', flags, env);
    const [, url = ''] = await eventually(() => /Gateway: (http:\S+)/.exec(process.output()) ?? false, {
      what: 'the gateway to listen',
    });
    return new Gateway(process, url);
  }

  /** Starts a worker and resolves when it reads. */
  async worker(flags: readonly string[] = []): Promise<WorkerProcess> {
    const process = this.start('run', flags);
    await eventually(() => /Reading \S+ in group/.test(process.output()), { what: 'the worker to read' });
    return process;
  }

  pending(): Promise<readonly PendingEntry[]> {
    return this.world.port.pending(this.stream, groupName('workers'), { from: 'min', to: 'max', count: 1000 });
  }

  async nothingPending(): Promise<void> {
    await eventually(async () => (await this.pending()).length === 0, { what: 'nothing to be pending' });
  }
}

/** A gateway that listens. */
export class Gateway {
  private keys = 0;

  constructor(
    readonly process: WorkerProcess,
    readonly url: string,
  ) {}

  async post(input: string, key = uniqueKey(`key${(this.keys += 1)}`)): Promise<string> {
    const response = await fetch(`${this.url}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: 'ana', idempotencyKey: key, input }),
    });
    assert.equal(response.status, 202);
    return ((await response.json()) as { runId: string }).runId;
  }

  async run(runId: string): Promise<ShownRun> {
    return (await (await fetch(`${this.url}/runs/${runId}`)).json()) as ShownRun;
  }

  /** Waits until a run is done or failed. */
  finished(runId: string): Promise<ShownRun> {
    return eventually(
      async () => {
        const run = await this.run(runId);
        return run.status !== 'pending' && run;
      },
      { what: `run ${runId} to be finished` },
    );
  }
}
