import { bytesToText } from '../../base/byteText';
import { minEntryId } from '../../bus';
import type { DeadLetter, DeadLetters, EntryId } from '../../bus';
import { isRunId } from './runsStream';
import type { RunStore } from './runStore';

/** What marking needs. */
export interface FailureMarkerParts {
  readonly deadLetters: Pick<DeadLetters, 'list'>;
  readonly store: Pick<RunStore, 'fail'>;
  /** The group whose dead letters mean that a run failed. */
  readonly group: string;
}

const pageSize = 200;

/**
 * Marks the runs of dead letters failed. The dead-letter stream is the record to go by: whoever moved an entry there may have died
 * before it could mark anything, so every process reads what it has not read yet and marks that; marking twice changes nothing.
 */
export class FailureMarker {
  /** Everything up to here is marked. */
  private after: EntryId = minEntryId;
  private last: Promise<unknown> = Promise.resolve();
  private queued: Promise<number> | undefined;

  constructor(private readonly parts: FailureMarkerParts) {}

  /**
   * Marks what is among the dead letters when it is called, or more; answers how many runs it found failed. Rejects when the server or
   * the store does: the next call goes on where it stopped.
   */
  catchUp(): Promise<number> {
    if (this.queued) return this.queued;
    const pass = this.last.then(() => {
      this.queued = undefined;
      return this.markNew();
    });
    this.queued = pass;
    this.last = pass.catch(() => undefined);
    return pass;
  }

  private async markNew(): Promise<number> {
    const { deadLetters, store, group } = this.parts;
    for (let marked = 0; ;) {
      const letters = await deadLetters.list({ after: this.after, limit: pageSize });
      for (const letter of letters) {
        const runId = runIdOf(letter);
        const { failure } = letter;
        const isOurs = failure.group === undefined || failure.group === group;
        if (runId !== undefined && isOurs) {
          const message = failure.errorMessage ?? '';
          if (await store.fail(runId, { reason: failure.reason ?? 'unknown', message })) marked += 1;
        }
        this.after = letter.deadId;
      }
      if (letters.length < pageSize) return marked;
    }
  }
}

/** The run that a dead letter was to execute. */
export function runIdOf({ fields }: DeadLetter): string | undefined {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [name, value] = fields.slice(index, index + 2);
    if (!name || !value || bytesToText(name) !== 'runId') continue;
    const text = bytesToText(value);
    return isRunId(text) ? text : undefined;
  }
  return undefined;
}
