// Mocha's spec output, the failures after it, and as the last line the totals alone: `N passed, N failed, N skipped`.
// A failed hook counts as a failure, a pending test as skipped. Read by scripts/lib/totals.mjs.
// Tested by test/worker/testRun.test.ts.
// @ts-check
const { reporters } = require('mocha');

module.exports = class TierReporter extends reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes = 0, failures = 0, pending = 0 } = this.stats;
    process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
  }
};
