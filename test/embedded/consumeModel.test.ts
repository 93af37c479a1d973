// The bus's consume loop in virtual time: random histories, and what must be true at every moment and when everything has come to
// rest (the invariants of the bus). test/long/embeddedModel.test.ts runs the same for longer.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { calmHistory, runHistory, stormyHistory } from './support/consumeHistory';

describe('the consume loop over the embedded engine', function () {
  this.timeout(120_000);

  for (const [kind, history] of [
    ['crashes and closing', calmHistory],
    ['partitions as well', stormyHistory],
  ] as const) {
    it(`keeps its promises through ${kind}`, async () => {
      let histories = 0;
      await fc.assert(
        fc.asyncProperty(history, async (actions) => {
          histories += 1;
          await runHistory(actions);
        }),
        { numRuns: 10_000, plugins: [fc.interruptAfterTimeLimit(5_000)] },
      );
      assert.ok(histories > 0);
    });
  }
});
