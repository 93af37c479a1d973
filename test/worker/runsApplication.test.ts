/** Gateway and workers as processes on a real Redis and a real PostgreSQL: what they do together, and how they start and end. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../support/eventually';
import { AppWorld } from './support/appWorld';
import { endWorkers, startWorker } from './support/workerProcess';

describe('The runs application', () => {
  let world: AppWorld;
  let folder: string;
  before(async () => {
    world = await AppWorld.start();
    folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-app-'));
  });
  after(async () => {
    await world.end();
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(endWorkers);

  const handlerFile = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  describe('executes', () => {
    it('what was posted, by any of its workers, each run once', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      await Promise.all([app.worker(), app.worker()]);
      const runIds = await Promise.all(Array.from({ length: 20 }, (_, index) => gateway.post(`input ${index}`)));
      const runs = await Promise.all(runIds.map((runId) => gateway.finished(runId)));
      assert.deepEqual(
        runs.map(({ status, reply }) => [status, reply]),
        runs.map((_, index) => ['done', `echo: input ${index}`]),
      );
      await app.nothingPending();
      const { rows } = await world.pool.query(
        'select run_id from messages where run_id = any($1::uuid[]) group by run_id having count(*) = 1',
        [runIds],
      );
      assert.equal(rows.length, 20);
    });

    it('a run that fails three times, and no fourth, and marks it failed with the reason', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const worker = await app.worker();
      const run = await gateway.finished(await gateway.post('boom'));
      assert.deepEqual(run.failure, { reason: 'handler-error', message: 'The input asked for a failure' });
      await app.nothingPending();
      assert.equal(worker.output().match(/The handler failed on/g)?.length, 3);
      const [letter, ...more] = await app.bus.deadLetters('koda:runs').list();
      assert.deepEqual([letter?.failure.entry, letter?.failure.deliveries, more], [run.streamId, 3, []]);
    });

    it('a failed run again when its dead letter is replayed', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const file = handlerFile(
        'twice.mjs',
        `import { existsSync } from 'node:fs';
         export default ({ body }) => { if (!existsSync(${JSON.stringify(path.join(folder, 'mended'))})) throw new Error('broken'); return 'mended ' + body.input; }`,
      );
      await app.worker(['--handler', file]);
      const runId = await gateway.post('something');
      assert.equal((await gateway.finished(runId)).failure?.message, 'broken');
      writeFileSync(path.join(folder, 'mended'), '');
      await app.bus.deadLetters('koda:runs').replay({ where: {} });
      const run = await eventually(async () => {
        const now = await gateway.run(runId);
        return now.status === 'done' && now;
      });
      assert.equal(run.reply, 'mended something');
      assert.equal(run.failure, null);
    });

    it('a run whose worker was killed, on another worker, which executes it once more', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const file = handlerFile(
        'waits.mjs',
        `export default async ({ body }, { deliveryCount }) => {
           if (deliveryCount === 1) await new Promise(() => undefined);
           return body.input + ' at delivery ' + deliveryCount;
         }`,
      );
      const first = await app.worker(['--handler', file]);
      const runId = await gateway.post('done');
      await eventually(async () => (await app.pending()).length === 1);
      first.kill('SIGKILL');
      await first.ended;
      await app.worker(['--handler', file]);
      assert.equal((await gateway.finished(runId)).reply, 'done at delivery 2');
      await app.nothingPending();
    });

    it('a run that kills its worker three times on nobody else: it fails with the reason delivery-limit', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const runId = await gateway.post('die');
      for (let death = 1; death <= 3; death += 1) {
        const worker = app.start('run');
        assert.equal(await worker.ended, 'SIGKILL', `death ${death}: ${worker.output()}`);
      }
      assert.equal((await gateway.run(runId)).status, 'pending');
      const survivor = await app.worker();
      const run = await gateway.finished(runId);
      assert.equal(run.failure?.reason, 'delivery-limit');
      await app.nothingPending();
      const letters = await app.bus.deadLetters('koda:runs').list();
      assert.deepEqual(
        letters.map(({ failure }) => [failure.reason, failure.deliveries]),
        [['delivery-limit', 3]],
      );
      assert.equal((await gateway.finished(await gateway.post('still there'))).reply, 'echo: still there');
      survivor.kill('SIGTERM');
      assert.equal(await survivor.ended, 0);
    });

    it('a run on which the database was away, without using up its deliveries', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const go = path.join(folder, 'go');
      const file = handlerFile(
        'waitsForDatabase.mjs',
        `import { existsSync } from 'node:fs';
         import { setTimeout as sleep } from 'node:timers/promises';
         export default async (_message, { deliveryCount }) => {
           while (!existsSync(${JSON.stringify(go)})) await sleep(10);
           return 'at delivery ' + deliveryCount;
         }`,
      );
      const worker = await app.worker(['--handler', file]);
      const runId = await gateway.post('x');
      await eventually(async () => (await app.pending()).length === 1);
      await world.postgres.kill();
      try {
        writeFileSync(go, '');
        await eventually(() => worker.output().includes('A message waits for its store'));
        // Longer than three deliveries with their delays would take.
        const beganAtMs = await world.port.serverTimeMs();
        await eventually(async () => (await world.port.serverTimeMs()) > beganAtMs + 1500, {
          what: 'some time to go by',
        });
        assert.equal((await fetch(`${gateway.url}/runs/${runId}`)).status, 503);
      } finally {
        await world.postgres.restart();
      }
      const run = await eventually(async () => {
        const shown = await gateway.run(runId).catch(() => undefined);
        return shown?.status === 'done' && shown;
      });
      assert.equal(run.reply, 'at delivery 1');
      await app.nothingPending();
      assert.equal(await app.bus.deadLetters('koda:runs').count(), 0);
    });

    for (const [name, text] of [
      [
        'own.mjs',
        'export default async ({ body, fields }, { deliveryCount }) => ({ got: body.input, deliveryCount, session: fields.sessionId })',
      ],
      [
        'own.cjs',
        'exports.handle = ({ body, fields }, { deliveryCount }) => ({ got: body.input, deliveryCount, session: fields.sessionId })',
      ],
    ] as const) {
      it(`with a handler of one's own, ${name}, whose result is the reply`, async () => {
        const app = world.app();
        const gateway = await app.gateway();
        await app.worker(['--handler', handlerFile(name, text)]);
        const run = await gateway.finished(await gateway.post('x'));
        assert.deepEqual(JSON.parse(run.reply ?? ''), { got: 'x', deliveryCount: 1, session: 'ana' });
      });
    }
  });

  describe('sweeps', () => {
    it('a run that the store has and the stream has not: it is published and executed', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      await app.worker();
      const { rows } = await world.pool.query<{ run_id: string }>(
        `insert into runs (run_id, env, session_id, idempotency_key, input)
         values (gen_random_uuid(), $1, 'ana', 'hole', 'from the hole') returning run_id`,
        [app.env],
      );
      assert.equal((await gateway.finished(rows[0]?.run_id ?? '')).reply, 'echo: from the hole');
    });

    it('a run whose entry was lost with the memory of the server', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const runId = await gateway.post('survives');
      const [lost] = await world.port.range(app.stream, { from: 'min', to: 'max', count: 1 });
      await world.port.delete(app.stream, lost ? [lost.id] : []);
      await app.worker();
      const run = await gateway.finished(runId);
      assert.equal(run.reply, 'echo: survives');
      assert.notEqual(run.streamId, lost?.id);
    });

    it('a run whose dead letter nobody marked', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const worker = await app.worker();
      const runId = await gateway.post('boom');
      await gateway.finished(runId);
      worker.kill('SIGKILL');
      gateway.process.kill('SIGKILL');
      await Promise.all([worker.ended, gateway.process.ended]);
      // As if whoever moved it had died before marking it.
      await world.pool.query(`update runs set status = 'pending', failure_reason = null where run_id = $1`, [runId]);
      const again = await app.gateway();
      assert.equal((await again.finished(runId)).failure?.reason, 'handler-error');
      assert.equal(await world.port.length(app.stream), 1, 'and it is not published again');
    });

    it('nothing that waits for a worker or is with one', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      await app.worker(['--concurrency', '1']);
      const slow = await gateway.post('slow 1500');
      const waiting = await gateway.post('waits');
      await gateway.finished(slow);
      await gateway.finished(waiting);
      assert.equal(await world.port.length(app.stream), 2);
    });
  });

  describe('starts', () => {
    const env = { DATABASE_URL: '', REDIS_STREAMS_URL: '', REDIS_STREAMS_TOKEN: '' };
    const redis = ['--url', 'redis://127.0.0.1:1'];
    const cases: readonly (readonly [args: readonly string[], env: Record<string, string>, says: RegExp])[] = [
      [['gateway', ...redis], {}, /gateway: a memory store lives in one process.*gateway --workers 2/s],
      [
        ['gateway', '--url', 'embedded://'],
        {},
        /an engine at embedded:\/\/ lives in one process.*gateway --workers 2/s,
      ],
      [['run', ...redis], {}, /run needs --stream .* or DATABASE_URL.*gateway --workers 2/s],
      [['run', ...redis, '--store', 'memory'], {}, /run: a memory store lives in one process/],
      [['run', '--url', 'embedded://'], { DATABASE_URL: 'postgresql://h/d' }, /embedded:\/\/ lives in one process/],
      [['run', '--url', 'embedded://', '--stream', 's', '--group', 'g'], {}, /nobody else could publish to it/],
      [['gateway', ...redis, '--store', 'postgres'], {}, /--store postgres needs DATABASE_URL/],
      [['gateway', ...redis, '--store', 'mongo'], {}, /--store .*: expected memory or postgres, got "mongo"/],
      [['gateway', ...redis], { DATABASE_URL: 'mysql://hunter2@h/d' }, /DATABASE_URL is not of the form postgresql:/],
      [['gateway'], { DATABASE_URL: 'postgresql://h/d' }, /Which server\? Give --url/],
      [['gateway', '--url', 'redis://:hunter2@127.0.0.1:1', '--workers', '1'], {}, /--url holds a password/],
      [['gateway', '--url', 'http://:hunter2@h', '--workers', '1'], {}, /--url: .*scheme http/],
      [['gateway', ...redis, '--workers', '1', '--host', '0.0.0.0'], {}, /set REDIS_STREAMS_TOKEN/],
      [['gateway', ...redis, '--workers', '1'], { REDIS_STREAMS_TOKEN: 'hunter2' }, /at least 16 characters/],
      [
        ['gateway', ...redis, '--workers', '1', '--port', '70000'],
        {},
        /--port .*: expected a whole number from 0 to 65535/,
      ],
      [
        ['gateway', ...redis, '--workers', '1'],
        { REDIS_STREAMS_PORT: 'x' },
        /REDIS_STREAMS_PORT\): expected a whole number/,
      ],
      [['gateway', ...redis, '--workers', '1', '--min-idle-ms', '10', '--heartbeat-ms', '9'], {}, /three heartbeats/],
      [['gateway', ...redis, '--nonsense'], {}, /--nonsense/],
      [['gateway', '--token', 'hunter2'], {}, /--token/],
    ];
    for (const [args, given, says] of cases) {
      it(`not as ${args.join(' ').replaceAll('hunter2', '…')} ${Object.keys(given).join(' ')}, and says why`, async () => {
        const process = startWorker(args, { env: { ...env, ...given } });
        assert.equal(await process.ended, 2, process.output());
        assert.match(process.output(), says);
        assert.doesNotMatch(process.output(), /hunter2/);
      });
    }

    it('not when the database cannot be used, and says so without the password', async () => {
      const url = new URL(world.postgres.url);
      url.password = 'hunter2-secret';
      url.port = '1';
      const process = startWorker(['gateway', ...redis], { env: { ...env, DATABASE_URL: url.href } });
      assert.equal(await process.ended, 1, process.output());
      assert.match(process.output(), /DATABASE_URL cannot be used/);
      assert.doesNotMatch(process.output(), /hunter2/);
    });

    it('not with a handler file that cannot be used, with exit code 3', async () => {
      const app = world.app();
      const missing = app.start('run', ['--handler', 'nowhere.mjs']);
      assert.equal(await missing.ended, 3, missing.output());
      const wrong = app.start('gateway', [
        '--workers',
        '1',
        '--handler',
        handlerFile('none.mjs', 'export const a = 1'),
      ]);
      assert.equal(await wrong.ended, 3, wrong.output());
      assert.match(wrong.output(), /has no handler; it exports a/);
    });

    it('not when its port is taken, and names it', async () => {
      const app = world.app();
      const gateway = await app.gateway();
      const port = new URL(gateway.url).port;
      const second = startWorker(['gateway', '--port', port], { env: app.environment });
      assert.equal(await second.ended, 1);
      assert.match(second.output(), new RegExp(`Port ${port} of 127.0.0.1 is taken`));
    });

    it('in one process, without any server and store, by gateway --workers 2 on embedded://', async () => {
      const app = world.app();
      const gateway = await app.gateway(['--url', 'embedded://', '--store', 'memory', '--workers', '2']);
      const runIds = await Promise.all(['one', 'two', 'boom'].map((input) => gateway.post(input)));
      const runs = await Promise.all(runIds.map((runId) => gateway.finished(runId)));
      assert.deepEqual(
        runs.map(({ status }) => status),
        ['done', 'done', 'failed'],
      );
      gateway.process.kill('SIGINT');
      assert.equal(await gateway.process.ended, 0, gateway.process.output());
    });

    it('before its Redis does: what is posted meanwhile is kept, and executed later', async () => {
      const app = world.app();
      const { port } = world.redis;
      await world.redis.kill('SIGKILL');
      try {
        const gateway = await app.gateway();
        const worker = app.start('run');
        const runId = await gateway.post('early');
        assert.deepEqual([(await gateway.run(runId)).status, (await gateway.run(runId)).streamId], ['pending', null]);
        await world.redis.restart();
        assert.equal(world.redis.port, port);
        assert.equal((await gateway.finished(runId)).reply, 'echo: early');
        worker.kill('SIGTERM');
        assert.equal(await worker.ended, 0, worker.output());
      } finally {
        if (!world.redis.isRunning) await world.redis.restart();
      }
    });
  });

  describe('ends', () => {
    it('at SIGTERM after the requests and runs that it has, with exit code 0', async () => {
      const app = world.app();
      const gateway = await app.gateway(['--workers', '1']);
      const runId = await gateway.post('slow 700');
      await eventually(async () => (await app.pending()).length === 1);
      gateway.process.kill('SIGTERM');
      assert.equal(await gateway.process.ended, 0, gateway.process.output());
      const again = await app.gateway();
      assert.equal((await again.run(runId)).status, 'done');
      assert.deepEqual(await app.pending(), []);
    });

    it('within its deadline although a handler and a client hold on', async () => {
      const app = world.app();
      const gateway = await app.gateway(['--workers', '1', '--close-ms', '300', '--handler-timeout-ms', '0']);
      const { hostname, port } = new URL(gateway.url);
      const client = connect({ host: hostname, port: Number(port) });
      client.on('error', () => undefined);
      client.write('POST /runs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{');
      const runId = await gateway.post('slow 600000');
      await eventually(async () => (await app.pending()).length === 1);
      gateway.process.kill('SIGTERM');
      assert.equal(await gateway.process.ended, 0, gateway.process.output());
      client.destroy();
      const [left] = await app.pending();
      assert.equal(left?.deliveryCount, 0, 'what it could not finish is given back uncounted');
      const again = await app.gateway();
      assert.equal((await again.run(runId)).status, 'pending');
    });

    it('all its workers at once, so that each gives back what it could not finish', async () => {
      const app = world.app();
      const flags = ['--workers', '8', '--concurrency', '1', '--close-ms', '1200', '--handler-timeout-ms', '0'];
      const gateway = await app.gateway(flags);
      await Promise.all(Array.from({ length: 16 }, () => gateway.post('slow 600000')));
      await eventually(async () => (await app.pending()).length === 16);
      gateway.process.kill('SIGTERM');
      assert.equal(await gateway.process.ended, 0, gateway.process.output());
      assert.doesNotMatch(gateway.process.output(), /took too long/);
      assert.deepEqual(
        (await app.pending()).map(({ deliveryCount }) => deliveryCount),
        Array.from({ length: 16 }, () => 0),
      );
    });

    it('although a client goes on asking over the same connection', async () => {
      const app = world.app();
      const gateway = await app.gateway(['--close-ms', '600000']);
      let asked = 0;
      const ask = async (): Promise<void> => {
        for (;;) {
          await (await fetch(`${gateway.url}/runs/x`)).text();
          asked += 1;
        }
      };
      const refused = ask().catch(() => 'refused');
      await eventually(() => asked > 5);
      gateway.process.kill('SIGTERM');
      assert.equal(await gateway.process.ended, 0);
      assert.equal(await refused, 'refused');
    });

    it('at once at a second signal, with 130 for SIGINT', async () => {
      const app = world.app();
      const gateway = await app.gateway(['--workers', '1', '--close-ms', '60000', '--handler-timeout-ms', '0']);
      await gateway.post('slow 600000');
      await eventually(async () => (await app.pending()).length === 1);
      gateway.process.kill('SIGINT');
      await eventually(() => gateway.process.output().includes('Closing: SIGINT'));
      gateway.process.kill('SIGINT');
      assert.equal(await gateway.process.ended, 130);
    });
  });

  it('listens on loopback only unless asked, and needs a token then', async () => {
    const app = world.app();
    const gateway = await app.gateway();
    assert.equal(new URL(gateway.url).hostname, '127.0.0.1');
    const open = await app.gateway(['--host', '0.0.0.0'], { REDIS_STREAMS_TOKEN: 'a-token-that-is-long-enough' });
    const { port } = new URL(open.url);
    assert.equal((await fetch(`http://127.0.0.1:${port}/runs/x`)).status, 401);
  });

  it('serves metrics and health on loopback when asked, and nowhere otherwise', async () => {
    const app = world.app();
    const gateway = await app.gateway(['--metrics-port', '0']);
    const worker = await app.worker(['--metrics-port', '0']);
    const plain = await app.worker();
    const monitoringOf = (process: { output(): string }): string =>
      `http://127.0.0.1:${/Serving \/metrics.* on 127\.0\.0\.1:(\d+)/.exec(process.output())?.[1] ?? ''}`;
    await gateway.finished(await gateway.post('measured'));
    for (const process of [gateway.process, worker]) {
      for (const path of ['/healthz', '/readyz'])
        assert.equal((await fetch(monitoringOf(process) + path)).status, 200, path);
    }
    const sent = await (await fetch(`${monitoringOf(gateway.process)}/metrics`)).text();
    assert.match(sent, /^messaging_client_sent_messages_total\{.*koda:runs.*\} 1$/m);
    assert.doesNotMatch(plain.output(), /Serving/);
    assert.equal((await fetch(`${gateway.url}/metrics`)).status, 404, 'not on the port that clients reach');
  });

  for (const flags of [[], ['--log', 'json']])
    it(`writes no secret and no input into its output ${flags.join(' ')}`, async () => {
      const app = world.app();
      const env = { REDIS_STREAMS_TOKEN: 'hunter2-hunter2-hunter2' };
      const gateway = await app.gateway(['--workers', '2', ...flags], env);
      const headers = { authorization: 'Bearer hunter2-hunter2-hunter2', 'content-type': 'application/json' };
      for (const input of ['boom canary-input', 'canary-input'])
        await fetch(`${gateway.url}/runs`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ sessionId: 'canary-session', idempotencyKey: `canary-key ${input}`, input }),
        });
      await eventually(() => /is a dead letter now|dead-lettered/.test(gateway.process.output()));
      assert.doesNotMatch(gateway.process.output(), /canary|hunter2|postgres(ql)?:\/\/|redis:\/\//);
    });
});
