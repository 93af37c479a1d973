import type { Delivery } from './delivery';
import type { ConsumerEvents, HandledOutcome } from './events';
import { isNamed } from './failureText';
import type { Outcome } from './handlerRuns';

/** The `handled` event of a run that ended at `nowMs`. */
export function handledOf(delivery: Delivery, outcome: Outcome, nowMs: number): ConsumerEvents['handled'] {
  const { id, deliveries, startedAtMs } = delivery;
  const error = outcome.kind === 'failed' ? outcome.error : undefined;
  return { id, deliveries, durationMs: Math.max(0, nowMs - startedAtMs), outcome: outcomeOf(delivery, outcome), error };
}

/** How a run ended, in the words of the `handled` event. */
export function outcomeOf({ abortKind }: Delivery, outcome: Outcome): HandledOutcome {
  if (outcome.kind === 'completed') return 'completed';
  if (abortKind === 'lost' || abortKind === 'shutdown') return 'aborted';
  if (isNamed(outcome.error, 'RetryLater')) return 'retry-later';
  if (isNamed(outcome.error, 'Reject')) return 'rejected';
  return outcome.timedOut ? 'timed-out' : 'failed';
}
