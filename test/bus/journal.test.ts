/** The delivery journal that a consumer keeps on a real server: what is in it, and that nothing else ever suffers from it. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { ConfigError, Reject, RetryLater } from '../../src/bus';
import type { ConsumerOptions } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import { startCluster } from '../support/redisTopology';
import { uniqueKey } from '../support/uniqueKey';
import { addNumbered, age, collect, gate, pendingRows, quickOptions, readAs, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';
import { killCrashWorkers, startCrashWorker } from './support/crash';
import { isScriptCall } from './support/scriptCalls';

type Fields = Readonly<Record<string, string>>;

describe('the journal of a consumer', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(async () => {
    await world.closeBuses();
    await killCrashWorkers();
  });
  after(() => world.stop());

  const journaled = (options: Partial<ConsumerOptions> = {}): ConsumerOptions =>
    quickOptions({ name: 'me', journal: true, ...options });

  async function journalOf(stream: string): Promise<Fields[]> {
    const entries = await world.redis.xrange(`${stream}:journal`, '-', '+');
    return entries.flatMap(([, flat]) => unpacked(Object.fromEntries(pairs(flat))));
  }
  const eventsOf = async (stream: string, id: string): Promise<string[]> =>
    (await journalOf(stream)).filter((fields) => fields.id === id).map(({ event, attempt }) => `${event} ${attempt}`);

  it('has a delivery and an acknowledgement for each message, with who, where, when and how long', async () => {
    const stream = uniqueKey();
    const consumer = world.bus().consume(stream, journaled({ journal: { version: 'v7' } }), () => undefined);
    await consumer.start();
    const [id = ''] = await addNumbered(world.redis, stream, 1);
    await eventually(async () => (await journalOf(stream)).length === 2);
    const [delivered = {}, acknowledged = {}] = await journalOf(stream);
    const { at, ...rest } = delivered;
    assert.deepEqual(rest, {
      event: 'delivered',
      id,
      group: 'workers',
      consumer: 'me',
      attempt: '1',
      durationMs: '',
      host: hostname(),
      pid: String(process.pid),
      version: 'v7',
    });
    const [seconds] = await world.redis.time();
    assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(String(at)) / 1000 - Number(seconds)) < 60, 'by the clock of the server');
    assert.equal(acknowledged.event, 'acknowledged');
    assert.match(acknowledged.durationMs ?? '', /^\d+$/);
  });

  it('tells failures with their redacted and bounded error, retries and dead letters, each with its attempt', async () => {
    const stream = uniqueKey();
    const redact = (text: string): string => text.replaceAll('hunter2', '***');
    const options = journaled({ retry: { maxDeliveries: 2, backoff: () => 5 }, redact });
    const consumer = world.bus().consume(stream, options, ({ fields }, { deliveryCount }) => {
      if (fields.n === '0') throw new TypeError(`hunter2 ${'x'.repeat(20_000)}`);
      if (fields.n === '1' && deliveryCount === 1) throw new RetryLater(5);
      if (fields.n === '2') throw new Reject('never');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const [failing = '', later = '', rejected = ''] = await addNumbered(world.redis, stream, 3);
    await eventually(async () => dead.length === 2 && (await eventsOf(stream, later)).length === 4);
    await consumer.close();
    assert.deepEqual(await eventsOf(stream, failing), [
      'delivered 1',
      'failed 1',
      'retry-scheduled 1',
      'delivered 2',
      'failed 2',
      'dead-lettered 2',
    ]);
    assert.deepEqual(await eventsOf(stream, later), [
      'delivered 1',
      'retry-scheduled 1',
      'delivered 2',
      'acknowledged 2',
    ]);
    assert.deepEqual(await eventsOf(stream, rejected), ['delivered 1', 'failed 1', 'dead-lettered 1']);
    const all = await journalOf(stream);
    const failed = all.find(({ event, id }) => event === 'failed' && id === failing);
    assert.equal(failed?.['error.type'], 'TypeError');
    assert.ok(failed['error.message']?.startsWith('*** xxx') && failed['error.message'].length <= 1024);
    assert.ok((failed['error.stack']?.length ?? 0) <= 2048);
    assert.ok(!JSON.stringify(all).includes('hunter2'), 'no secret stays');
    assert.equal(all.find(({ event }) => event === 'retry-scheduled')?.durationMs, '5');
  });

  it('tells a claim from another consumer, a time that ran out, what was given back, and what was lost', async () => {
    const stream = uniqueKey();
    const ids = await addNumbered(world.redis, stream, 1);
    const [taken = ''] = await readAs(world.redis, stream, 'dead', 1);
    await age(world.redis, stream, 'dead', ids);
    const hold = gate();
    const options = journaled({
      concurrency: 3,
      handlerTimeoutMs: 40,
      abortGraceMs: 10,
      retry: { maxDeliveries: 5, backoff: () => 60_000 },
    });
    const consumer = world.bus().consume(stream, options, () => hold.opened);
    await consumer.start();
    await eventually(async () => (await eventsOf(stream, taken)).includes('retry-scheduled 2'));
    assert.deepEqual(await eventsOf(stream, taken), ['claimed 2', 'timed-out 2', 'retry-scheduled 2']);
    const waiting = world
      .bus()
      .consume(stream, journaled({ name: 'two', concurrency: 1, handlerTimeoutMs: 0 }), () => hold.opened);
    await consumer.close({ timeoutMs: 10 });
    await waiting.start();
    const [running = '', queued = ''] = await addNumbered(world.redis, stream, 2);
    await eventually(async () => (await eventsOf(stream, queued)).includes('delivered 1'));
    await world.redis.xclaim(stream, 'workers', 'thief', 0, running);
    await eventually(async () => (await eventsOf(stream, running)).includes('ownership-lost 1'));
    const closed = waiting.close({ timeoutMs: 50 });
    hold.open();
    await closed;
    assert.deepEqual(await eventsOf(stream, queued), ['delivered 1', 'released 1']);
  });

  it('has the delivery of a message whose handler kills the process in the same tick', async () => {
    for (let life = 0; life < 3; life += 1) {
      const stream = uniqueKey();
      await world.redis.xgroup('CREATE', stream, 'workers', '0', 'MKSTREAM');
      const [id = ''] = await addNumbered(world.redis, stream, 1);
      const victim = await startCrashWorker({
        url: world.server.url,
        stream,
        killAt: 'before-handler',
        killId: '0',
        journal: true,
      });
      assert.equal(await victim.ended, 'SIGKILL');
      assert.deepEqual(await eventsOf(stream, id), ['delivered 1']);
    }
  });

  it('links a replayed message to the entry that it was first', async () => {
    const stream = uniqueKey();
    const bus = world.bus();
    let isMended = false;
    const consumer = bus.consume(stream, journaled(), () => {
      if (!isMended) throw new Reject('not yet');
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    const [first = ''] = await addNumbered(world.redis, stream, 1);
    await eventually(() => dead.length === 1);
    isMended = true;
    const [replayed = assert.fail()] = await bus.deadLetters(stream).replay({ where: {} });
    assert.ok(replayed.status === 'replayed');
    await eventually(async () => (await eventsOf(stream, replayed.id)).length === 2);
    assert.deepEqual((await eventsOf(stream, first)).slice(-1), ['replayed 1']);
    const { at } = (await journalOf(stream)).find(({ event }) => event === 'replayed') ?? {};
    assert.equal(Date.parse(String(at)), Number(replayed.id.split('-')[0]), 'at the time of the copy');
  });

  it('is capped', async () => {
    const stream = uniqueKey();
    const consumer = world.bus().consume(stream, journaled({ journal: { maxLength: 50 } }), () => undefined);
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await addNumbered(world.redis, stream, 2000);
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 2000);
    await consumer.close();
    const length = await world.redis.xlen(`${stream}:journal`);
    assert.ok(length >= 50 && length < 300, `has ${length} entries`);
    const [last = {}] = (await journalOf(stream)).slice(-1);
    assert.equal(last.event, 'acknowledged');
  });

  it('takes no more calls than one for each batch that was read and one for what became of it', async () => {
    const stream = uniqueKey();
    await addNumbered(world.redis, stream, 500);
    const run = async (journal: boolean): Promise<number> => {
      await world.redis.config('RESETSTAT');
      const options = quickOptions({ group: `g-${journal}`, name: 'me', journal, concurrency: 50, prefetch: 50 });
      const consumer = world.bus().consume(stream, options, () => undefined);
      const acknowledged = collect(consumer, 'acknowledged');
      await consumer.start();
      await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 500);
      await consumer.close();
      const stats = await world.redis.info('commandstats');
      const calls = (name: string): number => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
      return calls('evalsha') + calls('eval');
    };
    const without = await run(false);
    const reads = 500 / 50;
    const more = (await run(true)) - without;
    assert.equal((await journalOf(stream)).length, 1000);
    assert.ok(more <= 3 * reads + 5, `${more} calls for a thousand events`);
  });

  const refusals: readonly {
    what: string;
    refuse: (stream: string) => Promise<void>;
    allow: (stream: string) => Promise<void>;
  }[] = [
    {
      what: 'a key of another type',
      refuse: async (stream) => {
        await world.redis.set(`${stream}:journal`, 'text');
      },
      allow: async (stream) => {
        await world.redis.del(`${stream}:journal`);
      },
    },
    {
      what: 'no permission on its key',
      refuse: async (stream) => {
        await world.redis.call(
          'ACL',
          'SETUSER',
          'guest',
          'reset',
          'on',
          '>pw',
          '+@all',
          `~${stream}`,
          `~${stream}:dlq`,
        );
      },
      allow: async (stream) => {
        await world.redis.call('ACL', 'SETUSER', 'guest', `~${stream}:journal`);
      },
    },
    {
      what: 'memory that is full',
      refuse: async () => {
        await world.redis.config('SET', 'maxmemory', '1');
      },
      allow: async () => {
        await world.redis.config('SET', 'maxmemory', '0');
      },
    },
  ];
  for (const { what, refuse, allow } of refusals)
    it(`that is refused by ${what} changes no outcome, is told once, and goes on when it can`, async () => {
      const stream = uniqueKey();
      await world.redis.xgroup('CREATE', stream, 'workers', '0', 'MKSTREAM');
      await world.redis.call('ACL', 'SETUSER', 'guest', 'reset', 'on', '>pw', '+@all', '~*');
      const ids = await addNumbered(world.redis, stream, 60);
      try {
        const url = world.server.url.replace('//', '//guest:pw@');
        const consumer = world
          .bus({ redis: url })
          .consume(stream, journaled({ concurrency: 2, prefetch: 1 }), () => undefined);
        const failed = collect(consumer, 'journal-failed');
        const acknowledged = collect(consumer, 'acknowledged');
        consumer.pause();
        await consumer.start();
        await refuse(stream);
        consumer.resume();
        await eventually(() => acknowledged.flatMap((event) => event.ids).length === ids.length);
        await eventually(() => failed.length > 0);
        assert.deepEqual(await pendingRows(world.redis, stream), []);
        assert.equal(failed.length, 1, 'told once');
        assert.equal(failed[0]?.key, `${stream}:journal`);
        await allow(stream);
        // Closing gives it one more chance.
        const report = await consumer.close();
        assert.deepEqual(report.leftPending, []);
        assert.ok((await journalOf(stream)).length > 0, 'what had waited is written');
      } finally {
        await world.redis.config('SET', 'maxmemory', '0');
      }
    });

  it('resumes by itself after memory was full, and says how many events are missing', async () => {
    const stream = uniqueKey();
    await world.redis.xgroup('CREATE', stream, 'workers', '0', 'MKSTREAM');
    await addNumbered(world.redis, stream, 5);
    try {
      const consumer = world.bus().consume(stream, journaled(), () => undefined);
      const failed = collect(consumer, 'journal-failed');
      const resumed = collect(consumer, 'journal-resumed');
      consumer.pause();
      await consumer.start();
      await world.redis.config('SET', 'maxmemory', '1');
      consumer.resume();
      await eventually(() => failed.length === 1);
      await world.redis.config('SET', 'maxmemory', '0');
      await eventually(() => resumed.length === 1);
      assert.deepEqual(resumed, [{ key: `${stream}:journal`, dropped: 0 }]);
      await eventually(async () => (await journalOf(stream)).length === 10);
    } finally {
      await world.redis.config('SET', 'maxmemory', '0');
    }
  });

  it('never writes again what may have been written when its reply is lost', async () => {
    const stream = uniqueKey();
    const proxy = await startFaultProxy(world.server.port);
    try {
      const consumer = world.bus({ redis: proxy.url }).consume(stream, journaled(), () => undefined);
      const acknowledged = collect(consumer, 'acknowledged');
      const resumed = collect(consumer, 'journal-resumed');
      await consumer.start();
      const hit = proxy.next(isScriptCall('recordJournal'), 'cut-mid-reply');
      const ids = await addNumbered(world.redis, stream, 1);
      await hit.fired;
      await eventually(() => acknowledged.length === 1);
      ids.push(...(await addNumbered(world.redis, stream, 1)));
      await eventually(() => resumed.length === 1);
      await consumer.close();
      for (const id of ids) {
        const events = await eventsOf(stream, id);
        assert.equal(new Set(events).size, events.length, 'each event once');
      }
      assert.deepEqual((await eventsOf(stream, ids[1] ?? '')).slice(-1), ['acknowledged 1']);
      assert.deepEqual(await pendingRows(world.redis, stream), []);
    } finally {
      await proxy.stop();
    }
  });

  it('is flushed by close', async () => {
    const stream = uniqueKey();
    const consumer = world.bus().consume(stream, journaled(), () => undefined);
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await addNumbered(world.redis, stream, 3);
    await eventually(() => acknowledged.flatMap(({ ids }) => ids).length === 3);
    await consumer.close();
    assert.equal((await journalOf(stream)).filter(({ event }) => event === 'acknowledged').length, 3);
  });

  it('is not kept unless it is asked for', async () => {
    const stream = uniqueKey();
    const consumer = world.bus().consume(stream, quickOptions(), () => undefined);
    const acknowledged = collect(consumer, 'acknowledged');
    await consumer.start();
    await addNumbered(world.redis, stream, 1);
    await eventually(() => acknowledged.length === 1);
    await consumer.close();
    assert.equal(await world.redis.exists(`${stream}:journal`), 0);
  });

  it('refuses options that it cannot work with', () => {
    for (const journal of [{ maxLength: 0 }, { redact: 'no' }, { version: '' }, { length: 1 }] as unknown as boolean[])
      assert.throws(
        () => world.bus().consume('s', quickOptions({ journal }), () => undefined),
        (error) => ConfigError.is(error) && error.option.startsWith('consumer.journal.'),
      );
  });
});

describe('the journal of a consumer on a cluster', function () {
  this.timeout(60_000);

  it('is in the slot of its stream where it can be, and written all the same where it cannot', async () => {
    const cluster = await startCluster();
    const world = await startBusWorld();
    try {
      for (const [stream, key] of [
        ['orders', '{orders}:journal'],
        ['{tag}:x', '{tag}:x:journal'],
        ['a}b', 'a}b:journal'],
      ] as const) {
        const bus = world.bus({ redis: cluster.url });
        const consumer = bus.consume(stream, quickOptions({ journal: true, deadLetters: false }), () => undefined);
        const failed = collect(consumer, 'journal-failed');
        await consumer.start();
        await bus.publish(stream, { body: { n: '1' } });
        const inspect = world.bus({ redis: cluster.url });
        await eventually(
          async () => ((await inspect.inspect({ exact: key }).catch(() => undefined))?.length ?? 0) >= 2,
        );
        assert.deepEqual(failed, []);
      }
    } finally {
      await world.stop();
      await cluster.stop();
    }
  });
});

/** An event of several entries as one for each. */
function unpacked(fields: Fields): Fields[] {
  const { id = '', attempt = '', durationMs = '' } = fields;
  const ids = id.split(',');
  const nth = (list: string, index: number): string => (list.includes(',') ? (list.split(',')[index] ?? '') : list);
  return ids.map((one, index) => ({
    ...fields,
    id: one,
    attempt: nth(attempt, index),
    durationMs: nth(durationMs, index),
  }));
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []));
}
