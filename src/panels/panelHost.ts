/**
 * The host's side of the webview envelope (`protocol/envelope`): answers every request, holds events until there are credits.
 *
 * It knows nothing of VS Code nor of any one panel; `test/unit/envelope.test.ts` runs it against the webview's side.
 */
import { Disposables, type Disposable } from '../base/disposables';
import type { ErrorData, FromHost, FromWebview, PanelContract, RequestMessage } from '../protocol/envelope';
import { whyNotPostable } from './postable';

/** How messages travel to the webview and back. `post` must not throw; what it cannot deliver is lost, as to a hidden panel. */
export interface HostTransport {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): Disposable;
}

/** Answers one kind of request; may throw. The signal aborts when the webview cancels, reloads or goes away. */
export type RequestHandler<Params, Result> = (params: Params, signal: AbortSignal) => Promise<Result> | Result;

/** One handler for each request of a contract. */
export type RequestHandlers<C extends PanelContract> = {
  readonly [M in keyof C['requests'] & string]: RequestHandler<C['requests'][M]['params'], C['requests'][M]['result']>;
};

/** What a panel host may be told. */
export interface PanelHostOptions<C extends PanelContract> {
  readonly transport: HostTransport;
  readonly handlers: RequestHandlers<C>;
  /** Turns what a handler threw into what the webview shows; must not let payloads or secrets through. */
  readonly describeError: (error: unknown) => ErrorData;
  /** Called when a generation starts, after older ones were cancelled. */
  readonly onHello?: () => void;
  /** Told about a handler's result or an event that cannot be posted: a mistake in the host, worth a line in its log. */
  readonly onUnpostable?: (name: string, why: string) => void;
  /** How many events may wait for credits before the oldest are dropped. Default 256. */
  readonly maxWaitingEvents?: number;
}

/** Serves one webview. */
export class PanelHost<C extends PanelContract> implements Disposable {
  private readonly disposables = new Disposables();
  private readonly running = new Map<number, AbortController>();
  private waiting: { name: keyof C['events'] & string; payload: C['events'][keyof C['events'] & string] }[] = [];
  private generation: number | undefined;
  private credits = 0;
  private dropped = 0;

  constructor(private readonly options: PanelHostOptions<C>) {
    this.disposables.add(
      options.transport.onMessage((message) => {
        this.receive(message);
      }),
    );
  }

  /** Sends an event as soon as the webview has credits for it. */
  post<E extends keyof C['events'] & string>(name: E, payload: C['events'][E]): void {
    const problem = whyNotPostable(payload);
    if (problem !== undefined) {
      this.options.onUnpostable?.(name, problem);
      return;
    }
    this.waiting.push({ name, payload });
    const excess = this.waiting.length - (this.options.maxWaitingEvents ?? 256);
    if (excess > 0) {
      this.waiting.splice(0, excess);
      this.dropped += excess;
    }
    this.flush();
  }

  /** Aborts what is running and stops listening. */
  dispose(): void {
    this.abortAll();
    this.waiting = [];
    this.disposables.dispose();
  }

  private receive(message: unknown): void {
    if (!isFromWebview<C>(message)) return;
    if (message.kind === 'hello') {
      this.startGeneration(message.generation, message.credits);
      return;
    }
    if (message.generation !== this.generation) return;
    if (message.kind === 'credit') {
      this.credits += message.credits;
      this.flush();
    } else if (message.kind === 'cancel') {
      this.running.get(message.id)?.abort();
    } else if (!this.running.has(message.id)) {
      void this.answer(message);
    }
  }

  private startGeneration(generation: number, credits: number): void {
    this.abortAll();
    this.generation = generation;
    this.credits = credits;
    this.waiting = [];
    this.dropped = 0;
    this.options.onHello?.();
    this.flush();
  }

  private async answer(request: RequestMessage<C>): Promise<void> {
    const { generation, id, method } = request;
    const abort = new AbortController();
    this.running.set(id, abort);
    const outcome = await this.outcomeOf(method, request.params, abort.signal);
    if (this.running.get(id) !== abort) return;
    this.running.delete(id);
    this.send({ kind: 'response', generation, id, ...outcome });
  }

  private async outcomeOf(method: string, params: unknown, signal: AbortSignal): Promise<Outcome> {
    if (!Object.hasOwn(this.options.handlers, method)) {
      return failed({
        reason: 'unknown-request',
        message: 'The panel asked something that this version does not know.',
        retriable: false,
      });
    }
    const handler = this.options.handlers[method] as RequestHandler<unknown, unknown>;
    try {
      const result = await Promise.race([handler(params, signal), aborted(signal)]);
      if (signal.aborted) return failed(cancelledError);
      const problem = whyNotPostable(result);
      if (problem === undefined) return { ok: true, result };
      this.options.onUnpostable?.(method, problem);
      return failed(unpostableError);
    } catch (error) {
      return failed(signal.aborted ? cancelledError : this.options.describeError(error));
    }
  }

  private flush(): void {
    while (this.generation !== undefined && this.credits > 0) {
      const next = this.waiting.shift();
      if (!next) return;
      this.credits -= 1;
      this.send({
        kind: 'event',
        generation: this.generation,
        name: next.name,
        payload: next.payload,
        dropped: this.dropped,
      });
      this.dropped = 0;
    }
  }

  private send(message: FromHost<C>): void {
    this.options.transport.post(message);
  }

  private abortAll(): void {
    const running = [...this.running.values()];
    this.running.clear();
    for (const abort of running) abort.abort();
  }
}

type Outcome = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: ErrorData };

const cancelledError: ErrorData = { reason: 'cancelled', message: 'The request was cancelled.', retriable: true };

const unpostableError: ErrorData = {
  reason: 'unpostable',
  message: 'The answer cannot be shown: it is too large or of a kind that panels do not take.',
  retriable: false,
};

function failed(error: ErrorData): Outcome {
  return { ok: false, error };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener(
      'abort',
      () => {
        reject(new Error('aborted'));
      },
      { once: true },
    );
  });
}

function isFromWebview<C extends PanelContract>(message: unknown): message is FromWebview<C> {
  if (typeof message !== 'object' || message === null) return false;
  const { kind, generation, id, credits, method } = message as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(generation)) return false;
  if (kind === 'hello' || kind === 'credit') return Number.isSafeInteger(credits) && Number(credits) >= 0;
  if (kind === 'cancel') return Number.isSafeInteger(id);
  return kind === 'request' && Number.isSafeInteger(id) && typeof method === 'string';
}
