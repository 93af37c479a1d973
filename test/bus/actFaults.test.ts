// What goes wrong while the extension writes: the connection cut around the reply of each verb, servers that refuse, keys that are
// no streams, groups that vanish, entries that are too wide, users without scripts. Nothing is lost, nothing is sent twice.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus';
import type { Report } from '../../src/connections/gate';
import type { RestoreRequest } from '../../src/connections/verbs/restore';
import type { PlannedItem, Verb } from '../../src/connections/verbs/verb';
import { verbs } from '../../src/connections/verbs/index';
import { startFaultProxy } from '../support/faultProxy';
import type { FaultProxy } from '../support/faultProxy';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';
import { openActWorld, seedPending, statuses } from './support/actWorld';
import type { ActWorld, Seeded } from './support/actWorld';
import { pendingRows } from './support/busWorld';

describe('writing when things go wrong', () => {
  let server: RedisServer;
  let redis: Redis;
  let proxy: FaultProxy;
  const worlds: ActWorld[] = [];

  before(async () => {
    server = await startRedis({
      users: [
        'noscripts on >pw ~* +@all -eval -evalsha -script',
        'noack on >pw ~* +@all -xack',
        'reader on >pw ~* +@read +@connection -@dangerous +info +command +time',
      ],
    });
    redis = new Redis(server.port, server.host);
    proxy = await startFaultProxy(server.port);
  });
  after(async () => {
    await proxy.stop();
    redis.disconnect();
    await server.stop();
  });
  afterEach(() => {
    for (const world of worlds.splice(0)) world.dispose();
  });

  async function open(url = server.url): Promise<ActWorld> {
    const world = await openActWorld(url);
    worlds.push(world);
    return world;
  }

  const as = (user: string): string => `redis://${user}:pw@${server.host}:${server.port}`;

  interface Case {
    readonly command: RegExp;
    readonly prepare: () => Promise<{
      readonly run: (world: ActWorld) => Promise<Report>;
      readonly effect: () => Promise<number>;
    }>;
  }

  function running<Request, Item extends PlannedItem>(verb: Verb<Request, Item>, request: Request) {
    return (world: ActWorld): Promise<Report> => world.act(verb, request);
  }

  async function dead(): Promise<Seeded & { readonly deadLetters: Seeded['stream'] }> {
    const seeded = await seedPending(redis, uniqueKey(), 1);
    const { stream, group, ids } = seeded;
    const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
    const report = await (await open()).act(verbs.moveToDeadLetters, request);
    return {
      ...seeded,
      ids: report.results.flatMap(({ newId }) => newId ?? []),
      deadLetters: streamKey(`${stream}:dlq`),
    };
  }

  /** Each verb, and how often its effect is there: once is right, never and twice are not when it was sent. */
  const cases: Readonly<Record<string, Case>> = {
    makeReclaimable: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
        return {
          run: running(verbs.makeReclaimable, { stream, group, select: { ids }, guard: 'strict' }),
          effect: async () => (await pendingRows(redis, stream)).filter(({ idleMs }) => idleMs > 80_000_000).length,
        };
      },
    },
    claim: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
        const consumer = consumerName('ana');
        return {
          run: running(verbs.claim, { stream, group, select: { ids }, guard: 'strict', consumer, count: 'increment' }),
          effect: async () => {
            const [row] = await pendingRows(redis, stream);
            return row?.consumer === 'ana' ? row.deliveries - 1 : 0;
          },
        };
      },
    },
    acknowledge: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
        return {
          run: running(verbs.acknowledge, { stream, group, select: { ids }, guard: 'strict' }),
          effect: async () => 1 - (await pendingRows(redis, stream)).length,
        };
      },
    },
    moveToDeadLetters: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
        return {
          run: running(verbs.moveToDeadLetters, { stream, group, select: { ids }, guard: 'strict', reason: '' }),
          effect: async () => {
            const copies = await redis.xlen(`${stream}:dlq`);
            assert.equal(copies + (await pendingRows(redis, stream)).length, 1);
            return copies;
          },
        };
      },
    },
    replay: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, deadLetters, ids } = await dead();
        return {
          run: running(verbs.replay, { deadLetters, target: stream, ids }),
          effect: async () => {
            const copies = (await redis.xlen(stream)) - 1;
            assert.equal(copies + (await redis.xlen(deadLetters)), 1);
            return copies;
          },
        };
      },
    },
    replayToGroup: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, group, deadLetters, ids } = await dead();
        return {
          run: running(verbs.replayToGroup, { deadLetters, stream, group, ids }),
          effect: async () => {
            const rows = (await pendingRows(redis, stream)).length;
            assert.equal(rows + (await redis.xlen(deadLetters)), 1);
            return rows;
          },
        };
      },
    },
    replayEntry: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, ids } = await seedPending(redis, uniqueKey(), 1);
        return {
          run: running(verbs.replayEntry, { stream, target: stream, ids }),
          effect: async () => (await redis.xlen(stream)) - 1,
        };
      },
    },
    publish: {
      command: /^XADD/,
      prepare: async () => {
        const { stream } = await seedPending(redis, uniqueKey(), 1);
        const fields = [Buffer.from('a'), Buffer.from('1')];
        return {
          run: running(verbs.publish, { stream, fields, makeStream: false }),
          effect: async () => (await redis.xlen(stream)) - 1,
        };
      },
    },
    deleteEntry: {
      command: /^EVAL/,
      prepare: async () => {
        const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
        await redis.xack(stream, group, ...ids);
        return {
          run: running(verbs.deleteEntry, { stream, ids }),
          effect: async () => 1 - (await redis.xlen(stream)),
        };
      },
    },
    restore: {
      command: /^XCLAIM/,
      prepare: async () => {
        const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
        await redis.xack(stream, group, ...ids);
        const before = { owner: consumerName('dead'), deliveries: 1, idleMs: 1 };
        const entries = ids.map((id) => {
          return { id, before, ownerAfter: before.owner, deliveriesAfter: 1, deadId: undefined };
        });
        const request: RestoreRequest = {
          kind: 'unacknowledge',
          stream,
          group,
          entries,
          ageMs: 0,
          deadLetters: undefined,
        };
        return {
          run: running(verbs.restore, request),
          effect: async () => (await pendingRows(redis, stream)).length,
        };
      },
    },
  };

  for (const [name, { command, prepare }] of Object.entries(cases)) {
    for (const [fault, happened] of [
      ['cut-before-forwarding', 0],
      ['swallow-reply', 1],
    ] as const) {
      it(`${name}: a connection cut ${happened === 0 ? 'before the server saw it' : 'before its reply'} is unknown, read anew and never sent again`, async () => {
        const { run, effect } = await prepare();
        const world = await open(proxy.url);
        const matched = (words: readonly Buffer[]): boolean => command.test(String(words[0]).toUpperCase());
        const cut = proxy.next(matched, fault);
        const sent = ['EVAL', 'EVALSHA', 'XADD', 'XCLAIM'];
        const forwardedBefore = sent.map((word) => proxy.forwarded(word));
        const report = await run(world);
        assert.ok(cut.hasFired);
        assert.deepEqual(
          report.results.map(({ outcome }) => outcome),
          ['unknown'],
        );
        assert.equal(report.error?.ambiguous, true);
        assert.equal(await effect(), happened);
        const forwarded = sent.map((word, index) => proxy.forwarded(word) - (forwardedBefore[index] ?? 0));
        assert.equal(
          forwarded.reduce((sum, count) => sum + count, 0),
          happened,
          'sent once at most',
        );
        assert.ok(report.results[0]?.found !== undefined, 'the state was read anew');
        const [action] = await world.log.recent();
        assert.deepEqual(
          action?.items.map(({ outcome }) => outcome),
          ['unknown'],
        );
      });
    }
  }

  it('moves nothing when the server is out of memory', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 3);
    const world = await open();
    const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
    const plan = await world.gate.plan(world.connection, verbs.moveToDeadLetters, request);
    await redis.config('SET', 'maxmemory', '1');
    try {
      const report = await world.gate.run(plan);
      assert.deepEqual(statuses(report), Array(3).fill('failed out-of-memory'));
      assert.match(report.results[0]?.found ?? '', /^pending with dead/);
    } finally {
      await redis.config('SET', 'maxmemory', '0');
    }
    assert.equal((await pendingRows(redis, stream)).length, 3);
    assert.equal(await redis.exists(`${stream}:dlq`), 0);
  });

  it('says that the dead-letter key is no stream, before and while it moves', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
    const world = await open();
    const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
    const plan = await world.gate.plan(world.connection, verbs.moveToDeadLetters, request);
    await redis.set(`${stream}:dlq`, 'not a stream');
    assert.deepEqual(statuses(await world.gate.run(plan)), ['failed wrong-type']);
    const again = await world.gate.plan(world.connection, verbs.moveToDeadLetters, request);
    assert.equal(again.preview.obstacle?.kind, 'wrong-type');
    await assert.rejects(world.gate.run(again), { reason: 'cancelled' });
    assert.equal((await pendingRows(redis, stream)).length, 1);
  });

  it('says that the group has vanished', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
    const world = await open();
    const request = { stream, group, select: { ids }, guard: 'strict' } as const;
    const plan = await world.gate.plan(world.connection, verbs.acknowledge, request);
    await redis.xgroup('DESTROY', stream, group);
    const report = await world.gate.run(plan);
    assert.deepEqual(statuses(report), ['failed no-group']);
    await assert.rejects(world.gate.plan(world.connection, verbs.acknowledge, request), { reason: 'no-group' });
  });

  it('leaves an entry alone that has more fields than a script can pass on, and says so', async () => {
    const stream = streamKey(uniqueKey());
    const wide = Array.from({ length: 4000 }, (_, index) => [`f${index}`, 'v']).flat();
    const id = entryId(String(await redis.xadd(stream, '*', ...wide)));
    await redis.xgroup('CREATE', stream, 'workers', '0');
    await redis.xreadgroup('GROUP', 'workers', 'dead', 'COUNT', 1, 'STREAMS', stream, '>');
    const world = await open();
    const request = {
      stream,
      group: groupName('workers'),
      select: { ids: [id] },
      guard: 'strict',
      reason: '',
    } as const;
    assert.deepEqual(statuses(await world.act(verbs.moveToDeadLetters, request)), ['refused too-wide 4000']);
    assert.equal((await pendingRows(redis, stream)).length, 1);
    assert.deepEqual(statuses(await world.act(verbs.replayEntry, { stream, target: stream, ids: [id] })), [
      'done replayed',
    ]);
    const [copy] = await redis.xrevrange(stream, '+', '-', 'COUNT', 1);
    assert.equal(copy?.[1].length, 8004);
  });

  it('moves and replays streams with names that no slot can be shared with, on one server', async () => {
    const { stream, group, ids } = await seedPending(redis, `a}b${uniqueKey('{}x')}`, 1);
    const world = await open();
    const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
    const moved = await world.act(verbs.moveToDeadLetters, request);
    assert.deepEqual(statuses(moved), ['done moved']);
    const replayed = await world.act(verbs.replay, {
      deadLetters: streamKey(`${stream}:dlq`),
      target: stream,
      ids: moved.results.flatMap(({ newId }) => newId ?? []),
    });
    assert.deepEqual(statuses(replayed), ['done replayed']);
  });

  describe('without scripts', () => {
    it('says that scripts are refused and that nothing was changed, then works without the guard when that is chosen', async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 3, { deliveries: 2 });
      const world = await open(as('noscripts'));
      const request = { stream, group, guard: 'strict' } as const;
      const [first = entryId('1-1'), second = entryId('1-1'), third = entryId('1-1')] = ids;
      const refused = await world.act(verbs.acknowledge, { ...request, select: { ids: [first] } });
      assert.deepEqual([statuses(refused), refused.scriptsRefused], [['failed no-permission'], true]);
      assert.equal((await pendingRows(redis, stream)).length, 3);
      const acknowledged = await world.act(verbs.acknowledge, { ...request, select: { ids: [first] } }, 'unguarded');
      assert.deepEqual(statuses(acknowledged), ['done acknowledged']);
      // From then on it is known: the next preview says so by itself.
      const consumer = consumerName('ana');
      const claiming = { ...request, select: { ids: [second] }, consumer, count: 'keep' } as const;
      const plan = await world.gate.plan(world.connection, verbs.claim, claiming);
      assert.equal(plan.mode, 'unguarded');
      assert.deepEqual(statuses(await world.gate.run(plan)), ['done claimed']);
      const moving = { ...request, select: { ids: [third] }, reason: 'x' } as const;
      const moved = await world.act(verbs.moveToDeadLetters, moving);
      assert.deepEqual(statuses(moved), ['done moved']);
      assert.deepEqual(
        (await pendingRows(redis, stream)).map(({ id, consumer: owner, deliveries }) => [id, owner, deliveries]),
        [[second, 'ana', 2]],
      );
      const deadLetters = streamKey(`${stream}:dlq`);
      const [letter] = await redis.xrange(deadLetters, '-', '+');
      assert.deepEqual(letter?.[1].slice(0, 6), ['n', '2', 'dl.id', third, 'dl.entry', third]);
      const deadIds = moved.results.flatMap(({ newId }) => newId ?? []);
      const replaying = { deadLetters, target: stream, ids: deadIds };
      const plans = await Promise.all([1, 2].map(() => world.gate.plan(world.connection, verbs.replay, replaying)));
      const reports = await Promise.all(plans.map((each) => world.gate.run(each)));
      assert.deepEqual(reports.flatMap((report) => statuses(report)).sort(), ['done replayed', 'refused gone']);
      assert.equal(await redis.xlen(stream), 4);
      assert.equal(await redis.xlen(deadLetters), 0);
    });

    it('lets one of several movers win and gives nothing to two of them', async () => {
      const { stream, group, ids } = await seedPending(redis, uniqueKey(), 40);
      const movers = await Promise.all([1, 2, 3].map(() => open(as('noscripts'))));
      const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
      const plans = await Promise.all(
        movers.map((world) =>
          world.gate.plan(world.connection, verbs.moveToDeadLetters, request, { mode: 'unguarded' }),
        ),
      );
      const reports = await Promise.all(
        movers.flatMap((world, index) => {
          const plan = plans[index];
          return plan === undefined ? [] : [world.gate.run(plan)];
        }),
      );
      const done = reports.flatMap(({ results }) => results).filter(({ outcome }) => outcome === 'done');
      assert.equal(done.length, 40);
      assert.equal(new Set(done.map(({ id }) => id)).size, 40);
      assert.equal(await redis.xlen(`${stream}:dlq`), 40);
      assert.equal((await pendingRows(redis, stream)).length, 0);
    });
  });

  it('tells of the copy that is left when a user may publish but not acknowledge', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
    const world = await open(as('noack'));
    const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
    const report = await world.act(verbs.moveToDeadLetters, request);
    assert.deepEqual([statuses(report), report.scriptsRefused], [['failed no-permission'], false]);
    const [copy] = await redis.xrange(`${stream}:dlq`, '-', '+');
    assert.ok(copy);
    assert.match(
      report.results[0]?.found ?? '',
      new RegExp(`^pending with dead, 1 deliveries, dead letter ${copy[0]}$`),
    );
  });

  it('previews for a user who may only read, without one denied command', async () => {
    const { stream, group, ids } = await seedPending(redis, uniqueKey(), 1);
    await redis.call('ACL', 'LOG', 'RESET');
    const world = await open(as('reader'));
    const request = { stream, group, select: { ids }, guard: 'strict', reason: '' } as const;
    for (const verb of [verbs.makeReclaimable, verbs.acknowledge])
      assert.equal((await world.gate.plan(world.connection, verb, request)).preview.items.length, 1);
    await world.gate.plan(world.connection, verbs.moveToDeadLetters, request);
    assert.deepEqual(await redis.call('ACL', 'LOG'), []);
  });
});
