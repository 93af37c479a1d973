// The RESP server: protocol, limits, authentication, clients, and that malformed input ends one connection only.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { systemClock } from '../../src/base/clock';
import { connectRedis } from '../../src/bus/redis/connect';
import { EmbeddedServer, startRespServer } from '../../src/embedded';
import type { RespServer, RespServerOptions } from '../../src/embedded';
import { findProgram } from '../../scripts/lib/findProgram.mjs';
import { eventually } from '../support/eventually';
import { encodeCommand, WireClient } from './support/wireClient';
import type { Wire } from './support/wireClient';

describe('the RESP server', function () {
  this.timeout(60_000);
  const servers: RespServer[] = [];
  const clients: WireClient[] = [];

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const server of servers.splice(0)) await server.close();
  });

  async function start(options: Partial<RespServerOptions> & { readonly password?: string } = {}): Promise<RespServer> {
    const { password, ...rest } = options;
    const { engine } = new EmbeddedServer({ clock: systemClock(), ...(password === undefined ? {} : { password }) });
    const server = await startRespServer({ engine, ...rest });
    servers.push(server);
    return server;
  }

  async function connectTo(server: RespServer): Promise<WireClient> {
    const client = await WireClient.open(server.port);
    clients.push(client);
    return client;
  }

  const errorOf = (reply: Wire): string =>
    reply !== null && typeof reply === 'object' && 'error' in reply
      ? reply.error
      : `no error: ${JSON.stringify(reply)}`;

  async function hasBlocked(client: WireClient, count: number): Promise<boolean> {
    const info = await client.send('INFO', 'clients');
    return typeof info === 'string' && info.includes(`blocked_clients:${count}`);
  }

  it('listens on loopback only', async () => {
    const server = await start();
    assert.equal(server.host, '127.0.0.1');
    assert.deepEqual(await (await connectTo(server)).send('PING'), { status: 'PONG' });
  });

  it('answers inline commands, with quotes and escapes', async () => {
    const client = await connectTo(await start());
    client.sendRaw(Buffer.from('SET "a key" \'it\\\'s\'\r\nGET "a\\x20key"\nPING\r\n'));
    assert.deepEqual(await client.nextReply(), { status: 'OK' });
    assert.equal(await client.nextReply(), "it's");
    assert.deepEqual(await client.nextReply(), { status: 'PONG' });
  });

  it('takes a command in pieces of any size', async () => {
    const client = await connectTo(await start());
    const bytes = Buffer.concat([
      encodeCommand(['XADD', 's', '1-1', 'field', 'x'.repeat(3000)]),
      encodeCommand(['XRANGE', 's', '-', '+']),
    ]);
    for (let at = 0; at < bytes.length; at += 7) {
      client.sendRaw(bytes.subarray(at, at + 7));
      if (at % 700 === 0) await new Promise(setImmediate);
    }
    assert.equal(await client.nextReply(), '1-1');
    assert.deepEqual(await client.nextReply(), [['1-1', ['field', 'x'.repeat(3000)]]]);
  });

  it('asks for the password before anything else', async () => {
    const client = await connectTo(await start({ password: 'secret' }));
    assert.match(errorOf(await client.send('XLEN', 's')), /^NOAUTH /);
    assert.match(errorOf(await client.send('AUTH', 'wrong')), /^WRONGPASS /);
    assert.match(errorOf(await client.send('HELLO', '3')), /^NOAUTH /);
    assert.match(errorOf(await client.send('HELLO', '3', 'AUTH', 'somebody', 'secret')), /^WRONGPASS /);
    const hello = await client.send('HELLO', '3', 'AUTH', 'default', 'secret');
    assert.ok(hello !== null && typeof hello === 'object' && 'pairs' in hello);
    assert.deepEqual(await client.send('XLEN', 's'), { integer: '0' });
    const large = await connectTo(servers[0] ?? assert.fail());
    large.sendRaw(Buffer.from('*11\r\n'));
    assert.match(errorOf(await large.nextReply()), /unauthenticated multibulk length/);
  });

  it('turns clients away beyond its limit, and takes new ones when others have gone', async () => {
    const server = await start({ maxClients: 2 });
    const first = await connectTo(server);
    await first.send('PING');
    await (await connectTo(server)).send('PING');
    const third = await connectTo(server);
    assert.match(errorOf(await third.nextReply()), /max number of clients reached/);
    first.close();
    await eventually(() => server.clientCount === 1);
    assert.deepEqual(await (await connectTo(server)).send('PING'), { status: 'PONG' });
  });

  it('refuses a request that is larger than its limit, before it has arrived', async () => {
    const server = await start({ limits: { requestBytes: 10_000 } });
    const client = await connectTo(server);
    client.sendRaw(Buffer.from('*2\r\n$4\r\nECHO\r\n$10001\r\n'));
    assert.match(errorOf(await client.nextReply()), /invalid bulk length/);
    const many = await connectTo(server);
    many.sendRaw(
      Buffer.concat([
        Buffer.from('*30\r\n'),
        ...Array.from({ length: 20 }, () => encodeCommand(['x'.repeat(900)]).subarray(4)),
      ]),
    );
    assert.match(errorOf(await many.nextReply()), /too big request/);
  });

  it('does not hold replies for a client that never reads them', async () => {
    const server = await start({ limits: { outputBytes: 1_000_000 } });
    const client = await connectTo(server);
    await client.send('SET', 'big', Buffer.alloc(4_000_000));
    const lazy = new (await import('node:net')).Socket();
    lazy.on('error', () => undefined);
    lazy.connect(server.port, server.host);
    await once(lazy, 'connect');
    lazy.pause();
    lazy.write(Buffer.concat(Array.from({ length: 20 }, () => encodeCommand(['GET', 'big']))));
    await eventually(() => server.clientCount === 1);
    lazy.destroy();
  });

  it('runs what a blocked client sent meanwhile after its read, in order', async () => {
    const server = await start();
    const [reader, writer] = [await connectTo(server), await connectTo(server)];
    const replies = reader.sendAll([
      ['XREAD', 'BLOCK', '0', 'STREAMS', 's', '$'],
      ['XLEN', 's'],
      ['ECHO', 'later'],
    ]);
    await eventually(() => hasBlocked(writer, 1));
    await writer.send('XADD', 's', '1-1', 'a', 'b');
    assert.deepEqual(await replies, [[['s', [['1-1', ['a', 'b']]]]], { integer: '1' }, 'later']);
  });

  it('forgets a blocked client that went away', async () => {
    const server = await start();
    const [reader, writer] = [await connectTo(server), await connectTo(server)];
    await writer.send('XGROUP', 'CREATE', 's', 'g', '$', 'MKSTREAM');
    reader.sendRaw(encodeCommand(['XREADGROUP', 'GROUP', 'g', 'c', 'BLOCK', '0', 'STREAMS', 's', '>']));
    await eventually(() => hasBlocked(writer, 1));
    reader.close();
    await eventually(() => hasBlocked(writer, 0));
    await writer.send('XADD', 's', '1-1', 'a', 'b');
    assert.deepEqual(await writer.send('XPENDING', 's', 'g'), [{ integer: '0' }, null, null, { nullArray: true }]);
  });

  it('is silent as CLIENT REPLY says', async () => {
    const client = await connectTo(await start());
    for (const command of [
      ['CLIENT', 'REPLY', 'SKIP'],
      ['PING'],
      ['CLIENT', 'REPLY', 'OFF'],
      ['PING'],
      ['CLIENT', 'REPLY', 'ON'],
    ])
      client.sendRaw(encodeCommand(command));
    assert.deepEqual(await client.nextReply(), { status: 'OK' });
    assert.equal(await client.send('ECHO', 'x'), 'x');
  });

  it('names the sandbox when it does not know a command', async () => {
    const client = await connectTo(await start());
    for (const command of [
      ['LPUSH', 'k', 'v'],
      ['CLIENT', 'TRACKING', 'ON'],
      ['CONFIG', 'SET', 'a', 'b'],
      ['SUBSCRIBE', 'c'],
    ])
      assert.match(errorOf(await client.send(...command)), /^ERR unknown (?:sub)?command .*sandbox.*docs\/sandbox\.md/);
  });

  it('drops a browser that posts to it', async () => {
    const client = await connectTo(await start());
    client.sendRaw(Buffer.from('POST / HTTP/1.1\r\nHost: x\r\n\r\nSET a b\r\n'));
    await eventually(() => !client.isOpen);
  });

  it('ends the connection that sent malformed input, and no other', async () => {
    const server = await start();
    const witness = await connectTo(server);
    const fragment = fc.oneof(
      fc.constantFrom(
        '*',
        '$',
        '*1\r\n',
        '*-1\r\n',
        '*0\r\n',
        '*2147483648\r\n',
        '*99999999\r\n',
        '$-1\r\n',
        '$5\r\nab',
        '*1\r\n*1\r\n*1\r\n',
      ),
      fc.constantFrom(
        '\r\n',
        '\r',
        '\n',
        '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$01\r\n',
        '*1\r\n$4\r\nPINGxx',
        '*1\r\n$4\r\nPING\r\n',
        '"',
        "'\r\n",
        '*x\r\n',
        '$x\r\n',
        ':1\r\n',
        '+OK\r\n',
        '%1\r\n',
      ),
      fc.integer({ min: -3, max: 70_000_000 }).map((n) => `*1\r\n$${n}\r\n`),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.constant('*'.repeat(70_000)),
      fc.constant('$'.repeat(70_000)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fragment, { minLength: 1, maxLength: 6 }), async (fragments) => {
        const client = await WireClient.open(server.port);
        for (const one of fragments) {
          client.sendRaw(Buffer.from(one, 'latin1'));
          await new Promise(setImmediate);
        }
        assert.deepEqual(await witness.send('PING'), { status: 'PONG' });
        client.close();
      }),
      { numRuns: 400, plugins: [fc.interruptAfterTimeLimit(5_000)] },
    );
    await eventually(() => server.clientCount === 1);
  });

  it('serves ioredis over both protocols, with pipelines and transactions', async () => {
    const server = await start({ password: 'secret' });
    for (const protocol of [2, 3] as const) {
      const client = new Redis(server.port, server.host, { password: 'secret', db: protocol, protocol });
      const added = await client
        .pipeline(Array.from({ length: 50 }, (_, n) => ['xadd', 's', `${n + 1}-0`, 'n', String(n)]))
        .exec();
      assert.equal(added?.length, 50);
      await client.xgroup('CREATE', 's', 'g', '0');
      const done = await client.multi().xlen('s').xack('s', 'g', '1-0').exec();
      assert.deepEqual(done, [
        [null, 50],
        [null, 0],
      ]);
      assert.equal((await client.xrange('s', '-', '+')).length, 50);
      await client.quit();
    }
  });

  it('is recognised as the sandbox by the port for real servers', async () => {
    const server = await start();
    const port = await connectRedis({ url: `redis://${server.host}:${server.port}` });
    const can = await port.capabilities();
    await port.close();
    assert.equal(can.server, 'embedded');
    assert.match(can.version, /^\d/);
    assert.deepEqual(
      [can.role, can.isCluster, can.hasAutoClaim, can.hasScanType, can.hasScripts, can.hasReadClaim, can.hasAckDelete],
      ['master', false, true, true, true, false, false],
    );
  });

  it('serves redis-cli', async function () {
    const program = findProgram('redis-cli', ['/usr/bin', '/usr/local/bin']);
    if (program === undefined) this.skip();
    const server = await start();
    const child = spawn(program, ['-p', String(server.port)], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stdin.end('XADD s 1-1 a b\nHELLO 3\nXINFO STREAM s\nSELECT 3\nTYPE s\n');
    await once(child, 'close');
    assert.match(output, /^1-1\n/);
    assert.match(output, /last-generated-id/);
    assert.match(output, /none/);
  });
});
