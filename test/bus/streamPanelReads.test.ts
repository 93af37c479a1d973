/** The stream panel's reads on a real server: pages, standings, dead letters, and that looking changes nothing. */
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import type { Entry } from '../../src/bus/entries';
import { streamKey } from '../../src/bus/ids';
import type { StreamKey } from '../../src/bus/ids';
import { deadLetterFields } from '../../src/bus/deadLetters';
import { consumerName, groupName } from '../../src/bus/ids';
import { bindInspector } from '../../src/connections/inspector';
import type { InspectPort } from '../../src/connections/inspectPort';
import type { LiveConnection } from '../../src/connections/liveConnection';
import { openRedisPort } from '../../src/connections/openRedisPort';
import { InspectReader } from '../../src/panels/inspectReader';
import type { EntriesFacts, EntryFacts } from '../../src/panels/streamReader';
import { isBefore7, startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';

describe('the reads of the stream panel', function () {
  this.timeout(30_000);
  let server: RedisServer;
  let port: InspectPort;
  let redis: Redis;
  const never = new AbortController().signal;

  before(async () => {
    server = await startRedis();
    port = await openRedisPort(server.url, { onClosed: () => undefined });
    redis = new Redis(server.port, '127.0.0.1', { retryStrategy: null });
  });
  after(async () => {
    await port.close();
    redis.disconnect();
    await server.stop();
  });

  function readerOf(key: string): InspectReader {
    const connection: Pick<LiveConnection, 'read'> = {
      read: (work, { signal = never } = {}) => work(bindInspector(port), signal),
    };
    return new InspectReader(connection as LiveConnection, streamKey(key));
  }

  const ids = ({ entries }: EntriesFacts): string[] => entries.map(({ id }) => id);

  async function streamOf(count: number): Promise<{ key: StreamKey; all: string[] }> {
    const key = streamKey(uniqueKey());
    const pipeline = redis.pipeline();
    const all: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const id = `${1_700_000_000_000 + Math.floor(index / 3)}-${index % 3}`;
      all.unshift(id);
      pipeline.xadd(key, id, 'n', index);
    }
    await pipeline.exec();
    return { key, all };
  }

  it('pages both ways and around an id, each entry once, with entries sharing milliseconds', async () => {
    const { key, all } = await streamOf(250);
    const reader = readerOf(key);
    const seen: string[] = [];
    let page = await reader.entries({ at: { kind: 'newest' }, count: 40 }, never);
    assert.equal(page.hasNewer, false);
    for (;;) {
      seen.push(...ids(page));
      const last = page.entries.at(-1);
      if (!page.hasOlder || !last) break;
      page = await reader.entries({ at: { kind: 'olderThan', id: last.id }, count: 40 }, never);
    }
    assert.deepEqual(seen, all);
    const back: string[] = [];
    page = await reader.entries({ at: { kind: 'oldest' }, count: 33 }, never);
    for (;;) {
      back.unshift(...ids(page));
      const [first] = page.entries;
      if (!page.hasNewer || !first) break;
      page = await reader.entries({ at: { kind: 'newerThan', id: first.id }, count: 33 }, never);
    }
    assert.deepEqual(back, all);
  });

  it('fills a page around an id from both sides, from one near an end, and around one that is not there', async () => {
    const { key, all } = await streamOf(100);
    const reader = readerOf(key);
    for (const index of [0, 3, 50, 97, 99]) {
      const around = await reader.entries({ at: { kind: 'around', id: all[index] ?? '' }, count: 20 }, never);
      const start = all.indexOf(ids(around)[0] ?? '');
      assert.deepEqual(ids(around), all.slice(start, start + 20), 'no gaps');
      assert.ok(ids(around).includes(all[index] ?? ''));
      assert.deepEqual([around.hasNewer, around.hasOlder], [start > 0, start + 20 < 100]);
    }
    const absent = await reader.entries({ at: { kind: 'around', id: '1700000000010-77' }, count: 10 }, never);
    assert.equal(absent.entries.length, 10);
    assert.ok(ids(absent).includes('1700000000010-2') && ids(absent).includes('1700000000011-0'));
    assert.deepEqual(await reader.entries({ at: { kind: 'around', id: 'nonsense' }, count: 10 }, never), {
      entries: [],
      hasOlder: false,
      hasNewer: false,
    });
  });

  it('ends a page early when its entries are very large, and says that there is more', async () => {
    const key = uniqueKey();
    const large = Buffer.alloc(2 * 1024 * 1024, 0x61);
    for (let index = 1; index <= 30; index += 1) await redis.xadd(key, `${index}-0`, 'blob', large);
    const page = await readerOf(key).entries({ at: { kind: 'newest' }, count: 100 }, never);
    assert.ok(page.entries.length >= 8 && page.entries.length < 30, `${page.entries.length} entries`);
    assert.equal(page.hasOlder, true);
    await redis.del(key);
  });

  it('tells of the stream with its groups by name, and of its dead letters', async () => {
    const { key } = await streamOf(5);
    await redis.xgroup('CREATE', key, 'g1', '0');
    await redis.xgroup('CREATE', key, Buffer.from([0xff, 0x00]), '$');
    await redis.xreadgroup('GROUP', 'g1', 'c1', 'COUNT', 2, 'STREAMS', key, '>');
    await redis.xadd(`${key}:dlq`, '*', 'a', 'b');
    const facts = await readerOf(key).overview(never);
    assert.deepEqual([facts.length, facts.firstId, facts.lastId], [5, '1700000000000-0', '1700000000001-1']);
    assert.deepEqual([facts.deadLetters?.key, facts.deadLetters?.length], [`${key}:dlq`, 1]);
    assert.ok(facts.memoryBytes.kind === 'exact' && facts.memoryBytes.value > 100);
    assert.equal(facts.timeToLiveMs, null);
    assert.deepEqual(
      facts.groups.map(({ name, pending, lag }) => [name, pending, 'value' in lag ? lag.value : null]).sort(),
      [
        ['g1', 2, isBefore7() ? null : 3],
        ['\udcff\u0000', 0, 0],
      ].sort(),
    );
    assert.ok(Math.abs(facts.serverTimeMs - Date.now()) < 60_000);
  });

  it('tells where an entry stands: pending, gone, passed, undelivered', async () => {
    const { key, all } = await streamOf(3);
    for (const group of ['a', 'b']) await redis.xgroup('CREATE', key, group, '0');
    await redis.xreadgroup('GROUP', 'a', 'c1', 'COUNT', 2, 'STREAMS', key, '>');
    const [newest = '', middle = '', oldest = ''] = all;
    await redis.xack(key, 'a', oldest);
    const statesOf = async (id: string): Promise<unknown> => {
      const facts = await readerOf(key).entry(id, never);
      return facts?.standings.map(({ state }) => state);
    };
    assert.deepEqual(await statesOf(middle), ['pending', 'undelivered']);
    assert.deepEqual(await statesOf(oldest), ['passed', 'undelivered']);
    assert.deepEqual(await statesOf(newest), ['undelivered', 'undelivered']);
    await redis.xdel(key, middle);
    assert.deepEqual(await statesOf(middle), ['gone', 'absent']);
    assert.equal(await readerOf(key).entry('no id', never), null);
  });

  it('finds the dead letters of an entry, reads one as such, and knows a replay', async () => {
    const { key, all } = await streamOf(2);
    const [died = ''] = all;
    const [[, fields] = ['', []]] = await redis
      .xrangeBuffer(key, died, died)
      .then((rows) => rows as unknown as [Buffer, Buffer[]][]);
    const entry = { id: died, fields } as unknown as Entry;
    const failure = {
      stream: key,
      group: groupName('g'),
      consumer: consumerName('c'),
      reason: 'handler-error',
      errorType: 'TypeError',
      errorMessage: 'no',
      deliveries: 3,
      atMs: 1_700_000_005_000,
    };
    const deadId = await redis.xadd(`${key}:dlq`, '1700000006000-0', ...deadLetterFields(entry, failure));
    await redis.xadd(`${key}:dlq`, '1700000007000-0', 'other', 'thing');
    const facts = await readerOf(key).entry(died, never);
    const told = (one: EntryFacts | null): unknown =>
      one?.history.map(({ kind, id, reason, attempt, copy }) => [kind, id, reason ?? copy, attempt]);
    assert.deepEqual(told(facts), [
      ['added', died, undefined, undefined],
      ['dead-lettered', died, 'handler-error', 3],
    ]);
    const letter = await readerOf(`${key}:dlq`).entry(deadId ?? '', never);
    assert.deepEqual([letter?.deadLetter?.format, letter?.deadLetter?.originalId], ['own', died]);
    const replay = await redis.xadd(key, '*', 'n', '1', 'dl.id', died, 'dl.replays', '2');
    assert.deepEqual(told(await readerOf(key).entry(replay ?? '', never)), [
      ['added', died, undefined, undefined],
      ['dead-lettered', died, 'handler-error', 3],
      ['replayed', died, replay, 2],
    ]);
    assert.deepEqual(told(await readerOf(key).entry(died, never)), [
      ['added', died, undefined, undefined],
      ['dead-lettered', died, 'handler-error', 3],
      ['replayed', died, replay, 2],
    ]);
  });

  it('remembers what it saw of an entry between two looks, and nothing that it did not see', async () => {
    const key = uniqueKey();
    const id = (await redis.xadd(key, '*', 'n', '1')) ?? '';
    await redis.xgroup('CREATE', key, 'g', '0');
    const reader = readerOf(key);
    const told = async (): Promise<unknown> =>
      (await reader.entry(id, never))?.history.map(({ kind, consumer, attempt, sources }) =>
        [kind, consumer ?? '', attempt ?? '', ...sources].join(' '),
      );
    await redis.xreadgroup('GROUP', 'g', 'ann', 'STREAMS', key, '>');
    assert.deepEqual(await told(), ['added   server', 'pending ann 1 server']);
    assert.deepEqual(await told(), ['added   server', 'pending ann 1 server']);
    await redis.xclaim(key, 'g', 'bob', 0, id);
    assert.deepEqual(await told(), ['added   server', 'delivered ann 1 observed', 'pending bob 2 server']);
    await redis.xack(key, 'g', id);
    const all = ['added   server', 'delivered ann 1 observed', 'delivered bob 2 observed', 'settled   observed'];
    assert.deepEqual(await told(), all);
    assert.deepEqual(await told(), all);
    const fresh = await readerOf(key).entry(id, never);
    assert.deepEqual([fresh?.history.length, fresh?.unknownEndings], [1, ['g']]);
  });

  it('rejects with what is wrong when the key is no stream or is gone', async () => {
    const key = uniqueKey();
    await redis.set(key, 'x');
    await assert.rejects(readerOf(key).overview(never), { reason: 'wrong-type' });
    await assert.rejects(readerOf(uniqueKey()).overview(never), { reason: 'no-key' });
  });

  it('sends only reads, and leaves ACL LOG empty under a user who may only read', async () => {
    const { key, all } = await streamOf(60);
    await redis.xgroup('CREATE', key, 'g', '0');
    await redis.xreadgroup('GROUP', 'g', 'c', 'COUNT', 5, 'STREAMS', key, '>');
    await redis.call(
      'ACL',
      'SETUSER',
      'reader',
      'on',
      '>pw',
      '~*',
      '+@read',
      '+@connection',
      '-@dangerous',
      '+info',
      '+command',
      '+role',
      '+time',
    );
    const own = await openRedisPort(`redis://reader:pw@127.0.0.1:${server.port}`, { onClosed: () => undefined });
    const reads = new InspectReader(
      { read: (work) => work(bindInspector(own), never) } as Pick<LiveConnection, 'read'> as LiveConnection,
      key,
    );
    await redis.call('ACL', 'LOG', 'RESET');
    await redis.call('CONFIG', 'RESETSTAT');
    await reads.overview(never);
    await reads.entries({ at: { kind: 'around', id: all[30] ?? '' }, count: 20 }, never);
    await reads.entry(all[57] ?? '', never);
    await reads.fields(all[3] ?? '', never);
    const stats = await redis.info('commandstats');
    const commands = [...stats.matchAll(/cmdstat_([^:]+):/g)].map(([, name = '']) => name).sort();
    const known = [
      'client',
      'command',
      'config',
      'hello',
      'info',
      'memory',
      'pttl',
      'time',
      'type',
      'xinfo',
      'xlen',
      'xpending',
      'xrange',
      'xrevrange',
    ];
    assert.deepEqual(
      commands.filter((command) => !known.includes(command.split('|')[0] ?? '')),
      [],
    );
    assert.deepEqual(await redis.call('ACL', 'LOG'), []);
    await own.close();
  });
});
