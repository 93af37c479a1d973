import type { Disposable } from '../../base/disposables';
import { companionKey } from '../companionKeys';
import { BusError } from '../errors';
import type { ConsumerName, GroupName, StreamKey } from '../ids';
import { ConfigError } from '../options';
import type { StreamPort } from '../port';
import type { ConsumerWatch } from '../telemetry/consumerWatch';
import { exponential } from './backoff';
import { closeConsumer } from './close';
import type { CloseReport } from './closeReport';
import type { Handlers, ResolvedConsumerOptions } from './consumerOptions';
import { ConsumerParts } from './consumerParts';
import { EventHub } from './events';
import type { ConsumerEventName, ConsumerEvents } from './events';
import { loopStatus } from './health';
import type { ConsumerHealth } from './health';
import type { HeartbeatConnection } from './heartbeatThread';

type State = 'idle' | 'starting' | 'running' | 'failed' | 'closing' | 'closed';

/**
 * A consumer of one stream in one group: reads entries, runs the handler for each and settles them by how it ends. At least once:
 * an entry is acknowledged only after its handler returned, or when it is among the dead letters.
 *
 * Made by `Bus.consume`. Tests are in `test/bus/consume*.test.ts`; docs/bus.md has the table of what happens when.
 */
export class Consumer {
  private readonly events = new EventHub();
  private parts: ConsumerParts | undefined;
  private state: State = 'idle';
  private isPaused = false;
  private failure: unknown;
  private starting: Promise<void> | undefined;
  private closing: Promise<CloseReport> | undefined;
  private stopWaiting: (() => void) | undefined;

  constructor(
    private readonly port: StreamPort,
    private readonly options: ResolvedConsumerOptions,
    private readonly handlers: Handlers,
    /** How a heartbeat thread would connect; undefined when it cannot. */
    private readonly connection: HeartbeatConnection | undefined,
    private readonly watch: ConsumerWatch,
  ) {
    if (options.thread && !connection)
      throw new ConfigError(
        'unsupported',
        'consumer.ownership.thread',
        'consumer.ownership.thread: a thread needs a connection of its own, so the bus must be made from a URL, not a port',
      );
  }

  get name(): ConsumerName {
    return this.options.name;
  }

  get stream(): StreamKey {
    return this.options.stream;
  }

  get group(): GroupName {
    return this.options.group;
  }

  /** Listens to an event until the returned disposable is disposed. */
  on<Name extends ConsumerEventName>(name: Name, listener: (event: ConsumerEvents[Name]) => void): Disposable {
    return this.events.on(name, listener);
  }

  /**
   * Connects, makes the group when that is allowed and begins to read. Resolves when the first read can begin; while the server is
   * not to be reached it is tried again and again. Rejects with a BusError when no retry can mend it (wrong type, no permission, no
   * such group), with a ConfigError when the stream's name allows no dead letters on a cluster.
   */
  start(): Promise<void> {
    if (this.state === 'closing' || this.state === 'closed')
      return Promise.reject(new BusError('closed', 'The consumer was closed; make a new one'));
    this.starting ??= this.begin();
    return this.starting;
  }

  /** Stops reading and starting handlers. What is held is kept by heartbeats; handlers that run go on. */
  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.parts?.pause();
    this.events.emit('paused', { name: this.name });
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.parts?.resume();
    this.events.emit('resumed', { name: this.name });
  }

  /** How it is doing. */
  health(): ConsumerHealth {
    const { parts } = this;
    const lastProgressAgeMs = parts ? this.options.clock.now() - parts.loop.lastProgressMs : 0;
    return {
      status: this.status(lastProgressAgeMs),
      lastProgressAgeMs,
      queued: parts?.slots.queued ?? 0,
      inFlight: parts?.runs.running.size ?? 0,
      stuck: parts?.runs.stuck ?? 0,
      unsettled: parts?.settler.unsettled ?? 0,
      reconnects: parts?.loop.reconnects ?? 0,
      lastError: this.failure ?? parts?.loop.lastError,
    };
  }

  /**
   * Stops reading at once, gives back what was not started without counting its delivery, waits up to `timeoutMs` (default 10,000)
   * for the handlers that run, then aborts them and waits out their grace, settles everything, and removes the consumer from the
   * group when it owns nothing. Takes at most the time, the grace and a second. A second call gets the same report.
   */
  close(options: { readonly timeoutMs?: number } = {}): Promise<CloseReport> {
    this.closing ??= this.end(options.timeoutMs ?? 10_000);
    return this.closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async begin(): Promise<void> {
    this.state = 'starting';
    try {
      const deadLetters = await this.deadLetterKey();
      const journal = await this.journalKey();
      if (this.isEnding()) return;
      const parts = new ConsumerParts({
        port: this.port,
        options: this.options,
        handlers: this.handlers,
        events: this.events,
        connection: this.connection,
        watch: this.watch,
        deadLetters,
        journal,
        failed: (error) => {
          this.fail(error);
        },
      });
      this.parts = parts;
      if (this.isPaused) parts.pause();
      await parts.start();
      if (this.isEnding()) return;
      this.state = 'running';
      this.events.emit('started', { name: this.name });
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  private fail(error: unknown): void {
    if (this.isEnding() || this.state === 'failed') return;
    this.state = 'failed';
    this.failure = error;
    this.events.emit('fatal', { error });
  }

  /** Where dead letters go. On a cluster that must be in the slot of the stream, because they move in one script. */
  private async deadLetterKey(): Promise<StreamKey | undefined> {
    const { deadLetters, stream } = this.options;
    if (!deadLetters) return undefined;
    const { isCluster } = await this.reachable(() => this.port.capabilities());
    const { key, sameSlot } = companionKey(stream, 'dlq', { isCluster });
    if (deadLetters.key !== undefined) return deadLetters.key;
    if (sameSlot) return key;
    throw new ConfigError(
      'unsupported',
      'consumer.deadLetters',
      `consumer.deadLetters: on a cluster no companion key of ${stream} is in its slot; expected deadLetters.key in that slot, or false`,
    );
  }

  /** Where the journal goes. It need not be in the slot of the stream: nothing else is in the call that writes it. */
  private async journalKey(): Promise<StreamKey | undefined> {
    if (!this.options.journal) return undefined;
    const { isCluster } = await this.reachable(() => this.port.capabilities());
    return companionKey(this.options.stream, 'journal', { isCluster }).key;
  }

  private async reachable<T>(ask: () => Promise<T>): Promise<T> {
    const backoff = exponential({ baseMs: 100, maxMs: 5000 });
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!BusError.is(error) || !error.retriable || this.isEnding()) throw error;
        const retryInMs = backoff(attempt);
        this.events.emit('reader-failed', { error, attempt, retryInMs });
        await new Promise<void>((resolve) => {
          const cancel = this.options.clock.after(retryInMs, resolve);
          this.stopWaiting = () => {
            cancel();
            resolve();
          };
        });
        if (this.isEnding()) throw error;
      }
    }
  }

  private async end(timeoutMs: number): Promise<CloseReport> {
    this.state = 'closing';
    this.stopWaiting?.();
    const report = await closeConsumer(this.parts, this.port, this.options, timeoutMs);
    this.state = 'closed';
    this.events.emit('closed', report);
    return report;
  }

  private isEnding(): boolean {
    return this.state === 'closing' || this.state === 'closed';
  }

  private status(lastProgressAgeMs: number): ConsumerHealth['status'] {
    const { loop } = this.parts ?? {};
    if (this.state !== 'running' && this.state !== 'starting') return this.state;
    if (!loop) return this.state;
    const status = loopStatus({
      isFailing: loop.isFailing,
      isWaitingForRoom: loop.isWaitingForRoom,
      lastProgressAgeMs,
      blockMs: this.options.blockMs,
    });
    if (status !== 'running') return status;
    return this.isPaused ? 'paused' : this.state;
  }
}
