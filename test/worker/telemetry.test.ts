/** What monitoring gets of the reference worker: metrics and health over HTTP, logs as JSON, spans; and never a byte of a message. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { eventually } from '../support/eventually';
import { startWorker } from './support/workerProcess';
import type { WorkerProcess } from './support/workerProcess';
import { WorkerWorld } from './support/workerWorld';

const preload = path.resolve(import.meta.dirname, 'support/otelPreload.cjs');

/** What a handler does is told by the field `do`; what it throws quotes the field `word`. */
const handlerText = `
export default async function ({ fields }, context) {
  const word = fields.word ?? '';
  const failure = (Kind) => new Kind('it was ' + word, { cause: new Error('because of ' + word) });
  if (fields.do === 'fail') throw failure(TypeError);
  if (fields.do === 'fail-once' && context.deliveryCount === 1) throw failure(RangeError);
  if (fields.do === 'reject') throw Object.assign(failure(Error), { name: 'Reject' });
  if (fields.do === 'later' && context.deliveryCount === 1) throw Object.assign(failure(Error), { name: 'RetryLater', delayMs: 5 });
  if (fields.do === 'throw-text') throw word;
  if (fields.do === 'wait') await new Promise((resolve, reject) => context.signal.addEventListener('abort', () => reject(failure(Error))));
  if (fields.do === 'stray') setTimeout(() => { throw failure(RangeError); }, 1);
}`;

describe('Monitoring the worker', () => {
  let world: WorkerWorld;
  let handler: string;

  before(async () => {
    world = await WorkerWorld.start();
    handler = world.handlerFile('telemetry.mjs', handlerText);
  });

  after(() => world.end());

  /** Where a worker serves monitoring, once it says so. */
  async function urlOf(worker: WorkerProcess): Promise<string> {
    const port = await eventually(() => /127\.0\.0\.1:(\d+)/.exec(worker.output())?.[1] ?? false, {
      what: 'the port of monitoring',
    });
    return `http://127.0.0.1:${port}`;
  }

  async function get(url: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(url);
    return { status: response.status, text: await response.text() };
  }

  const jsonLines = (output: string): Record<string, unknown>[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('serves nothing unless it is asked to', async () => {
    const stream = await world.stream();
    const worker = startWorker([...stream.args, '--handler', handler]);
    await eventually(() => worker.output().includes('Reading'));
    assert.doesNotMatch(worker.output(), /127\.0\.0\.1:\d+$/m);
    worker.kill('SIGTERM');
    assert.equal(await worker.ended, 0);
  });

  it('finds metrics, health and readiness on loopback', async () => {
    const stream = await world.stream();
    const worker = startWorker([...stream.args, '--handler', handler, '--consumer', 'ana', '--metrics-port', '0']);
    const url = await urlOf(worker);
    await eventually(async () => (await get(`${url}/readyz`)).status === 200);
    await stream.publish({}, {}, { do: 'fail-once' });
    await eventually(async () => {
      const { status, text } = await get(`${url}/metrics`);
      assert.equal(status, 200);
      const of = `stream="${stream.key}",group="billing"`;
      const expected = [
        `messaging_client_consumed_messages_total{${of},type=""} 4`,
        `messaging_process_duration_seconds_count{${of},type="",outcome="completed"} 3`,
        `messaging_process_duration_seconds_bucket{le="+Inf",${of},type="",outcome="failed"} 1`,
        `bus_deliveries_retried_total{${of}} 1`,
        `bus_deliveries_redelivered_total{${of}} 1`,
        `bus_ownership_lost_total{${of}} 0`,
        `bus_group_pending{${of}} 0`,
        `bus_group_lag{${of}} 0`,
        `bus_inflight{${of}} 0`,
      ];
      assert.deepEqual(
        expected.filter((line) => !text.includes(`\n${line}\n`)),
        [],
      );
      assert.match(text, /^messaging_client_ack_duration_seconds_count\{.*outcome="ok"\} [1-9]$/m);
      assert.match(text, /^# TYPE messaging_process_duration_seconds histogram$/m);
      assert.match(text, /^process_resident_memory_bytes \d+$/m);
    });
    const health = JSON.parse((await get(`${url}/healthz`)).text) as {
      status: string;
      consumers: Record<string, { status: string }>;
    };
    assert.equal(health.status, 'ok');
    assert.equal(health.consumers[`${stream.key}/ana`]?.status, 'running');
    assert.equal((await get(`${url}/else`)).status, 404);
    assert.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 405);
    worker.kill('SIGTERM');
    assert.equal(await worker.ended, 0, worker.output());
  });

  it('takes the port from the environment too, and says when it cannot have it', async () => {
    const stream = await world.stream();
    const args = [...stream.args, '--handler', handler];
    const first = startWorker(args, { env: { REDIS_STREAMS_METRICS_PORT: '0' } });
    const taken = new URL(await urlOf(first)).port;
    const second = startWorker([...args, '--metrics-port', taken]);
    assert.equal(await second.ended, 1);
    assert.match(second.output(), /Cannot serve metrics on 127\.0\.0\.1:\d+ \(EADDRINUSE\): choose another/);
    first.kill('SIGTERM');
    assert.equal(await first.ended, 0);
  });

  it('hears of a server that is away: alive, but not ready, then ready again', async () => {
    const own = await WorkerWorld.start();
    try {
      const stream = await own.stream();
      const worker = startWorker([...stream.args, '--handler', handler, '--create-group', '--metrics-port', '0']);
      const url = await urlOf(worker);
      await eventually(async () => (await get(`${url}/readyz`)).status === 200);
      await own.server.kill();
      await eventually(async () => (await get(`${url}/readyz`)).status === 503);
      assert.equal((await get(`${url}/healthz`)).status, 200);
      const { status, text } = await get(`${url}/metrics`);
      assert.equal(status, 200);
      assert.doesNotMatch(text, /^bus_group_lag\{/m, 'what the server would have to tell is left out');
      assert.match(text, /^bus_inflight\{/m);
      worker.kill('SIGKILL');
      await worker.ended;
    } finally {
      await own.end();
    }
  });

  it('reads logs of JSON: who, which message, how often, how long, what kind of failure', async () => {
    const stream = await world.stream();
    const args = ['--handler', handler, '--consumer', 'ana', '--dead-letter', '--log', 'json'];
    const worker = startWorker([...stream.args, ...args]);
    const [id] = await stream.publish({ do: 'reject', word: 'nothing' });
    await eventually(() => worker.output().includes('dead-lettered'));
    worker.kill('SIGTERM');
    assert.equal(await worker.ended, 0);
    const lines = jsonLines(worker.output());
    const handled = lines.find(({ msg }) => msg === 'handled');
    assert.ok(handled);
    const { time, duration_ms: ms, pid, hostname, ...rest } = handled;
    assert.deepEqual(rest, {
      level: 'warn',
      msg: 'handled',
      stream: stream.key,
      group: 'billing',
      consumer: 'ana',
      message_id: id,
      delivery_count: 1,
      outcome: 'rejected',
      error_kind: 'Reject',
    });
    assert.ok(typeof ms === 'number' && ms >= 0);
    assert.equal(typeof time === 'string' && new Date(time).toISOString(), time);
    assert.deepEqual([typeof pid, typeof hostname], ['number', 'string']);
    const dead = lines.find(({ msg }) => msg === 'dead-lettered');
    assert.deepEqual([dead?.message_id, dead?.reason], [id, 'rejected']);
    for (const line of worker.output().trim().split('\n')) assert.ok(line.startsWith('{"level"'), line);
  });

  it('never gets a byte of a message: not in logs, spans, metrics or health, whatever the handler throws', async () => {
    const stream = await world.stream();
    const canaries: string[] = [];
    const canary = (): string => {
      const made = randomBytes(9).toString('hex');
      canaries.push(made);
      return made;
    };
    const options = ['--dead-letter', '--handler-timeout-ms', '200', '--log', 'json', '--metrics-port', '0'];
    const worker = startWorker([...stream.args, '--handler', handler, '--concurrency', '4', ...options], {
      nodeArgs: ['--require', preload],
    });
    const url = await urlOf(worker);
    const kinds = ['fail', 'fail-once', 'reject', 'later', 'throw-text', 'wait', 'nothing'];
    const message = (what: string): Record<string, string> => ({
      do: what,
      word: canary(),
      [canary()]: 'a name',
      t: canary(),
      k: canary(),
      b: JSON.stringify({ nested: canary() }),
      'h.trace': canary(),
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    const ids = await stream.publish(...kinds.map(message));
    const scrapes: string[] = [];
    await eventually(
      async () => {
        for (const page of ['metrics', 'healthz', 'readyz']) scrapes.push((await get(`${url}/${page}`)).text);
        const dead = await world.port.range(`${stream.key}:dlq` as typeof stream.key, {
          from: 'min',
          to: 'max',
          count: 10,
        });
        return dead.length === 4 && (await stream.pending()).length === 0;
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
    await stream.publish(message('stray'));
    assert.equal(await worker.ended, 4, worker.output());
    const emitted = [worker.output(), ...scrapes].join('\n');
    for (const id of ids) assert.ok(worker.output().includes(id), `${id} is told of`);
    assert.match(worker.output(), /process test:/, 'spans were written');
    assert.match(worker.output(), /"error_kind":"TypeError"/);
    assert.match(worker.output(), /'error.type': 'TypeError'/);
    assert.equal(canaries.length, 8 * 6);
    for (const secret of canaries) assert.ok(!emitted.includes(secret), around(emitted, secret));
  });

  it('shows no field in lines for people either; only the message of an error that the handler threw', async () => {
    const stream = await world.stream();
    const [name, value] = [randomBytes(9).toString('hex'), randomBytes(9).toString('hex')];
    const worker = startWorker([...stream.args, '--handler', handler]);
    await stream.publish({ do: 'fail', word: 'quoted', [name]: value });
    await eventually(() => /The handler failed on .* TypeError: it was quoted/.test(worker.output()));
    worker.kill('SIGTERM');
    await worker.ended;
    assert.doesNotMatch(worker.output(), new RegExp(`${name}|${value}|because of`));
  });
});

/** Where a canary was found. */
function around(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return `a canary leaked: ${text.slice(Math.max(0, at - 300), at + 100)}`;
}
