import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { startRedisServer } from '../../scripts/lib/redisServer.mjs';
import { ask } from '../../scripts/lib/respAsk.mjs';
import { eventually } from '../support/eventually';
import { listLiveServers, serverUnderTest, startRedis } from '../support/redisServer';
import type { RedisOptions, RedisServer } from '../support/redisServer';
import { uniqueKey } from '../support/uniqueKey';

describe('a Redis server of a test', () => {
  const servers: RedisServer[] = [];
  const clients: Redis[] = [];
  const start = async (options: RedisOptions = {}): Promise<RedisServer> => {
    const server = await startRedis(options);
    servers.push(server);
    return server;
  };
  const connect = (url: string, server?: RedisServer): Redis => {
    const client = new Redis(
      url,
      server?.tls === undefined ? { retryStrategy: null } : { retryStrategy: null, tls: server.tls },
    );
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };

  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it('is the binary under test, in a process of its own, empty and without persistence', async () => {
    const server = await start();
    const client = connect(server.url);
    const info = await client.info();
    assert.ok(info.includes(`process_id:${server.pid}\r`));
    const { name, version } = serverUnderTest();
    assert.ok(info.includes(`${name.toLowerCase()}_version:${version}\r`), `${name} ${version} is not what INFO says`);
    assert.equal(await client.dbsize(), 0);
    assert.deepEqual(await client.config('GET', 'save'), ['save', '']);
    assert.match(String(await client.xadd(uniqueKey(), '*', 'f', 'v')), /^\d+-0$/);
  });

  it('is gone with its folder when it is stopped, and a second stop does nothing', async () => {
    const server = await start();
    assert.ok(existsSync(server.dir) && listLiveServers().includes(server));
    await server.stop();
    assert.ok(!existsSync(server.dir) && !listLiveServers().includes(server));
    assert.equal(server.isRunning, false);
    await assert.rejects(ask(server.port, ['PING']));
    await server.stop();
  });

  it('keeps its port and, with an append-only file, its entries when it is killed and restarted', async () => {
    const server = await start({ aof: true });
    const key = uniqueKey();
    const id = await connect(server.url).xadd(key, '*', 'f', 'v');
    const { pid, port } = server;
    await server.kill();
    assert.equal(server.isRunning, false);
    await server.restart();
    assert.notEqual(server.pid, pid);
    assert.equal(server.port, port);
    assert.deepEqual(await connect(server.url).xrange(key, '-', '+'), [[id, ['f', 'v']]]);
  });

  it('can be frozen and thawed', async () => {
    const server = await start();
    await server.kill('SIGSTOP');
    await assert.rejects(ask(server.port, ['PING'], { timeoutMs: 200 }), /did not answer PING/);
    await server.kill('SIGCONT');
    assert.equal(await ask(server.port, ['PING']), '+PONG');
  });

  it('asks for its password and knows its ACL users', async () => {
    const server = await start({ password: 'a "b"', users: ['reader on >r ~* +@read +@connection'] });
    assert.match(await ask(server.port, ['XLEN', 's']), /^-NOAUTH/);
    assert.equal(await connect(server.url).xlen('s'), 0);
    const reader = connect(`redis://reader:r@${server.host}:${server.port}`);
    assert.equal(await reader.xlen('s'), 0);
    await assert.rejects(reader.xadd('s', '*', 'f', 'v'), /NOPERM/);
  });

  it('takes arguments and lines of redis.conf', async () => {
    const server = await start({ args: ['--maxmemory', '50mb'], config: ['stream-node-max-entries 7'] });
    const client = connect(server.url);
    assert.deepEqual(await client.config('GET', 'maxmemory'), ['maxmemory', '52428800']);
    assert.deepEqual(await client.config('GET', 'stream-node-max-entries'), ['stream-node-max-entries', '7']);
  });

  it('speaks TLS, with and without asking for a certificate', async () => {
    const server = await start({ tls: true });
    assert.match(server.url, /^rediss:/);
    assert.equal(await connect(server.url, server).ping(), 'PONG');
    const mutual = await start({ tls: 'mutual' });
    assert.equal(await connect(mutual.url, mutual).ping(), 'PONG');
    const stranger = new Redis(mutual.url, { retryStrategy: null, tls: { ca: mutual.tls?.ca } });
    stranger.on('error', () => undefined);
    clients.push(stranger);
    await assert.rejects(stranger.ping());
  });

  it('says why it did not start', async () => {
    await assert.rejects(
      startRedis({ config: ['no-such-directive yes'] }),
      /did not start on port \d+: it ended[^]*no-such-directive/,
    );
    await assert.rejects(startRedis({ binary: '/no/such/redis-server' }), /\/no\/such\/redis-server.*ENOENT/);
    const first = await start();
    await assert.rejects(startRedisServer({ port: first.port }), /did not start on port \d+: it ended[^]*in use/);
  });

  it('is ended, with its folder, when the process that started it is killed', async () => {
    const script = pathToFileURL(path.join(__dirname, '../../scripts/lib/redisServer.mjs')).href;
    const code = `import { startRedisServer } from ${JSON.stringify(script)};
      const server = await startRedisServer();
      console.log(JSON.stringify({ port: server.port, pid: server.pid, dir: server.dir }));`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise((resolve) => starter.stdout.once('data', resolve));
    const { port, pid, dir } = readStarted(String(line));
    assert.equal(await ask(port, ['PING']), '+PONG');
    starter.kill('SIGKILL');
    await eventually(() => assert.ok(!isAlive(pid), `redis-server ${pid} is still there`));
    await eventually(() => assert.ok(!existsSync(dir), `${dir} is still there`));
  });
});

function readStarted(line: string): { port: number; pid: number; dir: string } {
  const value: unknown = JSON.parse(line);
  assert.ok(typeof value === 'object' && value !== null && 'port' in value && 'pid' in value && 'dir' in value);
  return { port: Number(value.port), pid: Number(value.pid), dir: String(value.dir) };
}

/** A zombie whose parent does not look after it has ended too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    return !(error instanceof Error);
  }
}
