import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { groupMembers, runInGroup } from '../../scripts/lib/processGroup.mjs';
import { judge, readFailures, readTotals } from '../../scripts/lib/totals.mjs';
import { mochaArguments } from '../../scripts/lib/tiers.mjs';
import type { Tier } from '../../scripts/lib/tiers.mjs';
import { eventually } from '../support/eventually';

const repository = path.join(__dirname, '..', '..');

describe('a tier run', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'redis-streams-tier-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const tier: Tier = { name: 'sample', folders: [], testMs: 30_000, limitMinutes: 2, needs: [] };

  const runTests = async (
    name: string,
    text: string,
  ): Promise<{ shown: string; lastLine: string; badEnd: string | undefined; totals: unknown }> => {
    const file = path.join(dir, `${name}.test.ts`);
    writeFileSync(file, text);
    let shown = '';
    const options = { cwd: repository, limitMs: 120_000, write: (part: string) => void (shown += part) };
    const { output, badEnd } = await runInGroup(
      process.execPath,
      mochaArguments(tier, [file], ['--no-color']),
      options,
    );
    const lastLine = output.trimEnd().split('\n').at(-1) ?? '';
    return { shown, lastLine, badEnd, totals: judge(readTotals(output), badEnd) };
  };

  it('shows every test and ends with the totals alone', async () => {
    const { shown, lastLine, totals, badEnd } = await runTests(
      'mixed',
      `it('passes', () => {});
       it.skip('is left out', () => {});
       it('leaves itself out', function () { this.skip(); });
       it('fails', () => { throw new Error('as it should'); });`,
    );
    assert.equal(lastLine, '1 passed, 1 failed, 2 skipped');
    assert.deepEqual(totals, { passed: 1, failed: 1, skipped: 2 });
    assert.equal(badEnd, 'ended with exit code 1');
    for (const part of ['✔ passes', '- is left out', '1) fails', 'Error: as it should'])
      assert.ok(shown.includes(part), part);
    assert.deepEqual(readFailures(shown), ['FAILED fails: as it should']);
  });

  it('counts a failed hook as a failure', async () => {
    const { lastLine } = await runTests(
      'hook',
      `before(() => { throw new Error('no'); }); it('never runs', () => {});`,
    );
    assert.equal(lastLine, '0 passed, 1 failed, 0 skipped');
  });

  it('counts no test as none', async () => {
    const { lastLine, badEnd } = await runTests('none', `describe('nothing', () => {});`);
    assert.equal(lastLine, '0 passed, 0 failed, 0 skipped');
    assert.equal(badEnd, undefined);
  });

  it('fails when a test file cannot be loaded', async () => {
    const { totals, shown } = await runTests('broken', `import './no-such-file';`);
    assert.deepEqual(totals, { passed: 0, failed: 1, skipped: 0 });
    assert.match(shown, /no-such-file/);
  });

  it('fails by name when a test leaves a server running, and ends that server', async () => {
    const support = JSON.stringify(path.join(repository, 'test/support/redisServer'));
    const { shown, lastLine } = await runTests(
      'server',
      `import { startRedis } from ${support};
       it('forgets its server', async () => { console.log('pid', (await startRedis()).pid, 'it is'); });`,
    );
    assert.equal(lastLine, '1 passed, 1 failed, 0 skipped');
    assert.match(shown, /Tests left servers running.*redis:\/\/127\.0\.0\.1:\d+/);
    const pid = /pid (\d+) it is/.exec(shown)?.[1];
    assert.ok(pid);
    await eventually(() => assert.ok(!isAlive(Number(pid))));
  });

  it('fails and says what is open when the tests have ended but the process does not', async () => {
    const { shown, totals } = await runTests(
      'timer',
      `it('forgets a timer', () => { setInterval(() => {}, 60_000); });`,
    );
    assert.match(shown, /this process does not; still open: Timeout/);
    assert.deepEqual(totals, { passed: 1, failed: 1, skipped: 0 });
  });
});

describe('a process group', () => {
  const run = (script: string, limitMs: number): ReturnType<typeof runInGroup> =>
    runInGroup('sh', ['-c', script], { limitMs, write: () => undefined });

  it('gives the output and nothing bad when all is well', async () => {
    assert.deepEqual(
      { ...(await run('echo out; echo err >&2', 30_000)), seconds: 0 },
      { output: 'out\n', badEnd: undefined, seconds: 0 },
    );
  });

  it('is ended with its children when it takes too long', async () => {
    const { output, badEnd } = await run('trap "" TERM; sleep 300 & echo $!; echo $$; wait; sleep 300', 3000);
    assert.match(badEnd ?? '', /^still running after 3 s/);
    const [child, group] = output.trim().split('\n').map(Number);
    assert.ok(child !== undefined && group !== undefined);
    await eventually(() => assert.deepEqual(groupMembers(group), []));
    assert.ok(!isAlive(child));
  });

  it('is told on when it leaves a process behind, which is ended', async () => {
    const { output, badEnd } = await run('sleep 300 >/dev/null 2>&1 & echo $!', 30_000);
    assert.match(badEnd ?? '', /left processes behind.*sleep 300/);
    await eventually(() => assert.ok(!isAlive(Number(output))));
  });

  it('says by what it ended', async () => {
    assert.equal((await run('exit 3', 30_000)).badEnd, 'ended with exit code 3');
    assert.equal((await run('kill -9 $$', 30_000)).badEnd, 'ended with SIGKILL');
    const missing = await runInGroup('/no/such/program', [], { limitMs: 1000 });
    assert.match(missing.badEnd ?? '', /\/no\/such\/program did not start/);
  });
});

describe('scripts/test.mjs', () => {
  const run = (...args: string[]): { status: number | null; lines: string[] } => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
      cwd: repository,
      encoding: 'utf8',
    });
    return { status, lines: stdout.trimEnd().split('\n') };
  };

  it('runs one file of a tier, gives mocha its arguments, and ends with the totals', () => {
    const { status, lines } = run('--tier', 'unit', 'test/unit/totals.test.ts', '-g', 'add up');
    assert.equal(lines.at(-1), '1 passed, 0 failed, 0 skipped');
    assert.equal(status, 0);
  });

  it('refuses a tier that there is not', () => {
    const { status, lines } = run('--tier', 'nothing');
    assert.match(lines.at(-1) ?? '', /There is no tier nothing\. Usage/);
    assert.equal(status, 2);
  });
});

/** A zombie whose parent does not look after it has ended too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    return !(error instanceof Error);
  }
}
