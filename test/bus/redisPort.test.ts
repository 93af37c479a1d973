// What the Redis adapter does beyond the contract of StreamPort: scripts, errors inside of them, writes of one tick, old servers.
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { bytesToText, textToBytes } from '../../src/base/byteText';
import { BusError } from '../../src/bus/errors';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';
import type { EntryId, StreamKey } from '../../src/bus/ids';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { findTombstones } from '../../src/bus/redis/tombstones';
import { defineScript } from '../../src/bus/scripts/script';
import type { RawReply } from '../../src/bus/scripts/script';
import { serverUnderTest, startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';

interface AnyArguments {
  readonly keys: readonly StreamKey[];
  readonly argv: readonly (string | number | Buffer)[];
}

const script = (text: string) =>
  defineScript<AnyArguments, RawReply>({
    name: 'example',
    text,
    readOnly: false,
    keys: ({ keys }) => keys,
    argv: ({ argv }) => argv,
    reply: (raw) => raw,
  });

describe('the Redis port', function () {
  this.timeout(30_000);
  let server: RedisServer;
  let port: RedisPort;
  let client: Redis;
  let commands: string[];
  before(async () => {
    server = await startRedis();
    commands = [];
    port = await connectRedis({
      url: server.url,
      onCommand: (command) => commands.push(command),
      clientName: 'my tests',
    });
    client = new Redis(server.url);
  });
  after(async () => {
    client.disconnect();
    await port.close();
    await server.stop();
  });
  const newKey = (): StreamKey => streamKey(uniqueKey());
  const group = groupName('workers');
  const ann = consumerName('ann');
  const fields = [Buffer.from('a'), Buffer.from('1')];

  it('knows the server by its own name and version', async () => {
    const can = await port.capabilities();
    const { name, version } = serverUnderTest();
    assert.equal(can.server, name.toLowerCase());
    assert.equal(can.version, version);
    assert.equal(can.isCluster, false);
  });

  it('finds features by asking, as the server has them', async () => {
    const can = await port.capabilities();
    const { name, version } = serverUnderTest();
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isRedis = name === 'Redis';
    const atLeast = (wantedMajor: number, wantedMinor: number): boolean =>
      major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
    assert.equal(can.hasScanType, true);
    assert.equal(can.hasScripts, true);
    assert.equal(can.hasAutoClaim, atLeast(6, 2));
    assert.equal(can.hasExclusiveRanges, atLeast(6, 2));
    assert.equal(can.hasAckDelete, isRedis && atLeast(8, 2));
    assert.equal(can.hasReadClaim, isRedis && atLeast(8, 4));
  });

  it('names its connections, without what a name may not hold', async () => {
    assert.match(String(await client.client('LIST')), /name=my-tests /);
  });

  it('does without HELLO, as with Redis 5.0', async () => {
    const old = await startRedis({ password: 'pw', args: ['--rename-command', 'HELLO', ''] });
    await assert.rejects(connectRedis({ url: `redis://127.0.0.1:${old.port}` }), (error) =>
      BusError.is(error, 'authentication'),
    );
    const onOld = await connectRedis({ url: old.url, protocol: 3, clientName: 'old' });
    const reader = await onOld.openReader();
    const reading = reader.read(newKey(), entryId('0-0'), { count: 1, blockMs: 600_000 });
    await reader.interrupt();
    assert.deepEqual(await reading, []);
    const direct = new Redis(old.url, { protocol: 2 });
    assert.equal(String(await direct.client('LIST')).split(' name=old ').length, 3);
    direct.disconnect();
    await onOld.close();
    await old.stop();
  });

  it('sends the calls of one tick in one write', async () => {
    const key = newKey();
    const { flushes, commands: sent } = port.traffic;
    await Promise.all([port.add(key, fields), port.length(key), port.streamInfo(key), port.typeOf(key)]);
    assert.equal(port.traffic.flushes - flushes, 1);
    assert.equal(port.traffic.commands - sent, 4);
    assert.deepEqual(commands.slice(-4), ['XADD', 'XLEN', 'XINFO STREAM', 'TYPE']);
  });

  it('hands over what a script answers: integers, bytes, null, and lists of them', async () => {
    const echo = script('return {1, -5, ARGV[1], false, {ARGV[2], {}}, {ok = "fine"}, KEYS[1], 3.9, ARGV[3]}');
    const key = streamKey(bytesToText(Buffer.from([0xff, 0x7b])));
    const args = { keys: [key], argv: [Buffer.from([0xfe, 0]), bytesToText(Buffer.from([0x80])), 7] };
    const expected = [
      1,
      -5,
      Buffer.from([0xfe, 0]),
      null,
      [Buffer.from([0x80]), []],
      Buffer.from('fine'),
      textToBytes(key),
      3,
      Buffer.from('7'),
    ];
    assert.deepEqual(await port.run(echo, args), expected);
    assert.deepEqual(await port.run(echo, args), expected);
  });

  it('runs a script that the server has forgotten', async () => {
    const one = script('return 1');
    assert.equal(await port.run(one, { keys: [], argv: [] }), 1);
    await client.script('FLUSH');
    assert.equal(await port.run(one, { keys: [], argv: [] }), 1);
  });

  it('tells failures inside of a script by their kind, and names the script', async () => {
    const key = newKey();
    await port.add(key, fields);
    const failures: readonly [string, string][] = [
      ["return redis.call('XPENDING', KEYS[1], 'absent')", 'no-group'],
      ["redis.call('SET', KEYS[1]..':x', 1); return redis.call('XLEN', KEYS[1]..':x')", 'wrong-type'],
      ["return redis.call('NO.SUCH', ARGV[1])", 'unknown-command'],
      ["return redis.call('XADD', KEYS[1], '1-0', 'a', ARGV[1])", 'id-not-greater'],
      ["return {1, redis.pcall('XPENDING', KEYS[1], 'absent')}", 'no-group'],
      ['return nothing.at.all', 'server'],
    ];
    for (const [text, reason] of failures) {
      const failing = port.run(script(text), { keys: [key], argv: ['payload-that-no-error-shows'] });
      await assert.rejects(failing, (error) => {
        assert.ok(error instanceof BusError);
        assert.equal(error.reason, reason, error.message);
        assert.equal(error.details.command, 'example');
        assert.ok(!inspect(error, { depth: 10 }).includes('payload-that'), error.message);
        return true;
      });
    }
  });

  it('reads counts beyond 2^53 as doubles, also negative ones', async () => {
    const key = newKey();
    await port.add(key, fields, { id: entryId('1-0') });
    await port.createGroup(key, group, entryId('0-0'));
    await port.readGroup(key, group, ann, { count: 1 });
    await client.call('XCLAIM', key, group, ann, 0, '1-0', 'RETRYCOUNT', '9223372036854775807', 'JUSTID');
    const rows = (): Promise<{ deliveryCount: number }[]> =>
      port.pending(key, group, { from: 'min', to: 'max', count: 1 }).then((list) => [...list]);
    assert.equal((await rows())[0]?.deliveryCount, 2 ** 63);
    await port.claim(key, group, ann, [entryId('1-0')], { minIdleMs: 0, count: 'increment' });
    assert.equal((await rows())[0]?.deliveryCount, -(2 ** 63));
  });

  it('finds the messages that an old XAUTOCLAIM does not name', async () => {
    const key = newKey();
    const ids = ['1-0', '2-0', '3-0', '4-0', '5-0'].map(entryId);
    for (const id of ids) await port.add(key, fields, { id });
    await port.createGroup(key, group, entryId('0-0'));
    await port.readGroup(key, group, ann, { count: 10 });
    await port.delete(key, ['2-0', '5-0'].map(entryId));
    const answered = (cursor: string, ...claimed: string[]) => ({
      from: entryId('0-0'),
      count: 10,
      reply: { cursor: entryId(cursor), deletedIds: [], entries: claimed.map((id) => ({ id: entryId(id), fields })) },
    });
    const gone = async (step: Parameters<typeof findTombstones>[4]): Promise<EntryId[]> =>
      (await findTombstones(port, key, group, ann, step)).map(({ id, fields: body }) => {
        assert.equal(body, null);
        return id;
      });
    assert.deepEqual(await gone(answered('0-0', '1-0', '3-0')), ['2-0', '5-0']);
    assert.deepEqual(await gone(answered('5-0', '1-0', '3-0', '4-0')), ['2-0']);
    const bob = consumerName('bob');
    assert.deepEqual(await findTombstones(port, key, group, bob, answered('0-0')), []);
  });

  it('works without the commands that a restricted user may not call', async () => {
    await client.call('ACL', 'SETUSER', 'narrow', 'on', '>pw', '~*', '-@all', '+xlen', '+info', '+client|setname');
    const narrow = await connectRedis({ url: `redis://narrow:pw@127.0.0.1:${server.port}` });
    const can = await narrow.capabilities();
    assert.equal(can.version, serverUnderTest().version);
    assert.equal(can.hasAutoClaim, false);
    if (serverUnderTest().version.startsWith('6.0')) {
      await assert.rejects(narrow.serverTimeMs(), (error) => BusError.is(error, 'no-permission'));
    } else {
      const [direct, byInfo] = [await port.serverTimeMs(), await narrow.serverTimeMs()];
      assert.ok(Number.isInteger(byInfo) && byInfo >= direct);
    }
    const key = newKey();
    await assert.rejects(narrow.range(key, { from: 'min', to: 'max', count: 1 }), (error) => {
      assert.ok(BusError.is(error, 'no-permission'));
      return true;
    });
    await narrow.close();
  });

  it('says that a replica takes no writes, and that the server is out of memory', async () => {
    const replica = await startRedis({ replicaOf: { port: server.port } });
    const onReplica = await connectRedis({ url: replica.url });
    assert.equal((await onReplica.capabilities()).role, 'replica');
    await assert.rejects(onReplica.add(newKey(), fields), (error) => BusError.is(error, 'read-only-replica'));
    await onReplica.close();
    await replica.stop();
    const full = await startRedis({ args: ['--maxmemory', '100kb'] });
    const onFull = await connectRedis({ url: full.url });
    await assert.rejects(onFull.add(newKey(), fields), (error) => BusError.is(error, 'out-of-memory'));
    await onFull.close();
    await full.stop();
  });
});
