// Mocha's spec output, the failures after it, each again in one line, and as the last line the totals alone:
// `N passed, N failed, N skipped`.
// A failed hook counts as a failure, a pending test as skipped. Read by scripts/lib/totals.mjs.
// Tested by test/worker/testRun.test.ts.
// @ts-check
const { reporters } = require('mocha');

module.exports = class TierReporter extends reporters.Spec {
  epilogue() {
    super.epilogue();
    for (const test of this.failures) process.stdout.write(`FAILED ${test.fullTitle()}: ${reasonOf(test)}\n`);
    const { passes = 0, failures = 0, pending = 0 } = this.stats;
    process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
  }
};

/**
 * @param {import('mocha').Test} test
 * @returns {string} the first line of what went wrong
 */
function reasonOf({ err }) {
  const [line = ''] = String(err?.message ?? err).split('\n');
  return line.slice(0, 300);
}
