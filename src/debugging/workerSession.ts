import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposables';
import type { EntryId } from '../bus';
import type { HeldByDebugger } from '../connections/heldMessages';
import type { ConnectionId } from '../connections/profiles';
import type { LaunchGrant } from '../connections/verbs/launchWorker';
import { writeLaunchFile } from './launchFile';
import type { LaunchFileOnDisk, WorkerLaunch } from './launchFile';
import type { LaunchWatch } from './launchWatch';
import { LifelineServer } from './lifelineServer';
import type { WorkerMessage } from './lifelineServer';

/** What a session is made of. */
export interface WorkerSessionDeps {
  readonly connection: ConnectionId;
  readonly grant: LaunchGrant;
  /** True when the group is the session's own. */
  readonly isIsolated: boolean;
  readonly held: HeldByDebugger;
  readonly clock: Clock;
  /** Looks after a launch until its worker can. */
  readonly watch: (launchFile: string) => LaunchWatch;
  /** Something to be shown changed. */
  readonly changed: () => void;
  /** The worker says that it cannot go on. */
  readonly failed: (message: string) => void;
  /** The worker's process has ended, or never came. */
  readonly ended: (session: WorkerSession) => void;
}

/** The launch file holds secrets: it lies there for no longer than this, whether or not anybody took it. */
const launchFileMs = 60_000;

/** A launched worker, from its launch file until its process is gone. */
export class WorkerSession implements Disposable {
  readonly id = randomUUID();
  /** The message that its handler has, how often it was delivered, and since when the debugger is stopped. */
  current: { readonly id: EntryId; readonly deliveryCount: number } | undefined;
  pausedSinceMs: number | undefined;
  private readonly lifeline: LifelineServer;
  private launch: WorkerLaunch | undefined;
  private file: LaunchFileOnDisk | undefined;
  private cancelRemoval: (() => void) | undefined;
  private launchWatch: LaunchWatch | undefined;
  private readonly pausedThreads = new Set<string>();
  private isOver = false;

  constructor(private readonly deps: WorkerSessionDeps) {
    this.lifeline = new LifelineServer({
      said: (message) => {
        this.said(message);
      },
      ended: () => {
        this.hold(undefined);
      },
    });
  }

  get connection(): ConnectionId {
    return this.deps.connection;
  }

  get grant(): LaunchGrant {
    return this.deps.grant;
  }

  get isIsolated(): boolean {
    return this.deps.isIsolated;
  }

  /** Opens the lifeline and writes the launch file; answers its path. */
  async arm(launch: Omit<WorkerLaunch, 'lifeline'>): Promise<string> {
    const port = await this.lifeline.listen();
    this.launch = { ...launch, lifeline: { port, token: this.lifeline.token } };
    return this.writeFile(this.launch);
  }

  /** Writes the launch file again, at the same place: the debugger is about to restart the program. */
  rearm(): void {
    if (this.launch) this.writeFile(this.launch);
  }

  /** The debugger stopped a thread of the worker, or let it go on; each thread has a debug session of its own. */
  setPaused(thread: string, isPaused: boolean): void {
    if (isPaused) this.pausedThreads.add(thread);
    else this.pausedThreads.delete(thread);
    const isAnyPaused = this.pausedThreads.size > 0;
    if (isAnyPaused === (this.pausedSinceMs !== undefined)) return;
    this.pausedSinceMs = isAnyPaused ? this.deps.clock.now() : undefined;
    this.deps.changed();
  }

  /** Asks the worker to end; it does also while it is paused or busy. */
  stop(): void {
    this.lifeline.stop({ isPaused: this.pausedSinceMs !== undefined });
  }

  /** Ends it: the lifeline is cut, so that whatever still runs ends itself. */
  dispose(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.cancelRemoval?.();
    this.file?.remove();
    this.launchWatch?.abandon();
    this.lifeline.dispose();
    this.hold(undefined);
    this.deps.ended(this);
  }

  private writeFile(launch: WorkerLaunch): string {
    this.cancelRemoval?.();
    const { file = writeLaunchFile(launch) } = this;
    if (this.file) file.write(launch);
    this.file = file;
    this.launchWatch ??= this.deps.watch(file.path);
    this.cancelRemoval = this.deps.clock.after(launchFileMs, () => {
      file.clear();
    });
    return file.path;
  }

  private said(message: WorkerMessage): void {
    switch (message.type) {
      case 'hello':
        this.launchWatch?.launched();
        this.launchWatch = undefined;
        break;
      case 'ready':
        this.hold(undefined);
        break;
      case 'delivered':
        this.hold({ id: message.id as EntryId, deliveryCount: message.deliveryCount });
        break;
      case 'settled':
        if (message.id === this.current?.id) this.hold(undefined);
        break;
      case 'error':
        this.deps.failed(message.message);
        break;
      default:
    }
  }

  private hold(message: WorkerSession['current']): void {
    this.current = message;
    const { connection, grant, held } = this.deps;
    const { stream, group, consumer } = grant;
    const ids = message ? [message.id] : [];
    held.set(this.id, this.isOver ? undefined : { connection, stream, group, consumer, ids });
    this.deps.changed();
  }
}
