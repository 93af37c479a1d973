// How many tests passed, failed and were skipped, and which failed: read from a tier's output, added up, and said in one line.
// Tested by test/unit/totals.test.ts.
// @ts-check

/** @typedef {{ passed: number, failed: number, skipped: number }} Totals */

const totalsLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

/** No test at all. */
export const noTests = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

/**
 * The totals that a tier printed as its last line of that form; undefined when there is none.
 * @param {string} output
 * @returns {Totals | undefined}
 */
export function readTotals(output) {
  for (const line of output.split('\n').reverse()) {
    const match = totalsLine.exec(line.trim());
    if (match !== null) return { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3]) };
  }
  return undefined;
}

/**
 * The lines in which a tier's output names its failed tests.
 * @param {string} output
 * @returns {string[]}
 */
export function readFailures(output) {
  return output.split('\n').filter((line) => line.startsWith('FAILED '));
}

/**
 * A tier's totals with what its end says: one that ended badly without a failed test has failed once.
 * @param {Totals | undefined} printed
 * @param {string | undefined} badEnd why the end was bad
 * @returns {Totals}
 */
export function judge(printed, badEnd) {
  const totals = printed ?? noTests;
  const isBad = badEnd !== undefined || printed === undefined;
  return isBad && totals.failed === 0 ? { ...totals, failed: 1 } : totals;
}

/**
 * @param {readonly Totals[]} all
 * @returns {Totals}
 */
export function addTotals(all) {
  return {
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    skipped: all.reduce((sum, { skipped }) => sum + skipped, 0),
  };
}

/**
 * The line that ends a run.
 * @param {Totals} totals
 * @returns {string}
 */
export function formatTotals({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * A table with a row for each part of a run.
 * @param {readonly { name: string, totals?: Totals | undefined, seconds: number, note?: string | undefined }[]} rows
 *   without totals the row is a step of preparation
 * @returns {string}
 */
export function formatTable(rows) {
  const width = Math.max(4, ...rows.map(({ name }) => name.length)) + 2;
  const header = `${'tier'.padEnd(width)}passed  failed  skipped  seconds`;
  const lines = rows.map(({ name, totals, seconds, note }) => {
    const cells = [totals?.passed, totals?.failed, totals?.skipped].map((count) => String(count ?? '-'));
    const [passed = '', failed = '', skipped = ''] = cells;
    const figures = `${passed.padStart(6)}${failed.padStart(8)}${skipped.padStart(9)}${seconds.toFixed(1).padStart(9)}`;
    return `${name.padEnd(width)}${figures}${note === undefined ? '' : `  ${note}`}`;
  });
  return [header, ...lines].join('\n');
}
