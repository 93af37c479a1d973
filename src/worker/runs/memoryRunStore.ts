import { systemClock } from '../../base/clock';
import type { Clock } from '../../base/clock';
import type { EntryId } from '../../bus';
import type { NewRun, PendingCursor, PendingRuns, Run, RunFailure, RunStore } from './runStore';

/** Keeps runs in this process, for trying and for tests: they are gone when it ends, and no other process sees them. */
export class MemoryRunStore implements RunStore {
  readonly kind = 'memory';
  private readonly runs = new Map<string, Run>();
  private readonly byKey = new Map<string, string>();

  constructor(private readonly clock: Clock = systemClock()) {}

  create(run: NewRun): Promise<{ readonly run: Run; readonly isNew: boolean }> {
    const known = this.runs.get(this.byKey.get(run.idempotencyKey) ?? '');
    if (known) return Promise.resolve({ run: known, isNew: false });
    const created: Run = {
      ...run,
      status: 'pending',
      streamId: undefined,
      reply: undefined,
      failure: undefined,
      createdAtMs: this.clock.now(),
    };
    this.byKey.set(run.idempotencyKey, run.runId);
    this.runs.set(run.runId, created);
    return Promise.resolve({ run: created, isNew: true });
  }

  get(runId: string): Promise<Run | undefined> {
    return Promise.resolve(this.runs.get(runId));
  }

  async published(runId: string, streamId: EntryId): Promise<void> {
    await this.change(runId, (run) => run.status === 'pending' || run.streamId === undefined, { streamId });
  }

  complete(runId: string, reply: string, streamId?: EntryId): Promise<boolean> {
    const done = { status: 'done', reply, failure: undefined } as const;
    return this.change(runId, ({ status }) => status !== 'done', { ...done, ...(streamId && { streamId }) });
  }

  fail(runId: string, failure: RunFailure): Promise<boolean> {
    return this.change(runId, ({ status }) => status === 'pending', { status: 'failed', failure });
  }

  reopen(runId: string, streamId: EntryId): Promise<boolean> {
    const pending = { status: 'pending', streamId, failure: undefined } as const;
    return this.change(runId, ({ status }) => status === 'failed', pending);
  }

  listPending(query: {
    readonly olderThanMs: number;
    readonly limit: number;
    readonly after?: PendingCursor;
  }): Promise<PendingRuns> {
    const before = this.clock.now() - query.olderThanMs;
    const left = [...this.runs.values()]
      .filter(({ status, createdAtMs }) => status === 'pending' && createdAtMs <= before)
      .filter((run) => query.after === undefined || inOrder(query.after, cursorOf(run)) < 0)
      .sort((a, b) => inOrder(cursorOf(a), cursorOf(b)));
    const runs = left.slice(0, query.limit);
    const last = runs.at(-1);
    return Promise.resolve({ runs, next: last && runs.length < left.length ? cursorOf(last) : undefined });
  }

  countReplies(runId: string): Promise<number> {
    return Promise.resolve(this.runs.get(runId)?.reply === undefined ? 0 : 1);
  }

  forgetSession(sessionId: string): Promise<number> {
    const gone = [...this.runs.values()].filter((run) => run.sessionId === sessionId);
    for (const { runId, idempotencyKey } of gone) {
      this.runs.delete(runId);
      this.byKey.delete(idempotencyKey);
    }
    return Promise.resolve(gone.length);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private change(runId: string, when: (run: Run) => boolean, changes: Partial<Run>): Promise<boolean> {
    const run = this.runs.get(runId);
    if (!run || !when(run)) return Promise.resolve(false);
    this.runs.set(runId, { ...run, ...changes });
    return Promise.resolve(true);
  }
}

function cursorOf({ createdAtMs, runId }: Run): PendingCursor {
  return { createdAt: String(createdAtMs), runId };
}

function inOrder(a: PendingCursor, b: PendingCursor): number {
  const byTime = Number(a.createdAt) - Number(b.createdAt);
  return byTime === 0 ? (a.runId < b.runId ? -1 : a.runId === b.runId ? 0 : 1) : byTime;
}
