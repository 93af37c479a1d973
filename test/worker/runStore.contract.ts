// What every store of runs promises; called with each implementation by runStore.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { entryId } from '../../src/bus';
import type { NewRun, Run, RunStore } from '../../src/worker/runs/runStore';
import { uniqueKey } from '../support/uniqueKey';

/** Describes the promises for a store; `open` answers the same store to every test. */
export function describeRunStore(name: string, open: () => RunStore): void {
  const newRun = (changes: Partial<NewRun> = {}): NewRun => ({
    runId: randomUUID(),
    sessionId: uniqueKey('session'),
    idempotencyKey: uniqueKey('key'),
    input: 'hello',
    ...changes,
  });
  const created = async (changes: Partial<NewRun> = {}): Promise<Run> => (await open().create(newRun(changes))).run;

  describe(`The store of runs in ${name}`, () => {
    it('keeps a run as it was submitted, pending and without an entry', async () => {
      const asked = newRun({ input: 'snowman ☃, emoji 🎈, quote \' " \\ and a\nline' });
      const { run, isNew } = await open().create(asked);
      assert.equal(isNew, true);
      assert.deepEqual(await open().get(asked.runId), run);
      const { createdAtMs, ...rest } = run;
      assert.ok(Math.abs(createdAtMs - Date.now()) < 600_000);
      assert.deepEqual(rest, {
        ...asked,
        status: 'pending',
        streamId: undefined,
        reply: undefined,
        failure: undefined,
      });
    });

    it('knows no run that was not submitted', async () => {
      assert.equal(await open().get(randomUUID()), undefined);
    });

    it('answers the first run for a known idempotency key, and keeps nothing of the second', async () => {
      const first = await created();
      const second = newRun({ idempotencyKey: first.idempotencyKey, input: 'other' });
      assert.deepEqual(await open().create(second), { run: first, isNew: false });
      assert.equal(await open().get(second.runId), undefined);
    });

    it('lets one of many simultaneous submissions with the same key in', async () => {
      const idempotencyKey = uniqueKey('key');
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => open().create(newRun({ idempotencyKey }))));
      assert.equal(outcomes.filter(({ isNew }) => isNew).length, 1);
      assert.equal(new Set(outcomes.map(({ run }) => run.runId)).size, 1);
    });

    it('notes the entry of a pending run, also another one', async () => {
      const { runId } = await created();
      await open().published(runId, entryId('5-1'));
      assert.equal((await open().get(runId))?.streamId, '5-1');
      await open().published(runId, entryId('18446744073709551615-18446744073709551615'));
      assert.equal((await open().get(runId))?.streamId, '18446744073709551615-18446744073709551615');
    });

    it('notes the first entry of a run that is done already, but replaces none', async () => {
      const { runId } = await created();
      await open().complete(runId, 'reply');
      await open().published(runId, entryId('5-1'));
      await open().published(runId, entryId('6-1'));
      assert.equal((await open().get(runId))?.streamId, '5-1');
    });

    it('names the entry that was executed, whatever was noted before and after', async () => {
      const { runId } = await created();
      await open().published(runId, entryId('5-1'));
      assert.equal(await open().complete(runId, 'reply', entryId('6-1')), true);
      await open().published(runId, entryId('7-1'));
      assert.equal(await open().complete(runId, 'late', entryId('8-1')), false);
      assert.equal((await open().get(runId))?.streamId, '6-1');
    });

    it('writes one reply, the first, however often a run is completed', async () => {
      const { runId } = await created();
      assert.equal(await open().countReplies(runId), 0);
      const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((reply) => open().complete(runId, reply)));
      assert.equal(outcomes.filter(Boolean).length, 1);
      const run = await open().get(runId);
      assert.deepEqual([run?.status, run?.reply], ['done', ['a', 'b', 'c', 'd'][outcomes.indexOf(true)]]);
      assert.equal(await open().complete(runId, 'late'), false);
      assert.equal(await open().countReplies(runId), 1);
    });

    it('completes nothing for a run that it does not know', async () => {
      const runId = randomUUID();
      assert.equal(await open().complete(runId, 'reply'), false);
      assert.equal(await open().countReplies(runId), 0);
    });

    it('marks a pending run failed with the reason, once', async () => {
      const { runId } = await created();
      assert.equal(await open().fail(runId, { reason: 'delivery-limit', message: 'gone\0wrong' }), true);
      assert.equal(await open().fail(runId, { reason: 'timeout', message: '' }), false);
      const run = await open().get(runId);
      assert.equal(run?.status, 'failed');
      assert.equal(run.failure?.reason, 'delivery-limit');
    });

    it('takes no reply back: a done run never fails', async () => {
      const { runId } = await created();
      await open().complete(runId, 'reply');
      assert.equal(await open().fail(runId, { reason: 'timeout', message: '' }), false);
      assert.equal((await open().get(runId))?.status, 'done');
    });

    it('completes a failed run after all, and forgets the failure', async () => {
      const { runId } = await created();
      await open().fail(runId, { reason: 'timeout', message: 'late' });
      assert.equal(await open().complete(runId, 'reply'), true);
      const run = await open().get(runId);
      assert.deepEqual([run?.status, run?.reply, run?.failure], ['done', 'reply', undefined]);
    });

    it('reopens a failed run with the entry that carries it now, and no other', async () => {
      const pending = await created();
      assert.equal(await open().reopen(pending.runId, entryId('9-9')), false);
      await open().fail(pending.runId, { reason: 'timeout', message: 'late' });
      assert.equal(await open().reopen(pending.runId, entryId('9-9')), true);
      const run = await open().get(pending.runId);
      assert.deepEqual([run?.status, run?.streamId, run?.failure], ['pending', '9-9', undefined]);
    });

    it('lists pending runs that are old enough, oldest first, in pages without gaps or repetitions', async () => {
      const runs: Run[] = [];
      for (let index = 0; index < 7; index += 1) runs.push(await created());
      await open().complete(runs[2]?.runId ?? '', 'reply');
      await open().fail(runs[4]?.runId ?? '', { reason: 'timeout', message: '' });
      const own = new Set(runs.map(({ runId }) => runId));
      const found: string[] = [];
      for (let after: { createdAt: string; runId: string } | undefined, isLast = false; !isLast;) {
        const page = await open().listPending({ olderThanMs: 0, limit: 2, ...(after === undefined ? {} : { after }) });
        assert.ok(page.runs.length <= 2);
        found.push(...page.runs.map(({ runId }) => runId).filter((runId) => own.has(runId)));
        after = page.next;
        isLast = after === undefined;
      }
      const expected = runs.filter((_, index) => index !== 2 && index !== 4).map(({ runId }) => runId);
      assert.deepEqual([...found].sort(), expected.sort());
      const tooYoung = await open().listPending({ olderThanMs: 3_600_000, limit: 100 });
      assert.deepEqual(tooYoung.runs, []);
    });

    it('forgets a session with its replies, and nothing else', async () => {
      const [one, two] = [await created({ sessionId: 'gone' }), await created({ sessionId: 'gone' })];
      const other = await created();
      await open().complete(one.runId, 'reply');
      assert.equal(await open().forgetSession('gone'), 2);
      assert.equal(await open().get(two.runId), undefined);
      assert.equal(await open().countReplies(one.runId), 0);
      assert.ok(await open().get(other.runId));
      const again = await open().create(newRun({ idempotencyKey: one.idempotencyKey }));
      assert.equal(again.isNew, true, 'its keys are free again');
    });
  });
}
