/**
 * debugging: a handler under VS Code's debugger, fed by a real stream. The debug type, its configurations, the lifeline to the worker
 * and what is left to clean up. It launches `dist/worker.js` and knows no more of it than its launch file and what its lifeline says.
 * Its tests are in `test/host/debug*.test.ts`, and with the worker in `test/worker/runLaunched.test.ts`.
 */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Clock } from '../base/clock';
import { Disposables } from '../base/disposables';
import type { Disposable } from '../base/disposables';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { WriteGate } from '../connections/gate';
import type { HeldByDebugger } from '../connections/heldMessages';
import type { LiveConnection } from '../connections/liveConnection';
import { DebugStatus } from '../ui/debugStatus';
import type { Log } from '../ui/log';
import type { Notifications } from '../ui/notifications';
import { DynamicConfigurations, WorkerConfigurationProvider } from './configurationProvider';
import { DebugGroups } from './debugGroups';
import { DebugGroupSweep } from './debugGroupSweep';
import { entryLink } from './entryLink';
import { removeStaleLaunchFiles } from './launchFile';
import { watchLaunch } from './launchWatch';
import { sessionAttribute } from './nodeConfiguration';
import { debugStatusText } from './statusText';
import { workerDebugType } from './workerConfiguration';
import { WorkerLauncher } from './workerLauncher';
import type { WorkerSession } from './workerSession';

/** What debugging needs from outside. */
export interface WorkerDebuggingDeps {
  readonly context: vscode.ExtensionContext;
  readonly connections: ConnectionRegistry;
  readonly gate: WriteGate;
  readonly ensureWritable: (connection: LiveConnection) => Promise<boolean>;
  readonly held: HeldByDebugger;
  readonly clock: Clock;
  readonly log: Log;
  readonly notifications: Notifications;
}

/** Everything that VS Code's debugger asks this extension, and what it tells. */
export class WorkerDebugging implements Disposable {
  readonly launcher: WorkerLauncher;
  private readonly disposables = new Disposables();
  private readonly sweep: DebugGroupSweep;
  private readonly status: DebugStatus;
  private cancelTick: (() => void) | undefined;

  constructor(private readonly deps: WorkerDebuggingDeps) {
    const { context, connections, gate, held, clock, log, notifications, ensureWritable } = deps;
    const groups = new DebugGroups(context.globalState);
    this.status = this.disposables.add(new DebugStatus(vscode.l10n.t('Redis Streams: worker being debugged')));
    this.launcher = this.disposables.add(
      new WorkerLauncher({
        connections,
        gate,
        ensureWritable,
        groups,
        held,
        clock,
        l10n: vscode.l10n,
        entryLink: ({ profile }, stream) =>
          entryLink({ scheme: vscode.env.uriScheme, extension: context.extension.id, connection: profile.id, stream }),
        watch: (launchFile) =>
          watchLaunch(path.join(context.extensionPath, 'dist', 'worker.js'), launchFile, (error) => {
            log.warn(`Nobody looks after the launch until the worker runs: ${error.message}`);
          }),
        changed: () => {
          this.showStatus();
        },
        failed: (message) => {
          void notifications.error(vscode.l10n.t('The worker ended: {0}', message));
        },
        ended: (session) => {
          this.sessionEnded(session);
        },
      }),
    );
    this.sweep = this.disposables.add(
      new DebugGroupSweep({
        connections,
        gate,
        groups,
        clock,
        log,
        isInUse: ({ connection, stream, group }) =>
          this.launcher
            .list()
            .some(
              (session) =>
                session.connection === connection && session.grant.stream === stream && session.grant.group === group,
            ),
      }),
    );
    this.register();
    removeStaleLaunchFiles(clock.now()).catch((error: unknown) => {
      log.warn(`Launch files of earlier sessions could not be looked for: ${String(error)}`);
    });
  }

  /** The session whose message is shown in the status bar. */
  get shown(): WorkerSession | undefined {
    const all = this.launcher.list();
    return all.find(({ current }) => current) ?? all[0];
  }

  dispose(): void {
    this.cancelTick?.();
    this.disposables.dispose();
  }

  private register(): void {
    const { context, connections, log, notifications } = this.deps;
    const { launcher, disposables } = this;
    const { extensionPath } = context;
    const provider = new WorkerConfigurationProvider({ connections, launcher, extensionPath, log, notifications });
    const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
    disposables.add(vscode.debug.registerDebugConfigurationProvider(workerDebugType, provider));
    disposables.add(
      vscode.debug.registerDebugConfigurationProvider(workerDebugType, new DynamicConfigurations(connections), dynamic),
    );
    disposables.add(
      vscode.debug.registerDebugAdapterTrackerFactory('pwa-node', {
        createDebugAdapterTracker: (debugSession) => this.track(debugSession),
      }),
    );
    disposables.add(
      vscode.debug.onDidTerminateDebugSession((debugSession) => {
        if (debugSession.parentSession === undefined) this.sessionOf(debugSession)?.dispose();
      }),
    );
  }

  private track(debugSession: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    const session = this.sessionOf(debugSession);
    if (!session) return undefined;
    this.launcher.begun(session);
    return {
      onDidSendMessage: (message: unknown) => {
        const event = nameIn(message, 'event');
        if (event === 'stopped') session.setPaused(debugSession.id, true);
        else if (event === 'continued') session.setPaused(debugSession.id, false);
      },
      onWillStopSession: () => {
        session.setPaused(debugSession.id, false);
      },
      onWillReceiveMessage: (message: unknown) => {
        const command = nameIn(message, 'command');
        if (command === undefined) return;
        if (goesOn.has(command)) session.setPaused(debugSession.id, false);
        if (command === 'restart') session.rearm();
        // Told apart from the debugger's own asking, which a busy thread cannot hear. Sessions below the first end with theirs.
        const isEnd = command === 'terminate' || command === 'disconnect';
        if (isEnd && debugSession.parentSession === undefined) session.stop();
      },
    };
  }

  private sessionOf(debugSession: vscode.DebugSession): WorkerSession | undefined {
    let root = debugSession;
    while (root.parentSession) root = root.parentSession;
    const id: unknown = root.configuration[sessionAttribute];
    return typeof id === 'string' ? this.launcher.find(id) : undefined;
  }

  private sessionEnded(session: WorkerSession): void {
    const connection = session.isIsolated ? this.deps.connections.find(session.connection) : undefined;
    if (connection) this.sweep.sessionEnded(connection);
  }

  private showStatus(): void {
    this.cancelTick?.();
    this.cancelTick = undefined;
    const { clock } = this.deps;
    const sessions = this.launcher.list();
    this.status.show(debugStatusText(sessions, { l10n: vscode.l10n, nowMs: clock.now() }));
    if (!sessions.some(({ pausedSinceMs }) => pausedSinceMs !== undefined)) return;
    this.cancelTick = clock.after(1000, () => {
      this.showStatus();
    });
  }
}

/** Requests after which the debugged thread runs again. */
const goesOn: ReadonlySet<string> = new Set(['continue', 'next', 'stepIn', 'stepOut']);

function nameIn(message: unknown, property: 'event' | 'command'): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const value = (message as Readonly<Record<string, unknown>>)[property];
  return typeof value === 'string' ? value : undefined;
}
