import { hostname } from 'node:os';
import type { Clock } from '../../base/clock';
import { BusError } from '../errors';
import type { JournalEventName } from '../history/journalEvent';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamPort } from '../port';
import { maxJournalRecords, recordJournal } from '../scripts/journal';
import type { JournalError, JournalRecord, JournalWriter } from '../scripts/journal';
import type { EventHub } from './events';
import { exponential } from './backoff';

/** Where a journal is written, and by whom. */
export interface JournalTarget {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly key: StreamKey;
  readonly maxLength: number;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly version: string;
}

interface Failing {
  readonly attempt: number;
  /** Waiting for a backoff to pass; due, but there is nothing to write; or being tried. */
  state: 'waiting' | 'due' | 'trying';
  readonly reason: string;
  cancel: () => void;
}

/** What is known of an event besides the entry. */
export interface Details {
  readonly attempt?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly error?: JournalError | undefined;
  /** When it was by the server's clock; else it is now. */
  readonly serverMs?: number;
}

/** How many entries share a record: writing one costs the server about as much as the rest of a message's way. */
const maxShared = 25;

/** A record that more entries can join, as long as they have its event and its time. */
class OpenRecord implements JournalRecord {
  ids: string;
  error: JournalError | undefined;
  time: JournalRecord['time'];
  private attemptList: string;
  private durationList: string;
  private count = 1;
  private sharesAttempt = true;
  private sharesDuration = true;

  constructor(
    readonly event: JournalEventName,
    private readonly atMs: number,
    id: EntryId,
    private readonly attempt: number | undefined,
    private readonly durationMs: number | undefined,
  ) {
    this.ids = id;
    this.time = { hereMs: atMs };
    this.attemptList = text(attempt);
    this.durationList = text(durationMs);
  }

  get attempts(): string {
    return this.sharesAttempt ? text(this.attempt) : this.attemptList;
  }

  get durations(): string {
    return this.sharesDuration ? text(this.durationMs) : this.durationList;
  }

  takes(event: JournalEventName, nowMs: number): boolean {
    return this.event === event && this.atMs === nowMs && this.count < maxShared;
  }

  add(id: EntryId, attempt: number | undefined, durationMs: number | undefined): void {
    this.count += 1;
    this.ids += `,${id}`;
    this.attemptList += `,${text(attempt)}`;
    this.durationList += `,${text(durationMs)}`;
    if (attempt !== this.attempt) this.sharesAttempt = false;
    if (durationMs !== this.durationMs) this.sharesDuration = false;
  }
}

function text(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}

/** How long an event waits for others, or for a call of the consumer that it can travel with. */
const lingerMs = 25;

/** How many records wait at most while the journal cannot be written; the oldest go first. */
const maxWaiting = 2000;

/** Failures that mend themselves are looked at again soon, others seldom: each refusal stands in the server's ACL LOG. */
const soon = exponential({ baseMs: 500, maxMs: 30_000 });
const seldom = exponential({ baseMs: 30_000, maxMs: 600_000 });

/**
 * Writes a delivery journal beside the work: many events in one call, nobody waits for it, and whatever becomes of it nothing else
 * changes. While it cannot be written, a bounded number of events waits and one call after another, further and further apart, finds
 * out whether it can be written again. What may have been written is never written again.
 */
export class Journal {
  private waiting: JournalRecord[] = [];
  /** The last record that waits, as long as more entries can join it. */
  private open: OpenRecord | undefined;
  private inFlight = 0;
  private cancelTimer: (() => void) | undefined;
  private isClosed = false;
  private dropped = 0;
  private failing: Failing | undefined;
  private idleWaiters: (() => void)[] = [];
  private readonly writer: JournalWriter;

  constructor(private readonly target: JournalTarget) {
    const { group, consumer, version } = target;
    this.writer = { group, consumer, host: hostname(), pid: process.pid, version };
  }

  /** Takes an event of an entry; it is written together with the next ones. */
  record(
    event: JournalEventName,
    id: EntryId,
    { attempt, durationMs }: { readonly attempt?: number | undefined; readonly durationMs?: number | undefined } = {},
    nowMs = this.target.clock.now(),
  ): void {
    if (this.isClosed) return;
    const { open } = this;
    if (open?.takes(event, nowMs) === true) {
      open.add(id, attempt, durationMs);
      return;
    }
    const record = new OpenRecord(event, nowMs, id, attempt, durationMs);
    this.push(record);
    this.open = record;
  }

  /** Takes an event that shares its time, or its error, with no other. */
  recordAlone(event: JournalEventName, id: EntryId, details: Details): void {
    if (this.isClosed) return;
    const { attempt, durationMs, error, serverMs } = details;
    const record = new OpenRecord(event, this.target.clock.now(), id, attempt, durationMs);
    record.error = error;
    if (serverMs !== undefined) record.time = { serverMs };
    this.push(record);
    this.open = undefined;
  }

  private push(record: JournalRecord): void {
    this.waiting.push(record);
    if (this.failing) {
      if (this.waiting.length > maxWaiting) this.forget(this.waiting.splice(0, maxWaiting / 2));
      if (this.failing.state === 'due') this.tryAgain(this.failing);
    } else if (this.waiting.length >= maxJournalRecords) this.flush();
    else this.cancelTimer ??= this.schedule();
  }

  /** Sends what waits, now: it leaves in the same write as the other calls of this tick. */
  flush(): void {
    if (this.failing) return;
    while (this.waiting.length > 0) this.send();
  }

  /** Sends what waits and takes nothing more; resolves when everything was answered, also when it was refused. */
  close(): Promise<void> {
    if (!this.isClosed) {
      this.isClosed = true;
      this.cancelTimer?.();
      this.failing?.cancel();
      // A journal that failed gets one more chance, not one for every two hundred events.
      if (this.failing) this.send();
      else this.flush();
    }
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private schedule(): () => void {
    return this.target.clock.after(lingerMs, () => {
      this.cancelTimer = undefined;
      this.flush();
    });
  }

  private send(): void {
    if (this.waiting.length === 0) return;
    const records = this.waiting.splice(0, maxJournalRecords);
    this.open = undefined;
    const { port, clock, key: journal, maxLength } = this.target;
    this.inFlight += 1;
    port.run(recordJournal, { journal, maxLength, writer: this.writer, hereMs: clock.now(), records }).then(
      () => {
        this.written();
        this.answered();
      },
      (error: unknown) => {
        this.refused(records, error);
        this.answered();
      },
    );
  }

  private tryAgain(failing: Failing): void {
    failing.state = 'trying';
    this.send();
  }

  private written(): void {
    if (!this.failing) return;
    this.failing.cancel();
    this.failing = undefined;
    this.target.events.emit('journal-resumed', { key: this.target.key, dropped: this.dropped });
    this.dropped = 0;
    if (!this.isClosed) this.flush();
  }

  private refused(records: readonly JournalRecord[], error: unknown): void {
    const mayBeWritten = !BusError.is(error) || error.details.ambiguous === true;
    if (mayBeWritten || this.isClosed) this.forget(records);
    else this.waiting = [...records, ...this.waiting].slice(-maxWaiting);
    if (this.isClosed) return;
    const { failing } = this;
    // One of several that were under way when the first of them failed.
    if (failing && failing.state !== 'trying') return;
    const attempt = (failing?.attempt ?? 0) + 1;
    const reason = BusError.is(error) ? error.reason : 'unknown';
    const retryInMs = (BusError.is(error) && error.retriable ? soon : seldom)(attempt);
    const next: Failing = { attempt, state: 'waiting', reason, cancel: () => undefined };
    next.cancel = this.target.clock.after(retryInMs, () => {
      next.state = 'due';
      if (this.waiting.length > 0) this.tryAgain(next);
    });
    this.failing = next;
    if (failing?.reason !== reason)
      this.target.events.emit('journal-failed', { key: this.target.key, error, retryInMs, dropped: this.dropped });
  }

  private forget(records: readonly JournalRecord[]): void {
    for (const { ids } of records) this.dropped += ids.split(',').length;
  }

  private answered(): void {
    this.inFlight -= 1;
    if (this.inFlight > 0) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
