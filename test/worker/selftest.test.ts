/** The self test as users run it: green on every engine and store, and red when something is wrong. */
import assert from 'node:assert/strict';
import type { StreamPort } from '../../src/bus';
import { checks } from '../../src/worker/selftest/checks';
import { openStage } from '../../src/worker/selftest/stage';
import type { Stage } from '../../src/worker/selftest/stage';
import { MemoryRunStore } from '../../src/worker/runs/memoryRunStore';
import { eventually } from '../support/eventually';
import { startCluster } from '../support/redisTopology';
import { AppWorld } from './support/appWorld';
import { endWorkers, startWorker } from './support/workerProcess';

describe('The self test', () => {
  let world: AppWorld;
  before(async () => {
    world = await AppWorld.start();
  });
  afterEach(endWorkers);
  after(() => world.end());

  for (const engine of ['embedded', 'redis'] as const) {
    for (const store of ['memory', 'postgres'] as const) {
      it(`passes on ${engine} with a store in ${store}, prints a line for each check, and leaves nothing behind`, async () => {
        const url = engine === 'embedded' ? 'embedded://' : world.redis.url;
        const process = startWorker(['selftest', '--url', url, '--store', store], {
          env: { DATABASE_URL: world.postgres.url },
        });
        assert.equal(await process.ended, 0, process.output());
        const lines = process.output().trim().split('\n');
        assert.match(lines[0] ?? '', new RegExp(`^Self test on ${engine} \\S+, store ${store}$`));
        assert.deepEqual(
          lines.slice(1).map((line) => line.replace(/a=[12] b=[12]/, 'a=2 b=1').replace(/ {2,}/g, '  ')),
          [
            '1 ok  publish and consume  run done, consumed 1, replies 1, pending 0',
            '2 ok  two workers share  a=2 b=1, replies 3, pending 0',
            '3 ok  duplicate is blocked  posted 4, duplicated 1, runs 3, replies 3, pending 0',
            '4 ok  crash before ack  pending 1, b took over 1, pending 0, replies 1',
            '5 ok  poison  failures 3, dead letters 1, run failed (handler-error), pending 0',
            '= ok  reconciled  XLEN 9 of 9 published, XINFO GROUPS 1 group, pending 0, lag 0, XPENDING 0, dead letters 1 of 1',
            'All passed',
          ],
        );
        const { keys } = await world.port.scanStreams('0', { match: '*selftest*', count: 1000 });
        assert.deepEqual(keys, []);
        if (store === 'postgres') {
          const { rows } = await world.pool.query(`select from runs where env like '%selftest%'`);
          assert.equal(rows.length, 0);
        }
      });
    }
  }

  it('passes on the server of the sandbox, and on a cluster', async () => {
    const sandbox = startWorker(['sandbox']);
    const [, sandboxUrl = ''] = await eventually(() => /(redis:\S+)/.exec(sandbox.output()) ?? false);
    const cluster = await startCluster();
    try {
      for (const url of [sandboxUrl, cluster.url]) {
        const process = startWorker(['selftest', '--url', url], { env: { DATABASE_URL: '' } });
        assert.equal(await process.ended, 0, process.output());
      }
    } finally {
      await cluster.stop();
    }
  });

  it('needs no arguments, and tells programs in JSON', async () => {
    const process = startWorker(['selftest', '--json'], { env: { DATABASE_URL: '', REDIS_STREAMS_URL: '' } });
    assert.equal(await process.ended, 0, process.output());
    const objects = process
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly passed?: boolean; readonly check?: string });
    assert.deepEqual(
      objects.filter(({ check }) => check !== undefined).map(({ passed }) => passed),
      [true, true, true, true, true, true],
    );
  });

  it('ends with 1 when the server cannot be reached, and says so', async () => {
    const process = startWorker(['selftest', '--url', 'redis://127.0.0.1:1'], { env: { DATABASE_URL: '' } });
    assert.equal(await process.ended, 1);
    assert.match(process.output(), /127\.0\.0\.1:1|ECONNREFUSED|refused/);
  });

  describe('fails', () => {
    const check = (name: string): ((stage: Stage) => Promise<string>) => {
      const found = checks.find((candidate) => candidate.name === name);
      assert.ok(found);
      return (stage) => found.run(stage, { published: 0, deadLetters: 0 });
    };

    it('a check whose gateway lets a duplicate in', async () => {
      const store = new MemoryRunStore();
      let count = 0;
      store.create = (run) =>
        MemoryRunStore.prototype.create.call(store, { ...run, idempotencyKey: `${(count += 1)}` });
      const stage = await openStage('embedded://', store, '{selftest-x}');
      await assert.rejects(check('duplicate is blocked')(stage), /took the duplicate for a new run/);
      await stage.clear();
    });

    it('a check whose store forgets that a run is done', async () => {
      const store = new MemoryRunStore();
      store.countReplies = () => Promise.resolve(2);
      const stage = await openStage('embedded://', store, '{selftest-x}');
      await assert.rejects(check('publish and consume')(stage), /replies 2 for 1 runs/);
      await stage.clear();
    });

    it('a check after which somebody still holds an entry', async () => {
      const stage = await openStage('embedded://', new MemoryRunStore(), '{selftest-x}');
      const { port } = stage;
      const held: Stage = { ...stage, port: withForeignPending(port) };
      await assert.rejects(check('crash before ack')(held), /pending 2 after the crash/);
      await stage.clear();
    });
  });
});

/** A port whose group has one entry more pending than the check made. */
function withForeignPending(port: StreamPort): StreamPort {
  return new Proxy(port, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'pendingSummary') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return async (...args: Parameters<StreamPort['pendingSummary']>) => {
        const summary = await target.pendingSummary(...args);
        return { ...summary, count: summary.count + 1 };
      };
    },
  });
}
