/** Something asked of the host: the last answer, the last failure, and whether an answer is awaited. Old data stays visible. */
import { batch, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ErrorData } from '../src/protocol/envelope';
import { RequestError } from './panelClient';

/** How long nothing is drawn in place of missing data before skeletons are. */
export const skeletonAfterMs = 300;

/** One thing of which only the last question counts: asking again aborts the one before. */
export class Resource<T> {
  private readonly dataSignal = signal<T | null>(null);
  private readonly errorSignal = signal<ErrorData | null>(null);
  private readonly loadingSignal = signal(false);
  private readonly slowSignal = signal(false);
  private current: AbortController | undefined;

  get data(): ReadonlySignal<T | null> {
    return this.dataSignal;
  }

  get error(): ReadonlySignal<ErrorData | null> {
    return this.errorSignal;
  }

  get isLoading(): ReadonlySignal<boolean> {
    return this.loadingSignal;
  }

  /** True once an answer is awaited for so long that a skeleton should show. */
  get isSlow(): ReadonlySignal<boolean> {
    return this.slowSignal;
  }

  /** Asks; resolves with true when this question was answered and not overtaken, aborted or refused. */
  async load(ask: (signal: AbortSignal) => Promise<T>): Promise<boolean> {
    this.current?.abort();
    const abort = new AbortController();
    this.current = abort;
    this.loadingSignal.value = true;
    const timer = setTimeout(() => {
      if (this.current === abort) this.slowSignal.value = true;
    }, skeletonAfterMs);
    try {
      const data = await ask(abort.signal);
      return this.settle(abort, () => {
        this.dataSignal.value = data;
        this.errorSignal.value = null;
      });
    } catch (error) {
      const failure = describeFailure(error);
      this.settle(abort, () => {
        if (failure.reason !== 'cancelled') this.errorSignal.value = failure;
      });
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Forgets the last failure, when what it was about is no longer wanted. */
  forgetError(): void {
    this.errorSignal.value = null;
  }

  private settle(abort: AbortController, apply: () => void): boolean {
    if (this.current !== abort) return false;
    this.current = undefined;
    batch(() => {
      apply();
      this.loadingSignal.value = false;
      this.slowSignal.value = false;
    });
    return true;
  }
}

/** What a failed question shows; a failure of the page itself is not the host's and cannot be retried. */
export function describeFailure(error: unknown): ErrorData {
  if (error instanceof RequestError) return error.data;
  return { reason: 'page', message: error instanceof Error ? error.message : String(error), retriable: false };
}
