// Waiting for something to become true, instead of a fixed sleep. Tested by test/unit/eventually.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';

/** How long and how often to look. */
export interface EventuallyOptions {
  /** Default 15000: far more than it should ever take, so that a slow machine does not fail a test. */
  readonly timeoutMs?: number;
  /** Default 20. */
  readonly intervalMs?: number;
  /** What was waited for, in the error. */
  readonly what?: string;
}

/**
 * Calls `look` until it neither throws nor gives `false`, and resolves with what it gave; rejects with the last failure
 * after the timeout. Assertions in `look` need no return value.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  { timeoutMs = 15_000, intervalMs = 20, what = 'it to become true' }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const outcome = await attempt(look);
    if (outcome.done) return outcome.value;
    if (performance.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs} ms for ${what}: ${outcome.why}`, { cause: outcome.cause });
    }
    await sleep(intervalMs);
  }
}

type Outcome<T> =
  | { readonly done: true; readonly value: Exclude<T, false> }
  | { readonly done: false; readonly why: string; readonly cause?: unknown };

async function attempt<T>(look: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await look();
    return isFound(value) ? { done: true, value } : { done: false, why: 'the last look gave false' };
  } catch (error) {
    return { done: false, why: error instanceof Error ? error.message : String(error), cause: error };
  }
}

function isFound<T>(value: T): value is Exclude<T, false> {
  return value !== false;
}
