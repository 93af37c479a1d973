// A connection with its write gate on a real server, as the extension makes it, and what it wrote. Tested by its users.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Redis } from 'ioredis';
import { systemClock } from '../../../src/base/clock';
import type { Clock } from '../../../src/base/clock';
import { englishLocalizer } from '../../../src/base/localize';
import { connectRedis, streamKey, groupName, entryId } from '../../../src/bus';
import type { EntryId, GroupName, StreamKey } from '../../../src/bus';
import { FileActionLog } from '../../../src/connections/actionLog';
import { ConnectionRegistry } from '../../../src/connections/connectionRegistry';
import { splitSecrets } from '../../../src/connections/connectionUrl';
import { WriteGate } from '../../../src/connections/gate';
import type { Report } from '../../../src/connections/gate';
import type { InspectPort } from '../../../src/connections/inspectPort';
import type { LiveConnection } from '../../../src/connections/liveConnection';
import { connectionId } from '../../../src/connections/profiles';
import type { ConnectionProfile, Environment } from '../../../src/connections/profiles';
import type { Mode, PlannedItem, Verb } from '../../../src/connections/verbs/verb';
import { memoryStore } from '../../support/treeText';

/** The calls of a port that may write. */
export const writingCalls = [
  'add',
  'delete',
  'trim',
  'createGroup',
  'destroyGroup',
  'readGroup',
  'acknowledge',
  'claim',
  'autoClaim',
  'run',
  'openReader',
  'openTransaction',
] as const;

/** Everything a test of the gate needs; dispose it in a hook. */
export interface ActWorld {
  readonly connection: LiveConnection;
  readonly gate: WriteGate;
  readonly log: FileActionLog;
  readonly warnings: readonly string[];
  /** Which writing calls the ports of this connection got. */
  readonly writes: readonly string[];
  /** Plans and runs a verb. */
  act<Request, Item extends PlannedItem>(verb: Verb<Request, Item>, request: Request, mode?: Mode): Promise<Report>;
  dispose(): void;
}

/** Makes a connection of an environment; nothing is connected yet. */
export async function openActWorld(
  url: string,
  options: { readonly environment?: Environment; readonly clock?: Clock; readonly folder?: string } = {},
): Promise<ActWorld> {
  const { store } = memoryStore();
  const { url: shown, secrets } = splitSecrets(url);
  const profile: ConnectionProfile = {
    id: connectionId('saved/act'),
    name: 'act',
    url: shown,
    environment: options.environment ?? 'local',
    source: 'saved',
  };
  await store.save(profile, secrets);
  const writes: string[] = [];
  const clock = options.clock ?? systemClock({ keepAlive: false });
  const connections = new ConnectionRegistry({
    store,
    readSetting: () => ({ user: undefined, workspace: undefined }),
    variables: {},
    clock,
    l10n: englishLocalizer,
    openPort: async (target, { onClosed }) =>
      countWrites(await connectRedis({ url: target, clientName: 'act-test', onLost: onClosed }), writes),
  });
  const connection = connections.find(profile.id);
  if (!connection) throw new Error('The saved connection is missing.');
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'redis-streams-act-'));
  const log = new FileActionLog(folder);
  const warnings: string[] = [];
  const gate = new WriteGate({
    clock,
    log,
    l10n: englishLocalizer,
    warn: (message) => {
      warnings.push(message);
    },
  });
  return {
    connection,
    gate,
    log,
    warnings,
    writes,
    act: async (verb, request, mode) =>
      gate.run(await gate.plan(connection, verb, request, mode === undefined ? {} : { mode })),
    dispose: () => {
      gate.dispose();
      connections.dispose();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Entries of a group, read by a consumer that then does nothing with them. */
export interface Seeded {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly ids: readonly EntryId[];
}

/** Adds entries with a field `n` and lets a consumer read them all. */
export async function seedPending(
  redis: Redis,
  name: string,
  count: number,
  options: {
    readonly group?: string;
    readonly consumer?: string;
    readonly idleMs?: number;
    readonly deliveries?: number;
  } = {},
): Promise<Seeded> {
  const { group = 'workers', consumer = 'dead', idleMs = 60_000, deliveries = 1 } = options;
  const ids: EntryId[] = [];
  for (let from = 0; from < count; from += 1000) {
    const pipeline = redis.pipeline();
    for (let n = from; n < Math.min(count, from + 1000); n += 1) pipeline.xadd(name, '*', 'n', String(n));
    for (const [error, id] of (await pipeline.exec()) ?? []) {
      if (error) throw error;
      ids.push(entryId(String(id)));
    }
  }
  await redis.xgroup('CREATE', name, group, '0', 'MKSTREAM');
  await redis.xreadgroup('GROUP', group, consumer, 'COUNT', count, 'STREAMS', name, '>');
  for (let from = 0; from < count; from += 1000) {
    const part = ids.slice(from, from + 1000);
    const setting = ['IDLE', String(idleMs), 'RETRYCOUNT', String(deliveries), 'JUSTID'];
    await redis.call('XCLAIM', name, group, consumer, '0', ...part, ...setting);
  }
  return { stream: streamKey(name), group: groupName(group), ids };
}

/** What became of each item, in order: the status, with what it is about. */
export function statuses({ results }: Report): readonly string[] {
  return results.map(({ outcome, status, detail }) =>
    [outcome, status, ...(detail === undefined ? [] : [detail])].join(' '),
  );
}

/** The same port, every writing call of which is noted. */
function countWrites<Port extends InspectPort>(port: Port, writes: string[]): Port {
  return new Proxy(port, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const call = value as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (writingCalls.some((each) => each === name)) writes.push(String(name));
        return call.apply(target, args);
      };
    },
  });
}
