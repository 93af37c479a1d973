/**
 * The webview's side of the envelope (`src/protocol/envelope`): asks, cancels, grants credits, and ignores what is out of date.
 *
 * It knows nothing of any one panel; `test/unit/envelope.test.ts` runs it against the host's side.
 */
import type { ErrorData, FromHost, FromWebview, PanelContract } from '../src/protocol/envelope';

/** How messages travel to the host and back. */
export interface ClientTransport {
  post(message: unknown): void;
  /** Calls the listener for each message of the host; the returned function stops that. */
  onMessage(listener: (message: unknown) => void): () => void;
}

/** A request that the host answered with an error. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(readonly data: ErrorData) {
    super(data.message);
  }
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Talks to one panel's host. Create one for each page load; `restart` when the page becomes visible again. */
export class PanelClient<C extends PanelContract> {
  private readonly pending = new Map<number, Pending>();
  private readonly listeners = new Map<string, (payload: never, dropped: number) => void>();
  private readonly stopListening: () => void;
  private generation: number;
  private nextId = 1;
  private isDisposed = false;

  constructor(
    private readonly transport: ClientTransport,
    private readonly options: { readonly credits: number; readonly firstGeneration: number },
  ) {
    this.generation = options.firstGeneration;
    this.stopListening = transport.onMessage((message) => {
      this.receive(message);
    });
  }

  /** Starts the current generation; call it once the listeners are set. */
  start(): void {
    this.send({ kind: 'hello', generation: this.generation, credits: this.options.credits });
  }

  /** Starts a new generation: what was asked before is rejected with reason `cancelled`. */
  restart(): void {
    this.rejectAll();
    this.generation += 1;
    this.start();
  }

  /** Sets what happens on an event of the host; each handled event gives its credit back. */
  on<E extends keyof C['events'] & string>(
    name: E,
    listener: (payload: C['events'][E], dropped: number) => void,
  ): void {
    this.listeners.set(name, listener);
  }

  /** Asks the host; rejects with a RequestError when it answers with an error or the signal aborts. */
  request<M extends keyof C['requests'] & string>(
    method: M,
    params: C['requests'][M]['params'],
    signal?: AbortSignal,
  ): Promise<C['requests'][M]['result']> {
    if (signal?.aborted === true || this.isDisposed) return Promise.reject(new RequestError(cancelledError));
    const id = this.nextId++;
    const generation = this.generation;
    return new Promise<C['requests'][M]['result']>((resolve, reject) => {
      const onAbort = (): void => {
        this.cancel(generation, id);
      };
      const settled = (): void => {
        signal?.removeEventListener('abort', onAbort);
      };
      this.pending.set(id, {
        resolve: (result) => {
          settled();
          resolve(result);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        this.send({ kind: 'request', generation, id, method, params });
      } catch (error) {
        this.pending.get(id)?.reject(error instanceof Error ? error : new Error(String(error)));
        this.pending.delete(id);
      }
    });
  }

  /** Stops listening and rejects what is open. */
  dispose(): void {
    this.isDisposed = true;
    this.rejectAll();
    this.stopListening();
  }

  private receive(message: unknown): void {
    if (!isFromHost<C>(message) || message.generation !== this.generation) return;
    if (message.kind === 'event') {
      try {
        this.listeners.get(message.name)?.(message.payload as never, message.dropped);
      } finally {
        this.send({ kind: 'credit', generation: this.generation, credits: 1 });
      }
      return;
    }
    const pending = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.ok) pending?.resolve(message.result);
    else pending?.reject(new RequestError(message.error));
  }

  private cancel(generation: number, id: number): void {
    const pending = this.pending.get(id);
    if (!pending || generation !== this.generation) return;
    this.pending.delete(id);
    this.send({ kind: 'cancel', generation, id });
    pending.reject(new RequestError(cancelledError));
  }

  private rejectAll(): void {
    const open = [...this.pending.values()];
    this.pending.clear();
    for (const pending of open) pending.reject(new RequestError(cancelledError));
  }

  private send(message: FromWebview<C>): void {
    this.transport.post(message);
  }
}

const cancelledError: ErrorData = { reason: 'cancelled', message: 'The request was cancelled.', retriable: true };

function isFromHost<C extends PanelContract>(message: unknown): message is FromHost<C> {
  if (typeof message !== 'object' || message === null) return false;
  const { kind, generation, id, ok, error, name, dropped } = message as Readonly<Record<string, unknown>>;
  if (typeof generation !== 'number') return false;
  if (kind === 'event') return typeof name === 'string' && typeof dropped === 'number';
  return kind === 'response' && typeof id === 'number' && (ok === true || (ok === false && isErrorData(error)));
}

function isErrorData(value: unknown): value is ErrorData {
  if (typeof value !== 'object' || value === null) return false;
  const { reason, message, retriable } = value as Readonly<Record<string, unknown>>;
  return typeof reason === 'string' && typeof message === 'string' && typeof retriable === 'boolean';
}
