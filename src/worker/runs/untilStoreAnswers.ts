import { setTimeout as sleep } from 'node:timers/promises';
import { exponential } from '../../bus';
import type { HandlerContext } from '../../bus';
import { StoreUnavailableError } from './runStore';

const backoff = exponential({ baseMs: 100, maxMs: 5000 });

/** How much more time a handler asks for while it waits; more than one pause takes. */
const extensionMs = 60_000;

/**
 * Asks the store, again and again while it does not answer, until the handler is asked to stop. A store that is away says nothing about the
 * run: failing for it would use up the run's deliveries within seconds and move it to the dead letters.
 */
export async function untilStoreAnswers<Answer>(
  { signal, log, extend }: Pick<HandlerContext, 'signal' | 'log' | 'extend'>,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      signal.throwIfAborted();
      if (attempt === 1) log.warn(`A message waits for its store: ${error.message}`);
      extend(extensionMs);
      await sleep(backoff(attempt), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }
}
