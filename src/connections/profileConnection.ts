import type { Clock } from '../base/clock';
import { Emitter } from '../base/emitter';
import type { Disposable } from '../base/disposables';
import type { Localizer } from '../base/localize';
import { BusError } from '../bus';
import type { StreamKey, StreamPort } from '../bus';
import { ConnectionError } from './connectionFailure';
import type { ConnectionFailure } from './connectionFailure';
import { describeConnectFailure, linkFailures, reasonOf } from './describeFailure';
import { leaveGateAccess } from './gatePorts';
import { Lane } from './lane';
import { bindInspector } from './inspector';
import type { Inspector } from './inspector';
import type { InspectPort, OpenPort } from './inspectPort';
import type { ConnectionState, LiveConnection, ReadOptions, ServerDescription } from './liveConnection';
import type { ConnectionProfile } from './profiles';

/** What a connection needs from outside. */
export interface ProfileConnectionDeps {
  readonly openPort: OpenPort;
  /** The URL with variables and secrets put in; throws a ConnectionError when that cannot be done. */
  readonly resolveUrl: (profile: ConnectionProfile) => Promise<string>;
  readonly clock: Clock;
  readonly l10n: Localizer;
  /** Told of every change of state, for the log. */
  readonly onState?: (profile: ConnectionProfile, state: ConnectionState) => void;
  /** Default 60 s. */
  readonly idleMs?: number;
}

/** How long to wait before each attempt to make a lost link again; the last one repeats. */
export const retryDelaysMs: readonly number[] = [1000, 2000, 4000, 8000, 15_000, 30_000];

/**
 * A profile's connection: one control and one bulk link, made when first needed and closed when idle. Nothing is queued while a
 * link is down and nothing is resent. A lost link is tried again only while somebody holds the connection.
 */
export class ProfileConnection implements LiveConnection, Disposable {
  private current: ConnectionState = { kind: 'disconnected', byUser: false };
  private currentProfile: ConnectionProfile;
  private connecting: Promise<void> | undefined;
  /** Counts up whenever what is under way no longer matters: disconnect, a new profile, the end. */
  private generation = 0;
  private attempts = 0;
  private unlockedUntilMs: number | undefined;
  private cancelRetry: (() => void) | undefined;
  /** Keys of dead letters that the user may not read; forgotten when the connection starts afresh, not with each new link. */
  private readonly denied = new Set<StreamKey>();
  private readonly holds = new Set<Disposable>();
  private readonly changed = new Emitter<void>();
  private readonly lanes: Readonly<Record<'control' | 'bulk', Lane>>;

  constructor(
    profile: ConnectionProfile,
    private readonly deps: ProfileConnectionDeps,
  ) {
    this.currentProfile = profile;
    const lane = (mayIdle: () => boolean): Lane =>
      new Lane({
        open: async (onClosed) => deps.openPort(await deps.resolveUrl(this.profile), { onClosed }),
        onClosed: () => {
          this.lose(new BusError('connection-lost', 'The link broke.'));
        },
        mayIdle,
        clock: deps.clock,
        idleMs: deps.idleMs ?? 60_000,
      });
    this.lanes = { control: lane(() => this.holds.size === 0), bulk: lane(() => true) };
    leaveGateAccess(this, {
      use: (work) => this.using('control', work),
      setWritableUntil: (atMs) => {
        if (atMs === this.unlockedUntilMs && atMs === undefined) return;
        this.unlockedUntilMs = atMs;
        this.changed.fire();
      },
    });
  }

  get profile(): ConnectionProfile {
    return this.currentProfile;
  }

  get state(): ConnectionState {
    return this.current;
  }

  get isReadOnly(): boolean {
    return this.profile.environment !== 'local' && this.writableUntilMs === undefined;
  }

  get writableUntilMs(): number | undefined {
    const until = this.unlockedUntilMs;
    return until !== undefined && until > this.deps.clock.now() ? until : undefined;
  }

  readonly onDidChange = (listener: () => void): Disposable => this.changed.event(listener);

  async connect(signal?: AbortSignal): Promise<void> {
    if (this.current.kind === 'connected') return;
    this.connecting ??= this.attempt(this.generation).finally(() => {
      this.connecting = undefined;
    });
    await untilAborted(this.connecting, signal);
  }

  disconnect(): void {
    this.unlockedUntilMs = undefined;
    this.closeLinks();
    this.set({ kind: 'disconnected', byUser: true });
  }

  async read<T>(work: (inspect: Inspector, signal: AbortSignal) => Promise<T>, options: ReadOptions = {}): Promise<T> {
    const { signal = new AbortController().signal, lane = 'control' } = options;
    return this.using(lane, (port) => untilAborted(work(bindInspector(port, this.denied), signal), signal), signal);
  }

  hold(): Disposable {
    const own: Disposable = {
      dispose: () => {
        this.holds.delete(own);
        if (this.holds.size === 0) this.cancelRetry?.();
        this.lanes.control.considerIdle();
      },
    };
    this.holds.add(own);
    if (this.current.kind === 'lost') this.scheduleRetry();
    return own;
  }

  /** Takes over an edited profile; when it leads elsewhere the links are dropped and made anew on the next read. */
  replaceProfile(profile: ConnectionProfile): void {
    const leadsElsewhere = profile.url !== this.currentProfile.url;
    // What was unlocked was another server, or was thought to be less dear.
    if (leadsElsewhere || profile.environment !== this.currentProfile.environment) this.unlockedUntilMs = undefined;
    this.currentProfile = profile;
    if (leadsElsewhere) this.reset();
    else this.changed.fire();
  }

  /** Drops the links and forgets failures, because a password or the profile changed. */
  reset(): void {
    this.closeLinks();
    this.set({ kind: 'disconnected', byUser: false });
  }

  /** Ends it for good: reads that still come, from a panel of a removed connection, find it disconnected. */
  dispose(): void {
    this.closeLinks();
    this.current = { kind: 'disconnected', byUser: true };
    this.changed.fire();
    this.changed.dispose();
  }

  /** Why a read may not connect by itself now; without this rule every redraw of a failure would be another attempt. */
  private obstacle(): ConnectionFailure | undefined {
    const state = this.current;
    if (state.kind === 'lost') return this.deps.clock.now() < state.retryAtMs ? state.failure : undefined;
    if (state.kind !== 'disconnected') return undefined;
    if (state.failure) return state.failure;
    return state.byUser || this.profile.source === 'workspace' ? this.notConnected() : undefined;
  }

  private async using<T>(
    lane: 'control' | 'bulk',
    work: (port: InspectPort) => Promise<T>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<T> {
    signal.throwIfAborted();
    const obstacle = this.obstacle();
    if (obstacle) throw new ConnectionError(obstacle);
    const { generation } = this;
    await this.connect(signal);
    // Dropped meanwhile: without this check the lane would open a new link for a connection that is over.
    if (generation !== this.generation) throw new ConnectionError(this.notConnected());
    try {
      return await this.lanes[lane].use(work);
    } catch (error) {
      const reason = reasonOf(error);
      if (linkFailures.has(reason) && generation === this.generation) this.lose(error);
      throw error;
    }
  }

  private async attempt(generation: number): Promise<void> {
    this.cancelRetry?.();
    const isReconnecting = this.current.kind === 'lost';
    if (!isReconnecting) this.set({ kind: 'connecting' });
    try {
      const server = await this.lanes.control.use(async (port) => describe(await port.capabilities()));
      if (generation !== this.generation) throw new ConnectionError(this.notConnected());
      this.attempts = 0;
      this.set({ kind: 'connected', server });
    } catch (error) {
      const failure = describeConnectFailure(error, this.profile, this.deps.l10n);
      if (generation === this.generation) {
        this.lanes.control.close();
        if (isReconnecting && (linkFailures.has(failure.reason) || failure.reason === 'loading'))
          this.waitForRetry(failure);
        else this.set({ kind: 'disconnected', byUser: false, failure });
      }
      throw new ConnectionError(failure, { cause: error });
    }
  }

  /** A link broke: both are given up, since what breaks one nearly always breaks the other. */
  private lose(error: unknown): void {
    if (this.current.kind !== 'connected') return;
    this.lanes.control.close();
    this.lanes.bulk.close();
    this.waitForRetry(describeConnectFailure(error, this.profile, this.deps.l10n));
  }

  private waitForRetry(failure: ConnectionFailure): void {
    const delayMs = retryDelaysMs[Math.min(this.attempts, retryDelaysMs.length - 1)] ?? 0;
    this.attempts += 1;
    this.set({ kind: 'lost', failure, retryAtMs: this.deps.clock.now() + delayMs });
    this.scheduleRetry();
  }

  private scheduleRetry(): void {
    this.cancelRetry?.();
    if (this.current.kind !== 'lost' || this.holds.size === 0) return;
    const cancel = this.deps.clock.after(Math.max(0, this.current.retryAtMs - this.deps.clock.now()), () => {
      this.connect().catch(() => {
        // The failure is in the state, where tree and panels show it.
      });
    });
    this.cancelRetry = () => {
      cancel();
      this.cancelRetry = undefined;
    };
  }

  private closeLinks(): void {
    this.generation += 1;
    this.denied.clear();
    this.attempts = 0;
    this.connecting = undefined;
    this.cancelRetry?.();
    this.lanes.control.close();
    this.lanes.bulk.close();
  }

  private set(state: ConnectionState): void {
    this.current = state;
    this.deps.onState?.(this.profile, state);
    this.changed.fire();
  }

  private notConnected(): ConnectionFailure {
    return {
      reason: 'disconnected',
      message: this.deps.l10n.t('{0} is not connected.', this.profile.name),
      retriable: true,
      nextStep: { title: this.deps.l10n.t('Connect'), command: 'redisStreams.connect' },
    };
  }
}

function describe(capabilities: Awaited<ReturnType<StreamPort['capabilities']>>): ServerDescription {
  const { server, version, role, isCluster } = capabilities;
  return { kind: server, version, role, isCluster };
}

/** Rejects as soon as the signal aborts; the work itself goes on unheard. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => {
      reject(abortReason(signal));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      signal.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}

function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException('The read was cancelled.', 'AbortError');
}
