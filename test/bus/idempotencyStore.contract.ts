// The contract of every idempotency store, to be run on a world of its own.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { memoryIdempotencyStore } from '../../src/bus';
import type { IdempotencyState, IdempotencyStore } from '../../src/bus';
import { manualClock } from '../support/manualClock';
import { uniqueKey } from '../support/uniqueKey';

/** A store under test, and a hand on its clock. */
export interface IdempotencyWorld {
  readonly store: IdempotencyStore;
  /** Makes every lease and mark of these keys run out. */
  expire(keys: readonly string[]): Promise<void>;
}

const leaseMs = 60_000;
const ttlMs = 120_000;

/** Describes what every store does; `world` is called when the tests run. */
export function describeIdempotencyStore(name: string, world: () => IdempotencyWorld): void {
  describe(`the idempotency store ${name}`, () => {
    const begin = (key: string, token: string): Promise<IdempotencyState> => world().store.begin(key, token, leaseMs);

    it('gives the lease to one, and tells the others how long it lasts', async () => {
      const key = uniqueKey();
      assert.deepEqual(await begin(key, 'a'), { state: 'fresh' });
      const other = await begin(key, 'b');
      assert.ok(other.state === 'busy' && other.leaseLeftMs > 0 && other.leaseLeftMs <= leaseMs, JSON.stringify(other));
      assert.deepEqual(await begin(key, 'a'), { state: 'fresh' }, 'who has it may ask again, as after a lost reply');
    });

    it('knows what is done, whoever asks', async () => {
      const key = uniqueKey();
      await begin(key, 'a');
      await world().store.complete(key, 'a', ttlMs);
      for (const token of ['a', 'b']) assert.deepEqual(await begin(key, token), { state: 'done' });
      await world().store.abandon(key, 'a');
      assert.deepEqual(await begin(key, 'c'), { state: 'done' }, 'what is done cannot be given back');
      await world().expire([key]);
      assert.deepEqual(await begin(key, 'c'), { state: 'fresh' }, 'it is forgotten after its time');
    });

    it('takes a lease back from who has it, and from nobody else', async () => {
      const key = uniqueKey();
      await begin(key, 'a');
      await world().store.abandon(key, 'b');
      assert.equal((await begin(key, 'b')).state, 'busy');
      await world().store.abandon(key, 'a');
      assert.deepEqual(await begin(key, 'b'), { state: 'fresh' });
    });

    it('gives a lease that ran out to another, from whom its former holder can take nothing', async () => {
      const key = uniqueKey();
      await begin(key, 'a');
      await world().expire([key]);
      assert.deepEqual(await begin(key, 'b'), { state: 'fresh' });
      await world().store.abandon(key, 'a');
      await world().store.complete(key, 'a', ttlMs);
      assert.equal((await begin(key, 'c')).state, 'busy');
      await world().store.complete(key, 'b', ttlMs);
      assert.deepEqual(await begin(key, 'c'), { state: 'done' });
    });

    it('marks as done also what was handled longer than its lease, when nobody took it meanwhile', async () => {
      const key = uniqueKey();
      await begin(key, 'a');
      await world().expire([key]);
      await world().store.complete(key, 'a', ttlMs);
      assert.deepEqual(await begin(key, 'b'), { state: 'done' });
    });

    it('gives the lease to one of many who ask at the same time', async () => {
      const key = uniqueKey();
      const states = await Promise.all(Array.from({ length: 20 }, (_, token) => begin(key, String(token))));
      assert.equal(states.filter(({ state }) => state === 'fresh').length, 1);
      assert.equal(states.filter(({ state }) => state === 'busy').length, 19);
    });

    it('takes any text for a key and a token, and mixes none up', async () => {
      const base = uniqueKey();
      const names = [
        '',
        ' ',
        'ü€😀',
        '\0',
        '\udcff',
        "'; drop table x; --",
        '%s {0} $1',
        'x'.repeat(5000),
        'X'.repeat(5000),
      ];
      const keys = names.map((name) => `${base}${name}`);
      for (const key of keys) assert.deepEqual(await begin(key, key), { state: 'fresh' });
      for (const key of keys) assert.equal((await begin(key, 'other')).state, 'busy');
      for (const key of keys) await world().store.complete(key, key, ttlMs);
      for (const key of keys) assert.deepEqual(await begin(key, 'other'), { state: 'done' });
    });

    it('cannot be told apart from the store in memory, whatever happens', async function () {
      this.timeout(60_000);
      const keyNumber = fc.nat({ max: 1 });
      const token = fc.constantFrom('a', 'b', 'c');
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.record({ op: fc.constant('begin' as const), keyNumber, token }) },
        { weight: 2, arbitrary: fc.record({ op: fc.constant('complete' as const), keyNumber, token }) },
        { weight: 2, arbitrary: fc.record({ op: fc.constant('abandon' as const), keyNumber, token }) },
        { weight: 1, arbitrary: fc.record({ op: fc.constant('expire' as const), keyNumber, token }) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
          const clock = manualClock();
          const model = memoryIdempotencyStore({ clock });
          const keys = [uniqueKey(), uniqueKey()];
          const run = async (store: IdempotencyStore, one: (typeof steps)[number]): Promise<string> => {
            const key = keys[one.keyNumber] ?? '';
            if (one.op === 'begin') return (await store.begin(key, one.token, leaseMs)).state;
            if (one.op === 'complete') await store.complete(key, one.token, ttlMs);
            if (one.op === 'abandon') await store.abandon(key, one.token);
            return '';
          };
          for (const one of steps) {
            if (one.op === 'expire') {
              clock.advance(ttlMs + 1);
              await world().expire(keys);
            }
            assert.equal(await run(world().store, one), await run(model, one), JSON.stringify(one));
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
