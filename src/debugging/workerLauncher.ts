import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposables';
import type { Localizer } from '../base/localize';
import type { StreamKey } from '../bus';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { WriteGate } from '../connections/gate';
import type { HeldByDebugger } from '../connections/heldMessages';
import type { LiveConnection } from '../connections/liveConnection';
import { launchWorker } from '../connections/verbs/launchWorker';
import type { LaunchGrant } from '../connections/verbs/launchWorker';
import type { DebugGroups } from './debugGroups';
import { askBeforeLaunch } from './launchQuestions';
import type { LaunchWatch } from './launchWatch';
import { LaunchError, planLaunch } from './launchPlan';
import type { WorkerConfiguration } from './workerConfiguration';
import { WorkerSession } from './workerSession';

/** What launching needs. */
export interface WorkerLauncherDeps {
  readonly connections: ConnectionRegistry;
  readonly gate: WriteGate;
  /** Asks to unlock writing when it is locked; false when it stays locked. */
  readonly ensureWritable: (connection: LiveConnection) => Promise<boolean>;
  readonly groups: DebugGroups;
  readonly held: HeldByDebugger;
  readonly clock: Clock;
  readonly l10n: Localizer;
  /** A link that leads to an entry of a stream when its id is appended; undefined when none can be made. */
  readonly entryLink: (connection: LiveConnection, stream: StreamKey) => string | undefined;
  /** Looks after a launch until its worker can. */
  readonly watch: (launchFile: string) => LaunchWatch;
  readonly changed: () => void;
  readonly failed: (message: string) => void;
  readonly ended: (session: WorkerSession) => void;
}

/** A session that was never taken up by the debugger is given up after this. */
const abandonedMs = 60_000;

/** Gets a worker ready to be launched: asks, has the launch granted, writes its launch file. And knows the sessions of this window. */
export class WorkerLauncher implements Disposable {
  private readonly sessions = new Map<string, WorkerSession>();
  private readonly waiting = new Map<string, () => void>();

  constructor(private readonly deps: WorkerLauncherDeps) {}

  /** The sessions that run or are about to. */
  list(): readonly WorkerSession[] {
    return [...this.sessions.values()];
  }

  find(id: string): WorkerSession | undefined {
    return this.sessions.get(id);
  }

  /** The connection that a configuration names; throws a LaunchError. */
  connectionNamed(name: string): LiveConnection {
    const { connections, l10n } = this.deps;
    const all = connections.list();
    const found = all.find(({ profile }) => profile.name === name) ?? all.find(({ profile }) => profile.id === name);
    if (found) return found;
    const known = all.map(({ profile }) => profile.name).join(', ');
    throw new LaunchError(
      'connection',
      known === ''
        ? l10n.t('connection: there is no connection yet. Add one in the Redis Streams view.')
        : l10n.t('connection: there is none named {0}; known are {1}.', name, known),
    );
  }

  /**
   * Prepares a launch; undefined when the person would rather not. Rejects with a LaunchError, or with the error of the connection.
   * Nothing has been read from a stream or written to a server by then, but the action log has the grant.
   */
  async prepare(
    configuration: WorkerConfiguration,
  ): Promise<{ readonly session: WorkerSession; readonly launchFile: string } | undefined> {
    const { groups, l10n } = this.deps;
    const connection = this.connectionNamed(configuration.connection);
    await connection.connect();
    const { id } = connection.profile;
    const plan = await planLaunch(connection, configuration, {
      groups,
      l10n,
      isInUse: (stream, group) =>
        this.list().some(
          (session) => session.connection === id && session.grant.stream === stream && session.grant.group === group,
        ),
    });
    const { grant, from, formerConsumers } = plan;
    const isIsolated = formerConsumers !== undefined;
    if (!(await this.requestLaunchGrant(connection, grant, isIsolated))) return undefined;
    const { stream, group, consumer } = grant;
    if (isIsolated) await groups.remember({ connection: id, stream, group }, consumer);
    const session = this.open(connection, grant, isIsolated);
    try {
      const entryLink = this.deps.entryLink(connection, stream);
      const launchFile = await session.arm({
        url: await this.deps.connections.urlWithSecrets(connection.profile),
        stream,
        group,
        consumer,
        from,
        grant: {
          createGroup: grant.mayCreateGroup,
          reclaim: grant.mayReclaim,
          deadLetter: grant.mayDeadLetter,
          journal: grant.mayJournal ?? false,
        },
        ...(formerConsumers === undefined ? {} : { ownGroup: { formerConsumers } }),
        ...(configuration.handler === undefined ? {} : { handler: configuration.handler }),
        ...(configuration.maxMessages === undefined ? {} : { maxMessages: configuration.maxMessages }),
        ...(entryLink === undefined ? {} : { entryLink }),
      });
      return { session, launchFile };
    } catch (error) {
      session.dispose();
      throw error;
    }
  }

  /** The debugger has taken a session up: from now on it says when it is over. */
  begun(session: WorkerSession): void {
    this.waiting.get(session.id)?.();
    this.waiting.delete(session.id);
  }

  dispose(): void {
    for (const cancel of this.waiting.values()) cancel();
    this.waiting.clear();
    for (const session of this.list()) session.dispose();
  }

  /** The one place where a launch is allowed: it is a verb of the write gate, which refuses it and writes it down like any other. */
  private async requestLaunchGrant(
    connection: LiveConnection,
    grant: LaunchGrant,
    isIsolated: boolean,
  ): Promise<boolean> {
    const { gate, ensureWritable, l10n } = this.deps;
    if (!(await askBeforeLaunch(connection, grant, { isIsolated, l10n }))) return false;
    if (!(await ensureWritable(connection))) return false;
    const report = await gate.run(await gate.plan(connection, launchWorker, grant));
    return report.results.every(({ outcome }) => outcome === 'done');
  }

  private open({ profile }: LiveConnection, grant: LaunchGrant, isIsolated: boolean): WorkerSession {
    const { held, clock, watch, changed, failed, ended } = this.deps;
    const session = new WorkerSession({
      connection: profile.id,
      grant,
      isIsolated,
      held,
      clock,
      watch,
      changed,
      failed,
      ended: (over) => {
        this.begun(over);
        this.sessions.delete(over.id);
        changed();
        ended(over);
      },
    });
    this.sessions.set(session.id, session);
    this.waiting.set(
      session.id,
      clock.after(abandonedMs, () => {
        session.dispose();
      }),
    );
    return session;
  }
}
