/**
 * What a worker of the reference application does with a run unless a handler file is named: it echoes the input.
 *
 * Three first words make trouble on purpose: `boom` fails, `slow` takes its time (`slow 5000` for five seconds), `die` ends the process
 * as SIGKILL does. A handler of your own is the same function: what it returns becomes the reply.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HandlerContext, Message } from '../../bus';

/** What a handler of runs finds in `message.body`. */
export interface RunBody {
  readonly runId: string;
  readonly sessionId: string;
  readonly input: string;
}

/** How long `slow` takes when it says no time. */
const slowMs = 2000;

/** Answers the input. */
export async function echo({ body }: Message<RunBody>, { signal }: HandlerContext): Promise<string> {
  const [word, detail = ''] = body.input.trim().split(/\s+/);
  if (word === 'boom') throw new Error('The input asked for a failure');
  if (word === 'slow') await sleep(/^\d{1,6}$/.test(detail) ? Number(detail) : slowMs, undefined, { signal });
  if (word === 'die') await die();
  return `echo: ${body.input}`;
}

/** No handler code runs after it and nothing is settled: the delivery is left to whoever reclaims it. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
