// Runs of the application whose gateway or worker is killed at a point of chance, and the judgement after the survivors have had their say.
// Used by test/worker/killPoints.test.ts and test/long/killPoints.test.ts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import fc from 'fast-check';
import { groupName, readDeadLetter, streamKey } from '../../../src/bus';
import { runIdOf } from '../../../src/worker/runs/failureMarker';
import { openPostgresRunStore } from '../../../src/worker/runs/postgresRunStore';
import { bundledProgram } from '../../support/bundledProgram';
import { eventually } from '../../support/eventually';
import { uniqueKey } from '../../support/uniqueKey';
import { AppWorld } from './appWorld';

/** Where a process dies. */
export interface KillPoint {
  readonly role: 'gateway' | 'worker';
  readonly at: string;
  readonly when: 'before' | 'after';
  readonly hit: number;
  readonly inputs: readonly string[];
}

const points: readonly (readonly [role: KillPoint['role'], at: string])[] = [
  ['gateway', 'store.create'],
  ['gateway', 'bus.publishDeduplicated'],
  ['gateway', 'sql.insert into runs'],
  ['gateway', 'store.published'],
  ['gateway', 'store.listPending'],
  ['worker', 'store.get'],
  ['worker', 'execute'],
  ['worker', 'store.complete'],
  ['worker', 'sql.update runs'],
  ['worker', 'sql.insert into messages'],
  ['worker', 'sql.commit'],
  ['worker', 'bus.acknowledge'],
  ['worker', 'bus.retryLater'],
  ['worker', 'bus.deadLetter'],
  ['worker', 'store.fail'],
];

const anyPoint = fc
  .record({
    point: fc.constantFrom(...points),
    when: fc.constantFrom('before' as const, 'after' as const),
    hit: fc.integer({ min: 1, max: 3 }),
    // One that fails is always there, so that the points on the way to the dead letters are passed.
    inputs: fc.array(fc.constantFrom('hello', 'slow 60', 'boom'), { minLength: 2, maxLength: 5 }),
  })
  .map(({ point: [role, at], when, hit, inputs }): KillPoint => ({ role, at, when, hit, inputs: ['boom', ...inputs] }));

/** Describes that many random kill points as tests. The seed is in the title; KILL_SEED repeats it. */
export function describeKillPoints(count: number): void {
  const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31));
  describe(`SIGKILL at ${count} points of chance (KILL_SEED=${seed}) loses no run and doubles no reply`, () => {
    let world: AppWorld;
    let died = 0;
    before(async () => {
      world = await AppWorld.start();
      // Makes the tables.
      await (await openPostgresRunStore(world.postgres.url, 'none')).close();
    });
    afterEach(killChildren);
    after(() => world.end());

    for (const [index, kill] of fc.sample(anyPoint, { numRuns: count, seed }).entries()) {
      const { role, at, when, hit, inputs } = kill;
      it(`${index + 1}: a ${role}, ${when} call ${hit} of ${at}, with ${inputs.join(', ')}`, async () => {
        if (await isSurvived(world, kill)) died += 1;
      });
    }

    it('and most of these deaths did happen', () => {
      assert.ok(died > count / 2, `${died} of ${count}`);
    });
  });
}

/** Posts the inputs, lets the process die, lets others go on, and judges. Answers whether it died at its point. */
async function isSurvived(world: AppWorld, kill: KillPoint): Promise<boolean> {
  const env = uniqueKey('kill');
  const keys = kill.inputs.map((_, index) => `${env}:${index}`);
  const victim = await startChild(world, env, kill.role, kill);
  const accepted = new Map<string, string>();
  const post = async (url: string): Promise<void> => {
    for (const [index, idempotencyKey] of keys.entries()) {
      if (accepted.has(idempotencyKey)) continue;
      const input = kill.inputs[index] ?? '';
      accepted.set(idempotencyKey, await postRun(url, { sessionId: 'ana', idempotencyKey, input }));
    }
  };
  // A client whose gateway died asks again, with the same keys, at another one.
  if (kill.role === 'gateway') await post(victim.url).catch(() => undefined);
  const gateway = await startChild(world, env, 'gateway');
  await post(gateway.url);
  const diedThere = await Promise.race([
    victim.ended,
    eventually(async () => (await unfinished(world, env)) === 0, { what: 'the runs or the process to end' }).then(
      () => null,
    ),
    ...(kill.role === 'gateway' ? [new Promise<null>((resolve) => setTimeout(resolve, 500, null))] : []),
  ]);
  victim.kill();
  await victim.ended;
  await startChild(world, env, 'worker');
  await judge(world, env, kill.inputs, keys, accepted);
  return diedThere === 'SIGKILL';
}

async function judge(
  world: AppWorld,
  env: string,
  inputs: readonly string[],
  keys: readonly string[],
  accepted: ReadonlyMap<string, string>,
): Promise<void> {
  const { pool, port } = world;
  const stream = streamKey(`${env}:koda:runs`);
  const group = groupName('workers');
  await eventually(async () => (await unfinished(world, env)) === 0, { what: 'every run to be done or failed' });
  await eventually(async () => (await port.pendingSummary(stream, group)).count === 0, {
    what: 'nothing to be pending',
  });
  const { rows } = await pool.query<{ key: string; run_id: string; input: string; status: string; replies: number }>(
    `select idempotency_key as key, r.run_id, input, status, (select count(*)::integer from messages m where m.run_id = r.run_id) as replies
     from runs r where env = $1 order by idempotency_key`,
    [env],
  );
  assert.deepEqual(
    rows.map(({ key, run_id: runId, input, status, replies }) => [key, runId, input, status, replies]),
    keys.map((key, index) => {
      const input = inputs[index];
      return [key, accepted.get(key), input, input === 'boom' ? 'failed' : 'done', input === 'boom' ? 0 : 1];
    }),
  );
  const dead = await port.range(streamKey(`${stream}:dlq`), { from: 'min', to: 'max', count: 1000 });
  const failed = rows.filter(({ status }) => status === 'failed').map(({ run_id: runId }) => runId);
  assert.deepEqual([...new Set(dead.map((entry) => runIdOf(readDeadLetter(entry))))].sort(), failed.sort());
}

async function unfinished({ pool }: AppWorld, env: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from runs where env = $1 and status = 'pending'`,
    [env],
  );
  return rows[0]?.count ?? 0;
}

async function postRun(url: string, body: object): Promise<string> {
  const response = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { runId: string }).runId;
}

interface Child {
  /** Of a gateway; empty for a worker. */
  readonly url: string;
  readonly ended: Promise<NodeJS.Signals | number | null>;
  kill(): void;
}

const live = new Set<ChildProcess>();

async function startChild(world: AppWorld, env: string, role: KillPoint['role'], kill?: KillPoint): Promise<Child> {
  const child = spawn(process.execPath, [await bundledProgram(path.join(import.meta.dirname, 'killChild.ts'))], {
    env: {
      ...process.env,
      ROLE: role,
      REDIS_URL: world.redis.url,
      DATABASE_URL: world.postgres.url,
      APP_ENV: env,
      ...(kill ? { KILL_AT: kill.at, KILL_WHEN: kill.when, KILL_HIT: String(kill.hit) } : {}),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  live.add(child);
  const ended = once(child, 'exit').then(([code, signal]) => {
    live.delete(child);
    return (signal ?? code) as NodeJS.Signals | number | null;
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const found = await Promise.race([
    eventually(() => /^ready ?(.*)$/m.exec(output) ?? false, { what: `the ${role} to be ready` }),
    ended,
  ]);
  return { url: Array.isArray(found) ? (found[1] ?? '') : '', ended, kill: () => void child.kill('SIGKILL') };
}

async function killChildren(): Promise<void> {
  const left = [...live];
  for (const child of left) child.kill('SIGKILL');
  const dying = left.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(dying.map((child) => once(child, 'exit')));
}
