/** I3: an entry whose handler does not stop although it was told to is not handed out a second time in the same process meanwhile. */
import assert from 'node:assert/strict';
import type { Consumer, ConsumerOptions } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import {
  addNumbered,
  age,
  collect,
  gate,
  group,
  pendingRows,
  quickOptions,
  readAs,
  startBusWorld,
} from './support/busWorld';
import type { BusWorld } from './support/busWorld';

describe('a handler that goes on after it was told to stop', () => {
  let world: BusWorld;
  before(async () => {
    world = await startBusWorld();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  interface Scene {
    readonly stream: string;
    readonly consumer: Consumer;
    /** The entry whose first handler goes on until `letGo`. */
    readonly id: string;
    /** How often its handler was begun, and how many ran at once at most. */
    readonly runs: { begun: number; most: number; others: number };
    readonly letGo: () => void;
    /** Entries of a dead consumer, each of which is taken over once it is aged. */
    readonly markers: string[];
  }

  async function begin(options: Partial<ConsumerOptions>): Promise<Scene> {
    const stream = uniqueKey();
    const hold = gate();
    const runs = { begun: 0, most: 0, others: 0 };
    let running = 0;
    await addNumbered(world.redis, stream, 4, 1);
    const markers = await readAs(world.redis, stream, 'dead', 4);
    const consumer = world.bus().consume(stream, quickOptions(options), async ({ fields: { n } }) => {
      if (n !== '0') {
        runs.others += 1;
        return;
      }
      runs.begun += 1;
      running += 1;
      runs.most = Math.max(runs.most, running);
      if (runs.begun === 1) await hold.opened;
      running -= 1;
    });
    await consumer.start();
    const [id = assert.fail()] = await addNumbered(world.redis, stream, 1);
    await eventually(() => runs.begun === 1);
    return {
      stream,
      consumer,
      id,
      runs,
      markers,
      letGo: () => {
        hold.open();
      },
    };
  }

  const isPending = async ({ stream, id }: Scene): Promise<boolean> =>
    (await pendingRows(world.redis, stream)).some((row) => row.id === id);

  const lose = async ({ stream, consumer, id }: Scene): Promise<void> => {
    const lost = collect(consumer, 'ownership-lost');
    await world.redis.xclaim(stream, group, 'thief', 0, id);
    await eventually(() => lost.length === 1);
  };

  /** Resolves when something was taken over in a step that could have taken the stray too. */
  async function seeTakeOver({ stream, runs, markers }: Scene): Promise<void> {
    const before = runs.others;
    await age(world.redis, stream, 'dead', markers.splice(0, 1));
    await eventually(() => runs.others > before);
  }

  const ownership = { minIdleMs: 6000, heartbeatMs: 50 };

  async function endsWell(scene: Scene): Promise<void> {
    const { stream, runs, letGo } = scene;
    await seeTakeOver(scene);
    await seeTakeOver(scene);
    assert.deepEqual([runs.begun, runs.most], [1, 1], 'it was not run beside itself');
    assert.ok(await isPending(scene), 'and it is not lost');
    letGo();
    await age(
      world.redis,
      stream,
      'thief',
      (await pendingRows(world.redis, stream)).map((row) => row.id),
    );
    await eventually(async () => (await pendingRows(world.redis, stream)).length === 0);
    assert.equal(runs.most, 1);
    assert.equal(runs.begun, 2);
  }

  it('because the entry was lost: it does not run beside itself when the entry is to be taken over again', async () => {
    const scene = await begin({ ownership });
    await lose(scene);
    await age(world.redis, scene.stream, 'thief', [scene.id]);
    await endsWell(scene);
  });

  it('because the entry was lost: it does not run beside itself when the group was moved back', async () => {
    const scene = await begin({ ownership });
    await lose(scene);
    await world.redis.xack(scene.stream, group, scene.id);
    await world.redis.xgroup('SETID', scene.stream, group, scene.markers.at(-1) ?? '');
    await eventually(() => isPending(scene));
    await endsWell(scene);
  });

  it('because its time was up: its retry does not run beside it, here', async () => {
    const scene = await begin({ ownership, handlerTimeoutMs: 50, abortGraceMs: 50, retry: { backoff: () => 10 } });
    const { consumer } = scene;
    await eventually(() => consumer.health().stuck === 1);
    await endsWell(scene);
  });

  it('because its time was up: its retry runs in another process meanwhile', async () => {
    const scene = await begin({ ownership, handlerTimeoutMs: 50, abortGraceMs: 50, retry: { backoff: () => 10 } });
    const { stream, runs, letGo } = scene;
    const seen: string[] = [];
    const other = world.bus().consume(stream, quickOptions({ ownership }), ({ id }) => seen.push(id));
    await other.start();
    await eventually(async () => seen.length === 1 && !(await isPending(scene)));
    assert.deepEqual([seen, runs.begun], [[scene.id], 1]);
    letGo();
  });

  it('because its time was up: its retry comes after it also when nothing is ever taken over from others', async () => {
    const scene = await begin({ reclaim: false, handlerTimeoutMs: 50, abortGraceMs: 50, retry: { backoff: () => 10 } });
    const { stream, runs, consumer, letGo } = scene;
    await eventually(() => consumer.health().stuck === 1);
    await addNumbered(world.redis, stream, 3, 1);
    await eventually(() => runs.others === 3);
    assert.equal(runs.begun, 1);
    letGo();
    await eventually(async () => !(await isPending(scene)));
    assert.deepEqual([runs.begun, runs.most], [2, 1]);
  });
});
