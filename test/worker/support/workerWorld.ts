// A stream with a group on a server of the test's own, and what the worker tests ask about it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { consumerName, groupName, streamKey } from '../../../src/bus';
import type { ConsumerName, EntryId, GroupName, PendingEntry, StreamKey } from '../../../src/bus';
import { connectRedis } from '../../../src/bus/redis/connect';
import type { RedisPort } from '../../../src/bus/redis/redisPort';
import { startRedis } from '../../support/redisServer';
import type { RedisServer } from '../../support/redisServer';
import { uniqueKey } from '../../support/uniqueKey';
import { endWorkers } from './workerProcess';

/** A server, a client and a folder for handler files. */
export class WorkerWorld {
  private constructor(
    readonly server: RedisServer,
    readonly port: RedisPort,
    private readonly folder: string,
  ) {}

  static async start(): Promise<WorkerWorld> {
    const server = await startRedis();
    const port = await connectRedis({ url: server.url });
    return new WorkerWorld(server, port, mkdtempSync(path.join(tmpdir(), 'redis-streams-worker-')));
  }

  async end(): Promise<void> {
    await endWorkers();
    await this.port.close();
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A stream of the test's own with one group that has read nothing. */
  async stream(): Promise<WorkerStream> {
    const key = streamKey(uniqueKey('worker'));
    const group = groupName('billing');
    await this.port.createGroup(key, group, '$', { makeStream: true });
    return new WorkerStream(this, key, group);
  }

  /** How many clients of the server wait in a blocking read. */
  async countBlocked(): Promise<number> {
    const client = new Redis(this.server.url);
    try {
      return Number(/blocked_clients:(\d+)/.exec(await client.info('clients'))?.[1]);
    } finally {
      client.disconnect();
    }
  }

  /** Writes a handler file and gives its path. */
  handlerFile(name: string, text: string): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, text);
    return file;
  }
}

/** A stream and group under test. */
export class WorkerStream {
  constructor(
    private readonly world: WorkerWorld,
    readonly key: StreamKey,
    readonly group: GroupName,
  ) {}

  /** The arguments that name it. */
  get args(): string[] {
    return ['run', '--url', this.world.server.url, '--stream', this.key, '--group', this.group];
  }

  async publish(...fields: Readonly<Record<string, string>>[]): Promise<EntryId[]> {
    const ids = await Promise.all(
      fields.map((record) =>
        this.world.port.add(
          this.key,
          Object.entries({ kind: 'test', ...record }).flatMap(([name, value]) => [
            Buffer.from(name),
            Buffer.from(value),
          ]),
        ),
      ),
    );
    return ids.flatMap((id) => id ?? []);
  }

  /** Lets a consumer read what is new and keep it pending, idle for so long. */
  async deliver(consumer: string, count: number, idleMs = 0): Promise<EntryId[]> {
    const name = consumerName(consumer);
    const entries = await this.world.port.readGroup(this.key, this.group, name, { count });
    const ids = entries.map(({ id }) => id);
    await this.world.port.claim(this.key, this.group, name, ids, { minIdleMs: 0, count: 'keep', idleMs });
    return ids;
  }

  /** The pending entries, lowest id first. */
  pending(consumer?: ConsumerName): Promise<readonly PendingEntry[]> {
    const query = { from: 'min', to: 'max', count: 1000 } as const;
    return this.world.port.pending(this.key, this.group, consumer === undefined ? query : { ...query, consumer });
  }

  async consumers(): Promise<string[]> {
    return (await this.world.port.consumerInfos(this.key, this.group)).map(({ name }) => name).sort();
  }
}
