import assert from 'node:assert/strict';
import path from 'node:path';
import { contractTier, listTestFiles, longTier, matrixTier, mochaArguments, tiers } from '../../scripts/lib/tiers.mjs';
import { addTotals, formatTable, formatTotals, judge, readTotals } from '../../scripts/lib/totals.mjs';

describe('the totals of a run', () => {
  it('are read from the last line of their form', () => {
    const output = 'first\n1 passed, 2 failed, 3 skipped\nmore\n10 passed, 0 failed, 12 skipped\nand after\n';
    assert.deepEqual(readTotals(output), { passed: 10, failed: 0, skipped: 12 });
  });

  it('are not read from a line that only holds them', () => {
    assert.equal(readTotals('it said 1 passed, 2 failed, 3 skipped\n1 passed, 2 failed, 3 skipped!\n'), undefined);
  });

  it('are written in the form in which they are read', () => {
    const totals = { passed: 3, failed: 1, skipped: 0 };
    assert.equal(formatTotals(totals), '3 passed, 1 failed, 0 skipped');
    assert.deepEqual(readTotals(formatTotals(totals)), totals);
  });

  it('add up', () => {
    const all = [
      { passed: 1, failed: 2, skipped: 3 },
      { passed: 10, failed: 20, skipped: 30 },
    ];
    assert.deepEqual(addTotals(all), { passed: 11, failed: 22, skipped: 33 });
    assert.deepEqual(addTotals([]), { passed: 0, failed: 0, skipped: 0 });
  });

  it('count a bad end or missing totals as one failure, but not on top of failed tests', () => {
    const fine = { passed: 5, failed: 0, skipped: 1 };
    assert.deepEqual(judge(fine, undefined), fine);
    assert.deepEqual(judge(fine, 'ended with SIGKILL'), { ...fine, failed: 1 });
    assert.deepEqual(judge({ ...fine, failed: 3 }, 'ended with exit code 3'), { ...fine, failed: 3 });
    assert.deepEqual(judge(undefined, undefined), { passed: 0, failed: 1, skipped: 0 });
  });

  it('stand in a table with a dash where a step has none', () => {
    const rows = [
      { name: 'build', seconds: 3.14 },
      { name: 'contract Redis 8.6.3', totals: { passed: 120, failed: 0, skipped: 2 }, seconds: 12, note: 'slow' },
    ];
    assert.equal(
      formatTable(rows),
      [
        'tier                  passed  failed  skipped  seconds',
        'build                      -       -        -      3.1',
        'contract Redis 8.6.3     120       0        2     12.0  slow',
      ].join('\n'),
    );
  });
});

describe('the tiers', () => {
  it('have no test file in common, and every test file is in one', () => {
    const all = [...tiers, longTier].flatMap((tier) => listTestFiles(tier));
    assert.equal(new Set(all).size, all.length);
    const found = listTestFiles({ ...longTier, folders: ['test'] }).filter(
      (file) => !file.startsWith('test/electron/'),
    );
    assert.deepEqual(found.toSorted(), all.toSorted());
  });

  it('run the contract suites of the bus on other servers, and the differential ones of the engine in the matrix', () => {
    const root = path.join(__dirname, '..', '..');
    const contracts = listTestFiles(contractTier, root);
    assert.ok(contracts.length > 0);
    assert.ok(contracts.every((file) => file.startsWith('test/bus/') && file.endsWith('.contract.test.ts')));
    const matrix = listTestFiles(matrixTier, root);
    assert.ok(contracts.every((file) => matrix.includes(file)));
    assert.ok(matrix.every((file) => file.startsWith('test/bus/') || file.endsWith('.differential.test.ts')));
  });

  it('give mocha the files of the caller instead of their own', () => {
    const [unit] = tiers;
    assert.ok(unit);
    assert.deepEqual(mochaArguments(unit, ['a.test.ts', 'b.test.ts'], ['-g', 'x']).slice(-4), [
      '-g',
      'x',
      'a.test.ts',
      'b.test.ts',
    ]);
    assert.deepEqual(mochaArguments(unit, ['a.test.ts'], ['b.test.ts']).slice(-3), ['--timeout', '5000', 'b.test.ts']);
  });
});
