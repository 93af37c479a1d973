import type { Clock } from '../../base/clock';
import { entryIdTimeMs } from '../ids';
import type { ConsumerName, EntryId } from '../ids';
import type { JournalEventName } from '../history/journalEvent';
import type { JournalError } from '../scripts/journal';
import type { ConsumerEvents, EventHub } from './events';
import { failureText, notRecorded } from './failureText';
import type { Redact } from './failureText';
import type { Details, Journal } from './journal';

/** What is known of an entry from its delivery until it is settled. */
interface Known {
  readonly attempt: number;
  durationMs: number | undefined;
}

/** How many entries are known at once at most; far more than any consumer holds. */
const maxKnown = 50_000;

/** How many bytes of a stack are kept. */
const maxStackChars = 2048;

/** A time that an id can tell and ISO 8601 can hold: until the year 9999. */
const maxIdTimeMs = 253_402_300_799_999;

/** Keeps a journal of what the events of a consumer tell. */
export function recordEvents(
  events: EventHub,
  journal: Journal,
  options: { readonly clock: Clock; readonly consumer: ConsumerName; readonly redact: Redact },
): void {
  const { clock, consumer, redact } = options;
  const known = new Map<EntryId, Known>();
  let settledElsewhere: ReadonlySet<EntryId> = new Set();

  const settle = (event: JournalEventName, id: EntryId, nowMs?: number): void => {
    const own = known.get(id);
    known.delete(id);
    journal.record(event, id, own, nowMs);
  };

  events.on('delivered', ({ id, deliveries, isTakenOver, previousOwner, replayOf }) => {
    if (known.size >= maxKnown) known.clear();
    known.set(id, { attempt: deliveries, durationMs: undefined });
    if (replayOf && deliveries === 1) {
      const serverMs = entryIdTimeMs(id);
      if (serverMs !== undefined && serverMs <= maxIdTimeMs)
        journal.recordAlone('replayed', replayOf.id, { attempt: replayOf.replays, serverMs });
    }
    // Its own retries, and what it finds of a former life, it takes from itself.
    journal.record(isTakenOver && previousOwner !== consumer ? 'claimed' : 'delivered', id, { attempt: deliveries });
  });
  events.on('handled', ({ id, deliveries, durationMs, outcome, error }) => {
    const own = known.get(id);
    if (own) own.durationMs = Math.round(durationMs);
    if (outcome !== 'failed' && outcome !== 'timed-out' && outcome !== 'rejected') return;
    const details = { attempt: deliveries, durationMs: Math.round(durationMs), error: errorOf(error, redact) };
    journal.recordAlone(outcome === 'timed-out' ? 'timed-out' : 'failed', id, details);
  });
  events.on('settled-elsewhere', ({ ids, count }) => {
    // Which of several were not pending any more is not known: then none is said to be acknowledged by this consumer.
    settledElsewhere = new Set(ids);
    if (count >= ids.length) for (const id of ids) settle('ownership-lost', id);
  });
  events.on('acknowledged', ({ ids }) => {
    const nowMs = clock.now();
    for (const id of ids) if (!settledElsewhere.has(id)) settle('acknowledged', id, nowMs);
    if (settledElsewhere.size === 0) return;
    for (const id of settledElsewhere) known.delete(id);
    settledElsewhere = new Set();
  });
  events.on('retry-scheduled', ({ id, deliveries, delayMs }) => {
    known.delete(id);
    journal.record('retry-scheduled', id, { attempt: deliveries, durationMs: Math.round(delayMs) });
  });
  events.on('dead-lettered', (event) => {
    journal.recordAlone('dead-lettered', event.id, deadLetterDetails(event, known.get(event.id)));
    known.delete(event.id);
  });
  events.on('released', ({ ids }) => {
    for (const id of ids) settle('released', id);
  });
  events.on('ownership-lost', ({ id }) => {
    settle('ownership-lost', id);
  });
  for (const gone of ['lost-to-trim', 'settle-failed'] as const)
    events.on(gone, ({ ids }) => {
      for (const id of ids) known.delete(id);
    });
}

function deadLetterDetails(
  { deliveries, errorType, errorMessage }: ConsumerEvents['dead-lettered'],
  own: Known | undefined,
): Details {
  const hasError = errorType !== '' || errorMessage !== '';
  return {
    attempt: deliveries,
    durationMs: own?.durationMs,
    error: hasError ? { type: errorType, message: errorMessage, stack: '' } : undefined,
  };
}

/** A user's redactor, or a getter of what was thrown, may throw; then nothing of the error is kept. */
function errorOf(error: unknown, redact: Redact): JournalError {
  try {
    const stack = typeof error === 'object' && error !== null ? (error as { stack?: unknown }).stack : undefined;
    const shown = typeof stack === 'string' ? redact(stack).slice(0, maxStackChars) : '';
    return { ...failureText(error, redact), stack: shown };
  } catch {
    return { ...notRecorded, stack: '' };
  }
}
