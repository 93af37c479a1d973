/** The gateway's contract over HTTP, by real clients: fetch, and raw sockets for what no client library sends. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { Bus, HandlerLog, StreamKey } from '../../src/bus';
import { createMemoryBus } from '../../src/embedded';
import type { MemoryBus } from '../../src/embedded';
import { createGatewayApp } from '../../src/worker/gateway/gatewayApp';
import type { GatewayParts } from '../../src/worker/gateway/gatewayApp';
import { serveHttp } from '../../src/worker/gateway/httpServer';
import type { HttpServer } from '../../src/worker/gateway/httpServer';
import { RateLimiter } from '../../src/worker/gateway/rateLimiter';
import { MemoryRunStore } from '../../src/worker/runs/memoryRunStore';
import { runsTopic } from '../../src/worker/runs/runsStream';
import type { RunStore } from '../../src/worker/runs/runStore';
import { systemClock } from '../../src/base/clock';
import { manualClock } from '../support/manualClock';
import type { ManualClock } from '../support/manualClock';
import { uniqueKey } from '../support/uniqueKey';

const maxBodyBytes = 2048;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly runId?: string;
    readonly streamId?: string | null;
    readonly duplicated?: boolean;
    readonly status?: string;
    readonly reply?: string | null;
    readonly failure?: { readonly reason: string; readonly message: string } | null;
    readonly error?: { readonly code: string; readonly field?: string; readonly message: string };
  };
}

/** A gateway that listens, over an engine in this process. */
class World {
  readonly lines: string[] = [];
  store: GatewayParts['store'] & Pick<RunStore, 'fail' | 'complete'> = new MemoryRunStore();

  private constructor(
    readonly memory: MemoryBus,
    readonly clock: ManualClock,
    private http: HttpServer | undefined,
  ) {}

  static async start(options: { readonly token?: string; readonly perMinute?: number } = {}): Promise<World> {
    const memory = createMemoryBus({ clock: systemClock(), env: 'gateway' });
    const clock = manualClock();
    const world = new World(memory, clock, undefined);
    const write = (text: string): void => void world.lines.push(text);
    const log: HandlerLog = { info: write, warn: write, error: write };
    const { token, perMinute } = options;
    const app = createGatewayApp({
      // The store may be replaced while the gateway runs.
      store: {
        create: (run) => world.store.create(run),
        published: (runId, streamId) => world.store.published(runId, streamId),
        get: (runId) => world.store.get(runId),
      },
      bus: memory.bus,
      log,
      token,
      limiter: perMinute === undefined ? undefined : new RateLimiter({ perMinute, clock }),
      maxBodyBytes,
      publishTimeoutMs: 300,
    });
    world.http = await serveHttp(app, '127.0.0.1', 0);
    return world;
  }

  get bus(): Bus {
    return this.memory.bus;
  }

  get stream(): StreamKey {
    return this.bus.keyOf(runsTopic);
  }

  get url(): string {
    return this.http?.url ?? '';
  }

  length(): Promise<number> {
    return this.memory.server.process('looks').openPort().length(this.stream);
  }

  async post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const text = typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body);
    return read(
      await fetch(`${this.url}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      }),
    );
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return read(await fetch(this.url + path, { headers }));
  }

  /** Sends bytes as they are and answers all that comes back until the gateway closes the connection. */
  raw(text: string): Promise<string> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
      socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      socket.on('close', () => resolve(answer)).on('error', reject);
    });
  }

  async end(): Promise<void> {
    await this.http?.close(1000);
    await this.bus.close();
  }
}

async function read(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

const submission = (changes: object = {}): Record<string, unknown> => ({
  sessionId: 'ana',
  idempotencyKey: uniqueKey('key'),
  input: 'hello',
  ...changes,
});

describe('The gateway', () => {
  let world: World;
  before(async () => {
    world = await World.start();
  });
  after(() => world.end());

  describe('takes a run', () => {
    it('with 202, keeps it, and publishes its id and session and nothing else', async () => {
      const before = await world.length();
      const { status, headers, body } = await world.post(submission());
      assert.equal(status, 202);
      assert.equal(body.duplicated, false);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(headers.get('location'), `/runs/${body.runId ?? ''}`);
      assert.equal((await world.store.get(body.runId ?? ''))?.input, 'hello');
      assert.equal(await world.length(), before + 1);
      const port = world.memory.server.process('looks').openPort();
      const [entry] = await port.range(world.stream, { from: 'min', to: 'max', count: 1, reverse: true });
      assert.equal(entry?.id, body.streamId);
      const fields = entry?.fields.map(String);
      assert.deepEqual(fields, ['runId', body.runId, 'sessionId', 'ana']);
    });

    it('once for a known idempotency key, answering the first run', async () => {
      const body = submission();
      const first = await world.post(body);
      const before = await world.length();
      const again = await world.post(body);
      assert.equal(again.status, 202);
      assert.deepEqual(again.body, { runId: first.body.runId, streamId: first.body.streamId, duplicated: true });
      assert.equal(await world.length(), before);
    });

    it('once when the same submission comes twenty times at the same moment', async () => {
      const body = submission();
      const before = await world.length();
      const answers = await Promise.all(Array.from({ length: 20 }, () => world.post(body)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
      assert.equal(new Set(answers.map(({ body: { runId } }) => runId)).size, 1);
      assert.equal(answers.filter(({ body: { duplicated } }) => duplicated === false).length, 1);
      assert.equal(await world.length(), before + 1);
    });

    it('whatever text the input is, byte for byte', async () => {
      const input = 'snowman ☃ 🎈 "\\ \n\t\u2028 </script> %00';
      const { body } = await world.post(submission({ input }));
      assert.equal((await world.store.get(body.runId ?? ''))?.input, input);
    });

    it('with a charset in the content type, and with fields that it does not know', async () => {
      const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
      assert.equal((await world.post(submission({ extra: 1 }), headers)).status, 202);
    });

    it('also while the stream cannot be reached: it is kept, and has no entry yet', async () => {
      const heal = world.memory.partition('main');
      try {
        const { status, body } = await world.post(submission());
        assert.equal(status, 202);
        assert.equal(body.streamId, null);
        assert.equal((await world.store.get(body.runId ?? ''))?.status, 'pending');
      } finally {
        heal();
      }
    });
  });

  describe('refuses with 400 and the field', () => {
    const wrong: readonly (readonly [name: string, changes: object, field: string, says: RegExp])[] = [
      ['a missing sessionId', { sessionId: undefined }, 'sessionId', /it is missing/],
      ['a missing idempotencyKey', { idempotencyKey: undefined }, 'idempotencyKey', /it is missing/],
      ['a missing input', { input: undefined }, 'input', /it is missing/],
      ['a sessionId that is a number', { sessionId: 7 }, 'sessionId', /expected a text/],
      ['an idempotencyKey that is null', { idempotencyKey: null }, 'idempotencyKey', /expected a text/],
      ['an input that is an object', { input: { text: 'x' } }, 'input', /expected a text/],
      ['an input that is a list', { input: ['x'] }, 'input', /expected a text/],
      ['an empty sessionId', { sessionId: '' }, 'sessionId', /not empty/],
      ['an empty input', { input: '' }, 'input', /not empty/],
      ['a long idempotencyKey', { idempotencyKey: 'k'.repeat(201) }, 'idempotencyKey', /at most 200/],
      ['a NUL character', { input: 'secret-canary\0' }, 'input', /NUL/],
      ['half a character', { sessionId: 'secret-canary\ud800' }, 'sessionId', /surrogates/],
    ];
    for (const [name, changes, field, says] of wrong) {
      it(name, async () => {
        const before = await world.length();
        const { status, body } = await world.post(submission(changes));
        assert.equal(status, 400);
        assert.equal(body.error?.code, 'invalid');
        assert.equal(body.error.field, field);
        assert.match(body.error.message, says);
        assert.doesNotMatch(body.error.message, /secret-canary/, 'no value is repeated');
        assert.equal(await world.length(), before);
      });
    }

    for (const [name, text] of [
      ['a body that is not JSON', '{"sessionId": secret-canary'],
      ['an empty body', ''],
      ['bytes that are not UTF-8', new Blob([Uint8Array.of(0x22, 0xff, 0xfe, 0x22)])],
    ] as const) {
      it(name, async () => {
        const { status, body } = await world.post(text);
        assert.deepEqual([status, body.error?.code], [400, 'malformed']);
        assert.doesNotMatch(body.error?.message ?? '', /secret-canary/);
      });
    }

    for (const text of ['[]', '"text"', 'null', '7']) {
      it(`JSON that is no object: ${text}`, async () => {
        const { status, body } = await world.post(text);
        assert.deepEqual([status, body.error?.code], [400, 'invalid']);
      });
    }
  });

  describe('refuses', () => {
    it('another content type with 415, and none too', async () => {
      const form = await world.post('sessionId=ana', { 'content-type': 'application/x-www-form-urlencoded' });
      assert.equal(form.status, 415);
      const without = await world.raw(
        'POST /runs HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
      );
      assert.match(without, /^HTTP\/1\.1 415 /);
    });

    it('a body that is too large with 413, by its length and without reading it', async () => {
      const head =
        'POST /runs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n{"';
      assert.match(await world.raw(head), /^HTTP\/1\.1 413 /);
    });

    it('a body that is too large with 413 also when it does not tell its length', async () => {
      const chunk = `800\r\n${'x'.repeat(0x800)}\r\n`;
      const head =
        'POST /runs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
      assert.match(await world.raw(head + chunk + chunk), /^HTTP\/1\.1 413 /);
      const { status, body } = await world.post(submission({ input: 'x'.repeat(maxBodyBytes) }));
      assert.deepEqual([status, body.error?.code], [413, 'too-large']);
    });

    it('a body of just the allowed length is no reason to', async () => {
      const text = JSON.stringify(submission());
      assert.equal((await world.post(text + ' '.repeat(maxBodyBytes - text.length))).status, 202);
      assert.equal((await world.post(text + ' '.repeat(maxBodyBytes - text.length + 1))).status, 413);
    });

    for (const [name, text] of [
      ['no HTTP at all', 'hello?\r\n\r\n'],
      ['a length that is no number', 'POST /runs HTTP/1.1\r\nhost: a\r\ncontent-length: many\r\n\r\n'],
      ['two lengths that differ', 'POST /runs HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
      [
        'a chunk without a size',
        'POST /runs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      ],
    ] as const) {
      it(`${name}, and lives`, async () => {
        assert.match(await world.raw(text), /^HTTP\/1\.1 400 /);
        assert.equal((await world.post(submission())).status, 202);
      });
    }

    it('a body that ends too early without keeping anything, and lives', async () => {
      const before = await world.length();
      const { hostname, port } = new URL(world.url);
      await new Promise<void>((resolve, reject) => {
        const socket = connect({ host: hostname, port: Number(port) }, () => {
          const head =
            'POST /runs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"';
          socket.write(head, () => socket.destroy());
        });
        socket.on('close', () => resolve()).on('error', reject);
      });
      assert.equal((await world.post(submission())).status, 202);
      assert.equal(await world.length(), before + 1);
    });

    it('other methods with 405 and what is allowed, other paths with 404', async () => {
      const put = await read(await fetch(`${world.url}/runs`, { method: 'PUT' }));
      assert.deepEqual([put.status, put.headers.get('allow')], [405, 'POST']);
      const remove = await read(await fetch(`${world.url}/runs/x`, { method: 'DELETE' }));
      assert.deepEqual([remove.status, remove.headers.get('allow')], [405, 'GET, HEAD']);
      assert.deepEqual((await world.get('/')).status, 404);
      assert.deepEqual((await world.get('/runs/a/b')).status, 404);
    });
  });

  describe('shows a run', () => {
    it('that is pending, done or failed', async () => {
      const { body } = await world.post(submission());
      const path = `/runs/${body.runId ?? ''}`;
      const pending = await world.get(path);
      assert.deepEqual(
        [pending.status, pending.body.status, pending.body.streamId, pending.body.reply, pending.body.failure],
        [200, 'pending', body.streamId, null, null],
      );
      await world.store.fail(body.runId ?? '', { reason: 'handler-error', message: 'why' });
      assert.deepEqual((await world.get(path)).body.failure, { reason: 'handler-error', message: 'why' });
      await world.store.complete(body.runId ?? '', 'the reply');
      const done = await world.get(path);
      assert.deepEqual([done.body.status, done.body.reply, done.body.failure], ['done', 'the reply', null]);
    });

    it('not when there is none, with 404', async () => {
      for (const id of ['3f0c1b1e-0000-4000-8000-000000000000', 'nonsense', "'; drop table runs; --"]) {
        const { status, body } = await world.get(`/runs/${encodeURIComponent(id)}`);
        assert.deepEqual([status, body.error?.code], [404, 'unknown-run']);
      }
    });
  });

  describe('keeps to itself', () => {
    it('why the store fails, which it answers with 503 and when to try again', async () => {
      const { store } = world;
      world.store = new Proxy(store, {
        get: () => () => Promise.reject(new Error('connection to 10.1.2.3 refused for postgres:hunter2')),
      });
      try {
        const { status, headers, body } = await world.post(submission());
        assert.deepEqual([status, body.error?.code, headers.get('retry-after')], [503, 'unavailable', '1']);
        assert.doesNotMatch(JSON.stringify(body), /hunter2|10\.1\.2\.3/);
        assert.equal((await world.get('/runs/3f0c1b1e-0000-4000-8000-000000000000')).status, 503);
      } finally {
        world.store = store;
      }
    });

    it('inputs, keys and sessions: none of them is in its log', () => {
      assert.ok(world.lines.length > 0, 'something was logged by the tests before');
      assert.doesNotMatch(world.lines.join('\n'), /hello|secret-canary|test:/);
    });
  });
});

describe('A gateway with a token', () => {
  const token = 'a-token-that-is-long-enough';
  let world: World;
  before(async () => {
    world = await World.start({ token });
  });
  after(() => world.end());

  for (const [name, authorization] of [
    ['none', undefined],
    ['another one', 'Bearer another-token-of-some-length'],
    ['a part of it', `Bearer ${token.slice(0, -1)}`],
    ['more than it', `Bearer ${token}x`],
    ['an empty one', 'Bearer '],
    ['another scheme', `Basic ${token}`],
    ['the token alone', token],
  ] as const) {
    it(`answers 401 to ${name}, for every path`, async () => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const before = await world.length();
      const posted = await world.post(submission(), headers);
      assert.deepEqual([posted.status, posted.body.error?.code], [401, 'unauthorized']);
      assert.match(posted.headers.get('www-authenticate') ?? '', /^Bearer/);
      assert.equal((await world.get('/runs/x', headers)).status, 401);
      assert.equal((await world.get('/nowhere', headers)).status, 401);
      assert.equal(await world.length(), before);
    });
  }

  it('lets the token in, however the scheme is written', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const { status, body } = await world.post(submission(), { authorization: `${scheme} ${token}` });
      assert.equal(status, 202);
      const shown = await world.get(`/runs/${body.runId ?? ''}`, { authorization: `${scheme} ${token}` });
      assert.equal(shown.status, 200);
    }
  });
});

describe('A gateway with a limit', () => {
  let world: World;
  before(async () => {
    world = await World.start({ perMinute: 6 });
  });
  after(() => world.end());

  it('answers 429 with Retry-After to a session that submits too often, and to no other', async () => {
    for (let index = 0; index < 6; index += 1) assert.equal((await world.post(submission())).status, 202);
    const before = await world.length();
    const refused = await world.post(submission());
    assert.deepEqual([refused.status, refused.body.error?.code], [429, 'too-many']);
    assert.equal(refused.headers.get('retry-after'), '10');
    assert.equal(await world.length(), before, 'nothing is published');
    assert.equal((await world.post(submission({ sessionId: 'bob' }))).status, 202);
    world.clock.advance(9_999);
    assert.equal((await world.post(submission())).headers.get('retry-after'), '1');
    world.clock.advance(1);
    assert.equal((await world.post(submission())).status, 202);
    assert.equal((await world.post(submission())).status, 429);
  });

  it('does not count what it refuses for another reason', async () => {
    for (let index = 0; index < 10; index += 1)
      assert.equal((await world.post(submission({ sessionId: 'eve', input: '' }))).status, 400);
    assert.equal((await world.post(submission({ sessionId: 'eve' }))).status, 202);
  });

  it('remembers no more sessions than it may', () => {
    const limiter = new RateLimiter({ perMinute: 1, maxSessions: 2, clock: world.clock });
    assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('b'), 0);
    assert.equal(limiter.take('b'), 60_000);
    assert.equal(limiter.take('c'), 0);
    assert.equal(limiter.take('b'), 60_000, 'the one used last is still known');
    assert.equal(limiter.take('a'), 0, 'the oldest was forgotten');
  });
});
