import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import type { FaultProxy } from '../support/faultProxy';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';

interface ClientOptions {
  readonly commandTimeout?: number;
  readonly retryStrategy?: () => number;
  readonly maxRetriesPerRequest?: number | null;
}

describe('the fault proxy', () => {
  let server: RedisServer;
  let direct: Redis;
  let proxy: FaultProxy;
  const clients: Redis[] = [];

  before(async () => {
    server = await startRedis();
    direct = new Redis(server.url);
  });
  beforeEach(async () => {
    proxy = await startFaultProxy(server.port);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await proxy.stop();
  });
  after(async () => {
    direct.disconnect();
    await server.stop();
  });

  const connect = (options: ClientOptions = {}): Redis => {
    const client = new Redis(proxy.url, { retryStrategy: null, maxRetriesPerRequest: 0, ...options });
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };

  const closeOf = (client: Redis): Promise<unknown> => new Promise((resolve) => client.once('close', resolve));

  const withPendingEntry = async (): Promise<{ key: string; id: string }> => {
    const key = uniqueKey();
    const id = String(await direct.xadd(key, '*', 'f', 'v'));
    await direct.xgroup('CREATE', key, 'g', '0');
    await direct.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', key, '>');
    return { key, id };
  };
  const pendingCount = async (key: string): Promise<unknown> => (await direct.xpending(key, 'g'))[0];

  it('passes commands and replies of any bytes on and counts the commands', async () => {
    const client = connect();
    const key = uniqueKey();
    const value = Buffer.from([0, 13, 10, 42, 255, 36]);
    const id = await client.xadd(key, '*', 'f', value);
    assert.deepEqual(await client.xrangeBuffer(key, '-', '+'), [[Buffer.from(String(id)), [Buffer.from('f'), value]]]);
    assert.equal(proxy.forwarded('xadd'), 1);
    assert.equal(proxy.forwarded('XACK'), 0);
    assert.equal(proxy.openConnections, 1);
  });

  it('passes a large reply on whole', async () => {
    const key = uniqueKey();
    const value = 'x'.repeat(3_000_000);
    await direct.xadd(key, '*', 'f', value);
    assert.equal((await connect().xrange(key, '-', '+'))[0]?.[1][1], value);
  });

  for (const fault of ['cut-before-forwarding', 'reset-before-forwarding'] as const) {
    it(`${fault}: the server never sees the command, the ones before it are answered`, async () => {
      const { key, id } = await withPendingEntry();
      const client = connect();
      const rule = proxy.next('XACK', fault);
      const length = client.xlen(key);
      const ack = client.xack(key, 'g', id);
      assert.equal(await length, 1);
      await assert.rejects(ack);
      assert.deepEqual((await rule.fired).map(String), ['xack', key, 'g', id]);
      assert.equal(await pendingCount(key), 1);
      assert.equal(proxy.forwarded('xack'), 0);
    });
  }

  it('cut-before-reply: the server executes the command, the client hears nothing', async () => {
    const { key, id } = await withPendingEntry();
    const rule = proxy.next('XACK', 'cut-before-reply');
    await assert.rejects(connect().xack(key, 'g', id));
    await rule.fired;
    await eventually(async () => (await pendingCount(key)) === 0);
  });

  it('cut-before-reply: a blocked read ends with its connection and takes no entry', async () => {
    const { key } = await withPendingEntry();
    const rule = proxy.next('XREADGROUP', 'cut-before-reply');
    await assert.rejects(connect().xreadgroup('GROUP', 'g', 'c2', 'BLOCK', 0, 'STREAMS', key, '>'));
    await rule.fired;
    await eventually(async () => !String(await direct.client('LIST')).includes('cmd=xreadgroup'));
    await direct.xadd(key, '*', 'f', 'later');
    assert.equal(await pendingCount(key), 1);
  });

  it('swallow-reply: the server has executed the command, the client is cut without the reply', async () => {
    const { key, id } = await withPendingEntry();
    const client = connect();
    const rule = proxy.next('XACK', 'swallow-reply');
    const closed = closeOf(client);
    await assert.rejects(client.xack(key, 'g', id));
    await rule.fired;
    await closed;
    assert.equal(await pendingCount(key), 0);
    assert.equal(proxy.forwarded('xack'), 1);
  });

  it('cut-mid-reply: the client is cut inside the reply', async () => {
    const { key } = await withPendingEntry();
    const rule = proxy.next('XRANGE', 'cut-mid-reply');
    await assert.rejects(connect().xrange(key, '-', '+'));
    assert.ok(rule.hasFired);
  });

  it('hold-reply: the reply comes when it is released, and what is behind it follows', async () => {
    const { key, id } = await withPendingEntry();
    const client = connect();
    const rule = proxy.next('XACK', 'hold-reply');
    let answered = false;
    const ack = client.xack(key, 'g', id).then((count) => {
      answered = true;
      return count;
    });
    const length = client.xlen(key);
    await rule.fired;
    assert.equal(await pendingCount(key), 0);
    assert.equal(answered, false);
    rule.release();
    assert.deepEqual(await Promise.all([ack, length]), [1, 1]);
  });

  it('black-hole: nothing from that command on is answered, on that connection only', async () => {
    const { key, id } = await withPendingEntry();
    const client = connect({ commandTimeout: 300 });
    const rule = proxy.next('XACK', 'black-hole');
    await assert.rejects(client.xack(key, 'g', id), /timed out/);
    await assert.rejects(client.xlen(key), /timed out/);
    assert.ok(rule.hasFired);
    assert.equal(await connect().xlen(key), 1);
    assert.equal(await pendingCount(key), 1);
  });

  it('does a fault once, to the command that matches it by name, subcommand or words', async () => {
    const key = uniqueKey();
    const client = connect({ retryStrategy: () => 10 });
    const byName = proxy.next('xgroup destroy', 'swallow-reply');
    const byWords = proxy.next((words) => words.some((word) => word.equals(Buffer.from('poison'))), 'swallow-reply');
    assert.equal(await client.xgroup('CREATE', key, 'g', '$', 'MKSTREAM'), 'OK');
    assert.equal(byName.hasFired, false);
    await assert.rejects(client.xgroup('DESTROY', key, 'g'));
    assert.equal(await client.xgroup('DESTROY', key, 'g'), 0);
    await client.xadd(key, '*', 'f', 'fine');
    await assert.rejects(client.xadd(key, '*', 'f', 'poison'));
    assert.ok(byWords.hasFired);
    assert.equal(await direct.xlen(key), 2);
  });

  it('refuses connections while told to, and passes again after', async () => {
    const client = connect({ retryStrategy: () => 20, maxRetriesPerRequest: null });
    await client.ping();
    await proxy.setMode('refuse');
    await eventually(() => proxy.openConnections === 0);
    await assert.rejects(connect().ping());
    await proxy.setMode('pass');
    assert.equal(await client.ping(), 'PONG');
  });

  it('swallows the bytes of every connection in black-hole mode', async () => {
    const client = connect({ commandTimeout: 300 });
    await client.ping();
    await proxy.setMode('black-hole');
    await assert.rejects(client.ping(), /timed out/);
    await proxy.setMode('pass');
    await assert.rejects(client.ping(), /timed out/);
    assert.equal(await connect().ping(), 'PONG');
  });

  it('delays every reply while told to, and changes neither order nor content', async () => {
    const client = connect();
    await client.ping();
    proxy.delayReplies(30);
    assert.deepEqual(await Promise.all([client.echo('a'), client.echo('b'), client.echo('c')]), ['a', 'b', 'c']);
    proxy.delayReplies(0);
    assert.equal(await client.echo('d'), 'd');
  });

  it('cuts every open connection with an end or a reset', async () => {
    for (const how of ['end', 'reset'] as const) {
      const client = connect();
      await client.ping();
      const closed = closeOf(client);
      proxy.cutAll(how);
      await closed;
    }
    await eventually(() => proxy.openConnections === 0);
  });

  it('passes TLS on unseen when it is opaque', async () => {
    const secure = await startRedis({ tls: true });
    const tunnel = await startFaultProxy(secure.port, { opaque: true });
    const client = new Redis(tunnel.port, tunnel.host, { retryStrategy: null, tls: secure.tls ?? {} });
    try {
      assert.equal(await client.ping(), 'PONG');
      const closed = closeOf(client);
      tunnel.cutAll();
      await closed;
    } finally {
      client.disconnect();
      await tunnel.stop();
      await secure.stop();
    }
  });
});
