// A Redis with a stream that somebody works on, and what the tests of debugging ask about it. The connections are added as people do.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually';
import { startRedis } from '../../support/redisServer';
import type { RedisServer } from '../../support/redisServer';
import type { Window } from './window';

/** The password of the server: it must be nowhere but in the secret storage. */
export const serverPassword = 'hunter2-secret';

/** A server and a plain client. */
export class DebugWorld {
  private constructor(
    readonly server: RedisServer,
    readonly client: Redis,
  ) {}

  static async start(): Promise<DebugWorld> {
    const server = await startRedis({ password: serverPassword });
    return new DebugWorld(server, new Redis({ port: server.port, host: server.host, password: serverPassword }));
  }

  async end(): Promise<void> {
    this.client.disconnect();
    await this.server.stop();
  }

  /** A stream with a group that has some entries pending and has not been given others; answers the ids of all. */
  async stream(key: string, { pending = 0, undelivered = 0 } = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < pending + undelivered; n += 1) {
      const payload = JSON.stringify({ n });
      ids.push((await this.client.xadd(key, '*', 'type', 'order.created', 'payload', payload)) ?? '');
    }
    await this.client.xgroup('CREATE', key, 'billing', '0', 'MKSTREAM');
    if (pending > 0) await this.client.xreadgroup('GROUP', 'billing', 'live', 'COUNT', pending, 'STREAMS', key, '>');
    return ids;
  }

  /** All of a group that is not time: where it stands, its consumers, each pending entry with owner and delivery count. */
  async groupState(key: string, group = 'billing'): Promise<unknown> {
    const groups = (await this.client.xinfo('GROUPS', key)) as unknown[][];
    const rows = (await this.client.xpending(key, group, '-', '+', 1000)) as unknown[][];
    return {
      group: groups.find((row) => row[1] === group),
      pending: rows.map(([id, consumer, , deliveries]) => [id, consumer, deliveries]),
    };
  }

  /** The pending entries of a group: id and delivery count. */
  async pending(key: string, group = 'billing'): Promise<(readonly [string, number])[]> {
    const rows = (await this.client.xpending(key, group, '-', '+', 1000)) as [string, string, number, number][];
    return rows.map(([id, , , deliveries]) => [id, deliveries] as const);
  }

  async groups(key: string): Promise<string[]> {
    const groups = (await this.client.xinfo('GROUPS', key)) as unknown[][];
    return groups.map((row) => String(row[1])).sort();
  }

  /** Adds a connection to this server by Add Connection, and waits until it is connected. */
  async connect(window: Window, name: string, environment: string): Promise<void> {
    const { quickInput } = window;
    await window.openView('Redis Streams');
    await window.runCommand('Redis Streams: Add Connection…');
    await quickInput.answer(`redis://${this.server.host}:${this.server.port}`, 'Add Connection (1/3)');
    await quickInput.answer(name, 'Add Connection (2/3)');
    await quickInput.choose(environment);
    await quickInput.says(/^Password of user default/);
    await quickInput.type(serverPassword);
    await quickInput.accept();
    await window.statusBar.find(new RegExp(`^Connected to ${name}`));
    // The new connection is revealed, which takes the focus from whatever has it.
    const explorer = window.tree('Explorer');
    await eventually(async () => (await explorer.selection()).includes(name), { what: `${name} to be revealed` });
  }
}

/** The processes that run a worker now, by the folder that its launch file was in or not: their ids. */
export function workerProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProc(pid, 'cmdline').includes('worker.js\0run\0--launch-file'))
    .map(Number);
}

/** What a process was started with: arguments and environment, as the system tells. */
export function startedWith(pid: number): string {
  return readProc(String(pid), 'cmdline') + readProc(String(pid), 'environ');
}

/** Waits until no worker runs. */
export async function noWorkerLeft(): Promise<void> {
  await eventually(() => workerProcesses().length === 0, { timeoutMs: 30_000, what: 'the worker to be gone' });
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}
