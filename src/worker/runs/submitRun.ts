import { randomUUID } from 'node:crypto';
import { PublishError } from '../../bus';
import type { Bus, EntryId, HandlerLog } from '../../bus';
import type { NewRun, RunStore } from './runStore';
import { dedupeWindowMs, runsTopic } from './runsStream';

/** What submitting needs. */
export interface SubmitParts {
  readonly store: Pick<RunStore, 'create' | 'published'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly log: HandlerLog;
  /** How long a client waits for the stream at most. Default 2,000. */
  readonly publishTimeoutMs?: number;
}

/** A run that is kept. */
export interface Submitted {
  readonly runId: string;
  /** Undefined when the entry could not be published yet; the sweeper does it. */
  readonly streamId: EntryId | undefined;
  /** Its idempotency key was known: nothing was inserted and nothing published. */
  readonly duplicated: boolean;
}

/**
 * Persists a run first and publishes it second. Between the two lies a hole: who dies in it, or cannot reach the stream, leaves a run
 * that only the store knows, which the sweeper publishes. Rejects only when the run is not kept.
 */
export async function submitRun(parts: SubmitParts, request: Omit<NewRun, 'runId'>): Promise<Submitted> {
  const { store, log } = parts;
  const { run, isNew } = await store.create({ ...request, runId: randomUUID() });
  const { runId } = run;
  if (!isNew) return { runId, streamId: run.streamId, duplicated: true };
  let streamId: EntryId;
  try {
    streamId = await publishRun(parts, run);
  } catch (error) {
    if (!PublishError.is(error)) throw error;
    log.warn(`Run ${runId} is kept but not published yet, which will be tried again: ${error.message}`);
    return { runId, streamId: undefined, duplicated: false };
  }
  try {
    await store.published(runId, streamId);
  } catch (error) {
    // The run is kept and published: the sweeper finds the entry by its dedupe key and notes it.
    log.warn(`Run ${runId} is published as ${streamId}, which the store could not note: ${messageOf(error)}`);
  }
  return { runId, streamId, duplicated: false };
}

/**
 * Publishes a run. Of many who do it for the same occasion, within the dedupe window, one publishes and all get the same id. The first
 * occasion is the run itself; the next is the entry that was lost.
 */
export async function publishRun(
  { bus, publishTimeoutMs = 2000 }: Pick<SubmitParts, 'bus' | 'publishTimeoutMs'>,
  { runId, sessionId }: Pick<NewRun, 'runId' | 'sessionId'>,
  lost?: EntryId,
): Promise<EntryId> {
  const { id } = await bus.publish(
    runsTopic,
    { body: { runId, sessionId } },
    {
      dedupeKey: lost === undefined ? runId : `${runId}:${lost}`,
      dedupeWindowMs,
      timeoutMs: publishTimeoutMs,
    },
  );
  return id;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
