import { Reject } from '../../bus';
import type { Handler, HandlerContext, Message } from '../../bus';
import type { RunBody } from './echo';
import { isRunId } from './runsStream';
import type { Run, RunStore } from './runStore';
import { untilStoreAnswers } from './untilStoreAnswers';

/** Executes runs: gets a message whose `body` is the run; what it returns becomes the reply. */
export type RunExecutor = (message: Message<RunBody>, context: HandlerContext) => unknown;

/** The longest reply that is kept, in UTF-16 units. */
const maxReplyLength = 1_000_000;

/**
 * The handler of the runs stream: executes the run of an entry, writes its reply and marks it done, and returns, so that the entry is
 * acknowledged last. A run that is done already, because somebody died between the last two or its entry was published twice, is
 * acknowledged without being executed again. While the store does not answer the entry is kept, and no delivery is used up.
 */
export function runHandler(store: RunStore, execute: RunExecutor): Handler {
  return async (message, context) => {
    const { runId } = message.fields;
    if (!isRunId(runId)) throw new Reject('The entry names no run: its field runId is missing or no run id');
    const run = await untilStoreAnswers(context, () => store.get(runId));
    if (!run) throw new Reject(`The store has no run ${runId}`);
    if (run.status === 'done') {
      context.log.info(`Run ${runId} is done already`, { id: message.id });
      return;
    }
    context.log.info(`Run ${runId}, delivery ${context.deliveryCount}`, { id: message.id });
    if (run.status === 'failed') await untilStoreAnswers(context, () => store.reopen(runId, message.id));
    const reply = replyText(await execute(withRun(message, run), context));
    // A result that comes after the entry was given up or taken over does not count.
    context.signal.throwIfAborted();
    await untilStoreAnswers(context, () => store.complete(runId, reply, message.id));
  };
}

function withRun({ id, stream, type, fields, rawFields }: Message, { runId, sessionId, input }: Run): Message<RunBody> {
  return { id, stream, type, fields, rawFields, body: { runId, sessionId, input } };
}

/** Text as it is, nothing as an empty text, anything else as JSON. */
function replyText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError('The reply is no text and cannot be written as JSON');
  if (text.length > maxReplyLength) throw new RangeError(`The reply is longer than ${maxReplyLength} characters`);
  if (text.includes('\0')) throw new TypeError('The reply holds a NUL character, which no store keeps');
  return text;
}
