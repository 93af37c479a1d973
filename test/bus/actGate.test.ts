// The gate on a real server: what is locked stays unwritten, a preview only reads, every verb writes through it and is written down.
import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus';
import { FileActionLog } from '../../src/connections/actionLog';
import type { ActionLine } from '../../src/connections/actionLog';
import type { Plan, Report } from '../../src/connections/gate';
import type { RestoreRequest } from '../../src/connections/verbs/restore';
import type { PlannedItem, Verb, VerbName } from '../../src/connections/verbs/verb';
import { verbs } from '../../src/connections/verbs/index';
import { manualClock } from '../support/manualClock';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { openActWorld, seedPending, statuses } from './support/actWorld';
import type { ActWorld } from './support/actWorld';

const secret = 'payload-that-nobody-logs';

describe('the write gate on a server', () => {
  let server: RedisServer;
  let redis: Redis;

  before(async () => {
    server = await startRedis();
    redis = new Redis(server.port, server.host);
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });

  interface Prepared {
    plan(world: ActWorld): Promise<{ run(): Promise<Report> }>;
  }

  function prepared<Request, Item extends PlannedItem>(verb: Verb<Request, Item>, request: Request): Prepared {
    return {
      plan: async (world) => {
        const plan: Plan<Request, Item> = await world.gate.plan(world.connection, verb, request);
        return { run: () => world.gate.run(plan) };
      },
    };
  }

  /** Every verb with something to do; a verb that is missing here does not compile. */
  const cases: Readonly<Record<VerbName, () => Promise<Prepared>>> = {
    makeReclaimable: async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
      return prepared(verbs.makeReclaimable, { stream, group, select: { ids }, guard: 'strict' });
    },
    claim: async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
      const consumer = consumerName('ana');
      return prepared(verbs.claim, { stream, group, select: { ids }, guard: 'strict', consumer, count: 'keep' });
    },
    acknowledge: async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
      return prepared(verbs.acknowledge, { stream, group, select: { ids }, guard: 'strict' });
    },
    moveToDeadLetters: async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
      return prepared(verbs.moveToDeadLetters, { stream, group, select: { ids }, guard: 'strict', reason: secret });
    },
    replay: async () => {
      const { stream, deadLetters, ids } = await seedDead();
      return prepared(verbs.replay, { deadLetters, target: stream, ids });
    },
    replayToGroup: async () => {
      const { stream, deadLetters, ids, group } = await seedDead();
      return prepared(verbs.replayToGroup, { deadLetters, stream, group, ids });
    },
    replayEntry: async () => {
      const { stream, ids } = await seedPending(redis, uniqueKey(), 1);
      return prepared(verbs.replayEntry, { stream, target: stream, ids });
    },
    publish: async () => {
      const { stream } = await seedPending(redis, uniqueKey(), 1);
      const fields = [Buffer.from('secret'), Buffer.from(secret)];
      return prepared(verbs.publish, { stream, fields, makeStream: false });
    },
    deleteEntry: async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
      await redis.xack(stream, group, ...ids);
      return prepared(verbs.deleteEntry, { stream, ids });
    },
    restore: async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
      await redis.xack(stream, group, ...ids);
      const before = { owner: consumerName('dead'), deliveries: 1, idleMs: 1 };
      const entries = ids.map((id) => {
        return { id, before, ownerAfter: consumerName('dead'), deliveriesAfter: 1, deadId: undefined };
      });
      const request: RestoreRequest = {
        kind: 'unacknowledge',
        stream,
        group,
        entries,
        ageMs: 0,
        deadLetters: undefined,
      };
      return prepared(verbs.restore, request);
    },
    launchWorker: async () => {
      const { stream, group } = await seedPending(redis, uniqueKey(), 1);
      const may = { mayCreateGroup: false, mayReclaim: true, mayDeadLetter: false };
      return prepared(verbs.launchWorker, { stream, group, consumer: consumerName('debug'), ...may });
    },
    removeDebugGroup: async () => {
      const { stream, group } = await seedPending(redis, uniqueKey(), 1, { idleMs: 60_000 });
      await redis.xgroup('CREATE', stream, 'billing-debug-ana', '0');
      assert.notEqual(group, 'billing-debug-ana');
      return prepared(verbs.removeDebugGroup, { stream, group: groupName('billing-debug-ana'), consumers: [] });
    },
  };

  async function seedDead(): Promise<
    Awaited<ReturnType<typeof seedPending>> & { readonly deadLetters: ReturnType<typeof streamKey> }
  > {
    const world = await openActWorld(server.url);
    try {
      const seeded = await seedPending(redis, uniqueKey(), 1);
      const { stream, group, ids } = seeded;
      const request = { stream, group, select: { ids }, guard: 'strict', reason: 'x' } as const;
      const report = await world.act(verbs.moveToDeadLetters, request);
      const deadLetters = streamKey(`${stream}:dlq`);
      return { ...seeded, deadLetters, ids: report.results.flatMap(({ newId }) => newId ?? []) };
    } finally {
      world.dispose();
    }
  }

  /** The names of all commands that the server has run, with how often. */
  async function commandCounts(): Promise<ReadonlyMap<string, number>> {
    const info = await redis.info('commandstats');
    return new Map(
      [...info.matchAll(/cmdstat_([\w|]+):calls=(\d+)/g)].map(([, name = '', calls]) => [name, Number(calls)]),
    );
  }

  const reading =
    /^(?:x(?:range|revrange|len|pending|info.*)|type|info|time|command.*|hello|client.*|ping|scan|role|select|auth)$/;

  for (const [name, prepare] of Object.entries(cases)) {
    it(`lets ${name} write only when it is open, and its preview only reads`, async () => {
      const ready = await prepare();
      const world = await openActWorld(server.url, { environment: 'production' });
      try {
        const before = await commandCounts();
        const plan = await ready.plan(world);
        await assert.rejects(plan.run(), { reason: 'read-only' });
        const after = await commandCounts();
        const ran = [...after.keys()].filter((command) => after.get(command) !== before.get(command));
        assert.deepEqual(
          ran.filter((command) => !reading.test(command)),
          [],
        );
        assert.deepEqual(world.writes, []);
        assert.deepEqual(await world.log.recent(), []);
        world.gate.unlock(world.connection);
        const report = await plan.run();
        assert.deepEqual(
          report.results.map(({ outcome }) => outcome),
          ['done'],
        );
        // A launch writes nothing itself: the worker does, within what was granted.
        assert.equal(world.writes.length > 0, name !== 'launchWorker');
        const [action] = await world.log.recent();
        assert.equal(action?.start.verb, name);
        assert.deepEqual(
          action.items.map(({ outcome }) => outcome),
          ['done'],
        );
        assert.doesNotMatch(await readFile(await world.log.file(), 'utf8'), new RegExp(secret));
      } finally {
        world.dispose();
      }
    });
  }

  it('starts read-only for all but local connections', async () => {
    for (const environment of ['local', 'development', 'staging', 'production'] as const) {
      const world = await openActWorld(server.url, { environment });
      assert.equal(world.gate.isOpen(world.connection), environment === 'local');
      assert.equal(world.connection.isReadOnly, environment !== 'local');
      world.dispose();
    }
  });

  it('locks by itself when the time is over, tells each minute, and locks at once when asked or disconnected', async () => {
    const clock = manualClock();
    const world = await openActWorld(server.url, { environment: 'staging', clock });
    const { connection, gate } = world;
    try {
      let told = 0;
      connection.onDidChange(() => {
        told += 1;
      });
      gate.unlock(connection);
      assert.equal(connection.writableUntilMs, clock.now() + 15 * 60_000);
      told = 0;
      clock.advance(14 * 60_000);
      assert.ok(told >= 14);
      assert.equal(connection.isReadOnly, false);
      clock.advance(60_000);
      assert.equal(connection.isReadOnly, true);
      for (const end of [() => gate.lock(connection), () => connection.disconnect()]) {
        gate.unlock(connection);
        assert.equal(gate.isOpen(connection), true);
        end();
        assert.equal(gate.isOpen(connection), false);
      }
    } finally {
      world.dispose();
    }
    assert.equal(clock.waiting, 0);
  });

  it('stops between two calls when it is locked or cancelled, and says what was not tried', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 250);
    const world = await openActWorld(server.url, { environment: 'staging' });
    try {
      world.gate.unlock(world.connection);
      const request = { stream, group, select: { ids }, guard: 'strict' } as const;
      const plan = await world.gate.plan(world.connection, verbs.acknowledge, request);
      const locked = await world.gate.run(plan, {
        onProgress: () => {
          world.gate.lock(world.connection);
        },
      });
      assert.equal(statuses(locked).filter((status) => status === 'done acknowledged').length, 100);
      assert.equal(statuses(locked).filter((status) => status.startsWith('not-tried')).length, 150);
      world.gate.unlock(world.connection);
      const abort = new AbortController();
      const rest = await world.gate.plan(world.connection, verbs.acknowledge, {
        ...request,
        select: { all: 'pending' },
      });
      const cancelled = await world.gate.run(rest, {
        signal: abort.signal,
        onProgress: () => {
          abort.abort();
        },
      });
      assert.equal(statuses(cancelled).filter((status) => status === 'done acknowledged').length, 100);
      assert.deepEqual(await redis.xpending(stream, group, '-', '+', 100).then((rows) => rows.length), 50);
    } finally {
      world.dispose();
    }
  });

  it('sends nothing when the action cannot be written down', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
    const file = path.join(server.dir, 'not-a-folder');
    await writeFile(file, '');
    const world = await openActWorld(server.url, { folder: path.join(file, 'log') });
    try {
      const request = { stream, group, select: { ids }, guard: 'strict' } as const;
      await assert.rejects(world.act(verbs.acknowledge, request), { reason: 'not-logged' });
      assert.deepEqual(world.writes, []);
      assert.equal((await redis.xpending(stream, group, '-', '+', 10)).length, 1);
    } finally {
      world.dispose();
    }
  });

  it('keeps the log bounded, and reads past a line that was cut short', async () => {
    const folder = path.join(server.dir, 'log');
    const log = new FileActionLog(folder, 2000);
    const line = (action: string): ActionLine => ({ action, kind: 'undone', at: '', by: 'x'.repeat(300) });
    const start: ActionLine = {
      action: 'first',
      kind: 'sent',
      at: '',
      verb: 'claim',
      connection: { id: 'a', name: 'a', environment: 'local', url: '' },
      stream: '\udcff',
      guarded: true,
      choices: {},
      total: 1,
    };
    for (let index = 0; index < 8; index += 1) await log.append(line(`${index}`));
    await log.append(start);
    await appendFile(await log.file(), '{"action":"first","kind":"rep');
    const next = new FileActionLog(folder, 2000);
    await next.append({ ...start, action: 'second' });
    const actions = await next.recent();
    assert.deepEqual(
      actions.map(({ start: { action, stream } }) => [action, stream]),
      [
        ['second', '\udcff'],
        ['first', '\udcff'],
      ],
    );
    for (let index = 0; index < 20; index += 1) await log.append(line(`${index}`));
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (file) => (await stat(path.join(folder, file))).size),
    );
    assert.equal(sizes.length, 2);
    assert.ok(sizes.every((size) => size < 3000));
  });

  it('counts what was delivered in the last 30 s', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 3, { idleMs: 31_000 });
    await redis.call('XCLAIM', stream, group, 'dead', '0', String(ids[1]), 'IDLE', '4000', 'JUSTID');
    const world = await openActWorld(server.url);
    try {
      const request = { stream, group, select: { ids: [...ids, entryId('1-1')] }, guard: 'strict' } as const;
      const { preview } = await world.gate.plan(world.connection, verbs.acknowledge, request);
      assert.equal(preview.recent.count, 1);
      assert.ok((preview.recent.latestMs ?? 0) >= 4000);
      assert.deepEqual(preview.skipped, [{ id: '1-1', why: 'not-pending' }]);
    } finally {
      world.dispose();
    }
  });
});
