/**
 * The handler that the sample worker runs, and the documented example of the handler contract (`bus/consume/handler`).
 *
 * Set a breakpoint in `handle` and start *Redis Streams: Debug Sample Worker*: it is hit by the next message. What to look at in the
 * variables: `message.id`, `message.fields`, `context.deliveryCount`.
 */
import { Reject, RetryLater, type HandlerContext, type Message } from '../bus';

/**
 * Handles one message. Returning acknowledges it. Throwing has it delivered again after a while, or moved to the dead letters when it
 * was the last delivery allowed; `RetryLater` chooses the delay, `Reject` gives the message up at once.
 */
export async function handle(message: Message, context: HandlerContext): Promise<void> {
  const type = message.fields.type ?? 'unknown';
  const payload = parsePayload(message.fields.payload);

  if (type === 'payment.captured' && payload.amount === null) {
    throw new TypeError(`The payment has no amount (delivery ${context.deliveryCount})`);
  }
  if (type === 'order.cancelled' && !context.redelivered) {
    throw new RetryLater(2_000, 'Cancelled orders wait for their refund first');
  }

  await work(25, context.signal);
  context.log.info('Handled', { id: message.id, type });
}

function parsePayload(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    throw new Reject('The payload is not JSON; delivering it again would not help', { cause: error });
  }
}

/** Stands for real work: waits, and stops waiting when the message is taken away or the worker closes. */
function work(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error('The handler was stopped'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, durationMs);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
