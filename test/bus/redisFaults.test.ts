// Every way in which a connection can fail to be made, or break, gives the reason that it had, and leaves nothing behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { inspect } from 'node:util';
import { BusError } from '../../src/bus/errors';
import type { BusErrorReason } from '../../src/bus/errors';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPortOptions } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { freePort } from '../../scripts/lib/freePort.mjs';
import { eventually } from '../support/eventually';
import { startFaultProxy } from '../support/faultProxy';
import type { FaultProxy } from '../support/faultProxy';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { makeTlsCertificates } from '../support/tlsCertificates';

const secret = 'S3cret-and-%-stränge';
const key = streamKey('faults');
const fields = [Buffer.from('a'), Buffer.from('payload-that-no-error-shows')];

describe('a connection that cannot be made', function () {
  this.timeout(60_000);

  async function refused(reason: BusErrorReason, options: RedisPortOptions): Promise<BusError> {
    const error = await failureOf(
      connectRedis(options).then(async (port) => {
        await port.close();
      }),
    );
    assert.equal(error.reason, reason, error.message);
    assert.ok(!inspect(error, { depth: 10 }).includes('S3cret'), 'the error holds no secret');
    assert.notEqual(error.details.ambiguous, true);
    return error;
  }

  it('because nothing listens there', async () => {
    const error = await refused('connection-refused', { url: `redis://:x@127.0.0.1:${await freePort()}` });
    assert.match(error.message, /^Cannot connect to 127\.0\.0\.1:\d+: nothing listens there\./);
    assert.equal(error.retriable, true);
  });

  it('because the host name is unknown', async () => {
    await refused('connection-refused', { url: 'redis://no-such-host.invalid:6379' });
  });

  it('because nothing answers, with or without TLS', async () => {
    const hole = await listening(createServer());
    await refused('timeout', { url: `redis://127.0.0.1:${hole.port}`, connectTimeoutMs: 200 });
    await refused('tls', { url: `rediss://127.0.0.1:${hole.port}`, connectTimeoutMs: 200 });
    await hole.stop();
  });

  it('because an HTTP server, or something that speaks first, answers', async () => {
    const http = await listening(createHttpServer((_, response) => response.end('hello')));
    await refused('not-redis', { url: `redis://127.0.0.1:${http.port}` });
    await http.stop();
    const mail = await listening(createServer((socket) => socket.end('220 mail.example ESMTP\r\n')));
    await refused('not-redis', { url: `redis://127.0.0.1:${mail.port}` });
    await mail.stop();
    const polite = await listening(createServer((socket) => socket.on('data', () => socket.write('+OK\r\n'))));
    await refused('not-redis', { url: `redis://127.0.0.1:${polite.port}` });
    await polite.stop();
  });

  it('because the other side hangs up', async () => {
    const rude = await listening(createServer((socket) => socket.destroy()));
    await refused('connection-lost', { url: `redis://127.0.0.1:${rude.port}` });
    await rude.stop();
  });

  it('because the server is full', async () => {
    const server = await startRedis({ args: ['--maxclients', '1'] });
    const first = connect(server.port, server.host);
    await once(first, 'connect');
    await refused('connection-refused', { url: server.url });
    first.destroy();
    await server.stop();
  });

  describe('to a server with a password', () => {
    let server: RedisServer;
    let address: string;
    before(async () => {
      server = await startRedis({
        password: secret,
        users: [`limited on >${secret} ~* -@all +ping`, `off off >${secret} ~* +@all`],
      });
      address = `127.0.0.1:${server.port}`;
    });
    after(() => server.stop());

    it('without one, with a wrong one, or as a user that is unknown or off', async () => {
      await refused('authentication', { url: `redis://${address}` });
      await refused('authentication', { url: `redis://${address}/3` });
      await refused('authentication', { url: `redis://:S3cret-but-wrong@${address}` });
      await refused('authentication', { url: `redis://nobody:${encodeURIComponent(secret)}@${address}` });
      await refused('authentication', { url: `redis://off:${encodeURIComponent(secret)}@${address}` });
    });

    it('is made with it, and by a user who may not even name the connection', async () => {
      for (const user of ['', 'default', 'limited']) {
        const port = await connectRedis({ url: `redis://${user}:${encodeURIComponent(secret)}@${address}` });
        if (user === 'limited') {
          const error = await failureOf(port.length(key));
          assert.equal(error.reason, 'no-permission');
          assert.match(error.message, /^XLEN on faults failed: /);
        } else assert.equal(await port.length(key), 0);
        await port.close();
      }
    });
  });

  it('with a database that does not exist', async () => {
    const server = await startRedis();
    await refused('server', { url: `${server.url}/999` });
    // A password that is not needed does no harm.
    const port = await connectRedis({ url: `redis://:${encodeURIComponent(secret)}@127.0.0.1:${server.port}/3` });
    assert.equal(await port.length(key), 0);
    await port.close();
    await server.stop();
  });

  it('because only one side speaks TLS, or its certificate is not trusted', async function () {
    const plain = await startRedis();
    await refused('tls', { url: `rediss://127.0.0.1:${plain.port}`, connectTimeoutMs: 1000 });
    await plain.stop();
    const encrypted = await startRedis({ tls: true });
    const error = await failureOf(connectRedis({ url: `redis://127.0.0.1:${encrypted.port}` }));
    assert.ok(['tls', 'connection-lost'].includes(error.reason), error.message);
    assert.match(error.message, /rediss:\/\//);
    await refused('tls', { url: encrypted.url });
    const port = await connectRedis({ url: encrypted.url, tls: encrypted.tls ?? {} });
    assert.equal(await port.length(key), 0);
    await port.close();
    await encrypted.stop();
  });

  it('because the server hangs after the TLS handshake, or our own certificate cannot be used', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'tls-'));
    const { client } = makeTlsCertificates(dir);
    const key = await readFile(path.join(dir, 'server.key'), 'utf8');
    const cert = await readFile(path.join(dir, 'server.crt'), 'utf8');
    const silent = await listening(createTlsServer({ key, cert }));
    const url = `rediss://127.0.0.1:${silent.port}`;
    await refused('timeout', { url, tls: { ca: client.ca }, connectTimeoutMs: 500 });
    await refused('tls', { url, tls: { key: 'no key', cert: 'no certificate' } });
    await silent.stop();
    await rm(dir, { recursive: true });
  });

  it('is given up when it is closed meanwhile', async () => {
    const server = await startRedis();
    const port = await connectRedis({ url: server.url });
    await server.kill('SIGSTOP');
    const opening = failureOf(port.openReader());
    await port.close();
    assert.equal((await opening).reason, 'closed');
    await server.kill('SIGCONT');
    await server.stop();
  });
});

describe('a connection that breaks', function () {
  this.timeout(60_000);
  let server: RedisServer;
  let proxy: FaultProxy;
  let port: RedisPort;
  let lost: BusError[];
  beforeEach(async () => {
    server = await startRedis();
    proxy = await startFaultProxy(server.port);
    lost = [];
    port = await connectRedis({ url: proxy.url, socketTimeoutMs: 2000, onLost: (error) => lost.push(error) });
  });
  afterEach(async () => {
    await port.close();
    await proxy.stop();
    await server.stop();
  });

  /** What the server holds, seen around the proxy. */
  async function lengthOnServer(): Promise<number> {
    const direct = await connectRedis({ url: server.url });
    const length = await direct.length(key);
    await direct.close();
    return length;
  }

  for (const [where, fault, length] of [
    ['before the server has seen the call', 'cut-before-forwarding', 0],
    ['after the server has carried it out', 'swallow-reply', 1],
    ['in the middle of the reply', 'cut-mid-reply', 1],
    ['after the server has seen it', 'cut-before-reply', 1],
  ] as const) {
    it(`rejects at once, as ambiguous, ${where}`, async () => {
      proxy.next('XADD', fault);
      const error = await failureOf(port.add(key, fields));
      assert.equal(error.reason, 'connection-lost', error.message);
      assert.equal(error.details.ambiguous, true);
      assert.ok(!inspect(error, { depth: 10 }).includes('payload-that-no-error-shows'));
      await eventually(async () => assert.equal(await lengthOnServer(), length));
      await eventually(() => assert.equal(lost.length, 1));
    });
  }

  it('is opened again by the next call, which alone is sent', async () => {
    proxy.next('XADD', 'swallow-reply');
    await failureOf(port.add(key, fields));
    assert.equal(await port.length(key), 1);
    assert.equal(proxy.forwarded('XADD'), 1);
    assert.equal(port.traffic.connections, 2);
  });

  it('rejects everything that was in flight, and what cannot be sent is not ambiguous', async () => {
    proxy.cutAll('reset');
    await eventually(() => assert.equal(lost.length, 1));
    await proxy.setMode('refuse');
    const errors = await Promise.all([failureOf(port.length(key)), failureOf(port.add(key, fields))]);
    for (const error of errors) {
      assert.equal(error.reason, 'connection-refused', error.message);
      assert.notEqual(error.details.ambiguous, true);
    }
    await proxy.setMode('pass');
    assert.equal(await port.length(key), 0);
  });

  it('without a word counts as dead after the socket timeout', async () => {
    await proxy.setMode('black-hole');
    const errors = await Promise.all([failureOf(port.add(key, fields)), failureOf(port.length(key))]);
    for (const error of errors) {
      assert.equal(error.reason, 'timeout', error.message);
      assert.equal(error.details.ambiguous, true);
    }
    assert.deepEqual(
      lost.map(({ reason }) => reason),
      ['timeout'],
    );
  });

  it('because the server was killed rejects a call and a blocked read', async () => {
    const group = groupName('workers');
    await port.createGroup(key, group, '$', { makeStream: true });
    const reader = await port.openReader();
    const reading = failureOf(reader.readGroup(key, group, consumerName('ann'), { count: 1, blockMs: 600_000 }));
    await server.kill('SIGSTOP');
    const asking = failureOf(port.add(key, fields));
    await server.kill();
    for (const error of await Promise.all([reading, asking])) {
      assert.equal(error.reason, 'connection-lost', error.message);
      assert.equal(error.details.ambiguous, true);
    }
    const after = await failureOf(reader.readGroup(key, group, consumerName('ann'), { count: 1, blockMs: 1 }));
    assert.equal(after.reason, 'connection-lost');
    assert.equal(after.details.ambiguous, false);
    await server.restart();
    assert.equal(await port.length(key), 0);
    const next = await port.openReader();
    assert.deepEqual(await next.read(key, entryId('0-0'), { count: 1, blockMs: 0 }), []);
  });

  it('because somebody else sends nonsense is told as such', async () => {
    const liar = await listening(
      createServer((socket) => {
        const answers = ["-ERR unknown command 'HELLO'\r\n", '+OK\r\n', 'what?\r\n'];
        socket.on('data', () => socket.write(answers.shift() ?? ''));
      }),
    );
    const other = await connectRedis({ url: `redis://127.0.0.1:${liar.port}` });
    const error = await failureOf(other.length(key));
    assert.equal(error.reason, 'protocol', error.message);
    await other.close();
    await liar.stop();
  });

  it('is in order for replies that come late', async () => {
    proxy.delayReplies(100);
    const results = await Promise.all([port.add(key, fields, { id: entryId('1-0') }), port.length(key)]);
    assert.deepEqual(results, ['1-0', 1]);
  });
});

describe('a port that was closed', function () {
  this.timeout(60_000);

  it('leaves no socket and no timer behind, so that its process ends by itself', async () => {
    const server = await startRedis();
    const program = `
      const { connectRedis, entryId, streamKey } = require('./src/bus/index.ts');
      void (async () => {
        const port = await connectRedis({ url: '${server.url}' });
        const reader = await port.openReader();
        const reading = reader.read(streamKey('x'), entryId('0-0'), { count: 1, blockMs: 600_000 });
        await port.capabilities();
        const asking = port.length(streamKey('x'));
        await port.close();
        const results = await Promise.allSettled([reading, asking]);
        console.log(results.map(({ status, reason }) => reason?.reason ?? status).join());
      })();`;
    const child = spawn(process.execPath, ['--import=tsx', '--eval', program], {
      cwd: path.resolve(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8');
    let output = '';
    child.stdout.on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.deepEqual([code, output.trim()], [0, 'closed,closed']);
    await server.stop();
  });
});

async function failureOf(call: Promise<unknown>): Promise<BusError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof BusError, `not a BusError: ${inspect(error)}`);
    return error;
  }
  return assert.fail('it did not fail');
}

async function listening(server: Server): Promise<{ port: number; stop(): Promise<void> }> {
  const sockets = new Set<{ destroy(): unknown }>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
