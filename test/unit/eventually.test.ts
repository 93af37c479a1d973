import assert from 'node:assert/strict';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';

describe('eventually', () => {
  it('resolves with what the look gives once it neither throws nor gives false', async () => {
    const looks = [() => assert.fail('not yet'), () => false as const, () => 'found'];
    let at = 0;
    assert.equal(await eventually(() => looks[at++]?.(), { intervalMs: 1 }), 'found');
    assert.equal(at, 3);
  });

  it('takes a look without a result for done when it does not throw', async () => {
    let looks = 0;
    await eventually(() => {
      looks += 1;
      assert.equal(looks, 2);
    });
    assert.equal(looks, 2);
  });

  it('rejects with what it waited for and the last failure', async () => {
    const failing = eventually(() => assert.equal(1, 2, 'one is not two'), {
      timeoutMs: 5,
      intervalMs: 1,
      what: 'two',
    });
    await assert.rejects(failing, (error: Error) => {
      assert.match(error.message, /^Waited 5 ms for two: one is not two/);
      assert.ok(error.cause instanceof assert.AssertionError);
      return true;
    });
    await assert.rejects(
      eventually(() => false, { timeoutMs: 5, intervalMs: 1 }),
      /the last look gave false/,
    );
  });
});

describe('uniqueKey', () => {
  it('never gives the same name twice', () => {
    const names = Array.from({ length: 100 }, () => uniqueKey('orders'));
    assert.equal(new Set(names).size, 100);
    assert.ok(names.every((name) => name.endsWith(':orders')));
  });
});
