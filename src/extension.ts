/**
 * The composition root: builds every part by hand, top to bottom, and hands each what it needs. Nothing connects to a server here.
 */
import * as vscode from 'vscode';
import { systemClock } from './base/clock';
import { createCommandHandlers } from './commands/handlers';
import { actOnEntry } from './commands/actions/actOnEntry';
import { ensureUnlocked } from './commands/actions/unlock';
import type { CommandServices, OpenStreamPanel } from './commands/commandServices';
import { createUriHandler } from './commands/debugCommands';
import { registerCommands } from './commands/register';
import { getSetting } from './commands/treeCommands';
import { FileActionLog } from './connections/actionLog';
import { ConnectionRegistry } from './connections/connectionRegistry';
import { readConnectionSetting } from './connections/connectionSetting';
import { WriteGate } from './connections/gate';
import { openRedisPort } from './connections/openRedisPort';
import { HeldByDebugger } from './connections/heldMessages';
import { logState } from './connections/logState';
import { ProfileStore } from './connections/profileStore';
import type { ContextKey } from './manifest/contextKeys';
import { settingKeys } from './manifest/settings';
import { WorkerDebugging } from './debugging/workerDebugging';
import { InspectReader } from './panels/inspectReader';
import { StreamPanels } from './panels/streamPanels';
import { Sandbox } from './sandbox/sandbox';
import { ConnectionStatus } from './tree/connectionStatus';
import { connectionOf, Explorer } from './tree/explorer';
import { createLog } from './ui/log';
import { createNotifications } from './ui/notifications';

/** Called by VS Code when one of the extension's views or commands is first used. */
export function activate(context: vscode.ExtensionContext): void {
  const { subscriptions } = context;
  const log = createLog();
  const notifications = createNotifications();
  const clock = systemClock();
  subscriptions.push(log);

  // Connections: profiles and secrets are read, nothing is opened.
  const connections = new ConnectionRegistry({
    store: new ProfileStore(context.globalState, context.secrets),
    readSetting: readConnectionSetting,
    variables: process.env,
    openPort: openRedisPort,
    clock,
    l10n: vscode.l10n,
    onState: (profile, state) => {
      logState(profile, state, log);
    },
  });
  subscriptions.push(connections);

  // The one way to write: locked but for local connections, and written down.
  const actionLog = new FileActionLog(context.globalStorageUri.fsPath);
  const gate = new WriteGate({
    clock,
    log: actionLog,
    l10n: vscode.l10n,
    warn: (message) => {
      log.warn(message);
    },
  });
  subscriptions.push(gate);

  // What is seen.
  const held = new HeldByDebugger();
  const explorer = new Explorer({ connections, clock, getSetting, held });
  const status = new ConnectionStatus({
    connections,
    chosen: () => {
      const [node] = explorer.selection;
      return node && connectionOf(node)?.connection;
    },
    nowMs: () => clock.now(),
  });
  const selection = explorer.onDidChangeSelection(() => {
    status.update();
  });
  const panels = new StreamPanels({
    extensionUri: context.extensionUri,
    connections,
    readerOf: (connection, stream) => new InspectReader(connection, stream),
    warn: (message) => {
      log.warn(message);
    },
    act: (connection, stream, action) => actOnEntry(services, connection, stream, action),
  });
  subscriptions.push(panels.register());
  const offerConnections = (): void => {
    const hasAny: ContextKey = 'redisStreams.hasConnections';
    void vscode.commands.executeCommand('setContext', hasAny, connections.list().length > 0);
  };
  offerConnections();
  subscriptions.push(explorer, status, selection, connections.onDidChange(offerConnections));

  // What can be done.
  const openStreamPanel: OpenStreamPanel = ({ profile }, key, entryId) => {
    panels.open(profile.id, key, entryId === undefined ? {} : { select: entryId });
  };
  const debugging: WorkerDebugging = new WorkerDebugging({
    context,
    connections,
    gate,
    ensureWritable: (connection) => ensureUnlocked(services, connection),
    held,
    clock,
    log,
    notifications,
  });
  const sandbox = new Sandbox({
    workerFile: context.asAbsolutePath('dist/worker.js'),
    connections,
    l10n: vscode.l10n,
    log: (line) => {
      log.info(line);
    },
    onLost: () => {
      void notifications.warning(vscode.l10n.t('The sandbox ended by itself; its log says why.'), {
        title: vscode.l10n.t('Open Log'),
        run: () => {
          log.open();
        },
      });
    },
  });
  const services: CommandServices = {
    connections,
    sandbox,
    explorer,
    notifications,
    log,
    openPort: openRedisPort,
    openStreamPanel,
    gate,
    actionLog,
    debugging,
    sampleHandler: context.asAbsolutePath('src/worker/sampleHandler.ts'),
  };
  subscriptions.push(sandbox, debugging, held, vscode.window.registerUriHandler(createUriHandler(services)));
  subscriptions.push(registerCommands(createCommandHandlers(services), log, notifications));
  subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('redisStreams.connections')) connections.reload();
      else if (settingKeys.some((key) => change.affectsConfiguration(key))) explorer.settingsChanged();
    }),
  );
  log.info('Redis Streams Debugger is ready.');
}

/** Called by VS Code when the extension host ends; everything is disposed through the context's subscriptions. */
export function deactivate(): void {}
