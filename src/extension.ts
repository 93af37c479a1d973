/**
 * The composition root: builds every part by hand, top to bottom, and hands each what it needs. Nothing connects to a server here.
 */
import * as vscode from 'vscode';
import { systemClock } from './base/clock';
import { actOnEntry } from './commands/actions/actOnEntry';
import { ensureUnlocked } from './commands/actions/unlock';
import type { CommandServices } from './commands/commandServices';
import { registerEntryPoints } from './commands/entryPoints';
import { getSetting } from './commands/treeCommands';
import { FileActionLog } from './connections/actionLog';
import { ConnectionRegistry } from './connections/connectionRegistry';
import { offerConnections } from './connections/connectionsContext';
import { readConnectionSetting } from './connections/connectionSetting';
import { WriteGate } from './connections/gate';
import { openRedisPort } from './connections/openRedisPort';
import { HeldByDebugger } from './connections/heldMessages';
import { logState } from './connections/logState';
import { ProfileStore } from './connections/profileStore';
import { WorkerDebugging } from './debugging/workerDebugging';
import { InspectReader } from './panels/inspectReader';
import { StreamPanels } from './panels/streamPanels';
import { Sandbox } from './sandbox/sandbox';
import { ConnectionStatus } from './tree/connectionStatus';
import { Explorer } from './tree/explorer';
import { followSettings } from './tree/followSettings';
import { createLog } from './ui/log';
import { createNotifications } from './ui/notifications';

/** Called by VS Code when one of the extension's views or commands is first used. */
export function activate(context: vscode.ExtensionContext): void {
  const { l10n } = vscode;
  const log = createLog();
  const notifications = createNotifications();
  const clock = systemClock();
  const warn = (message: string): void => log.warn(message);

  // Connections: profiles and secrets are read, nothing is opened.
  const connections = new ConnectionRegistry({
    store: new ProfileStore(context.globalState, context.secrets),
    readSetting: readConnectionSetting,
    variables: process.env,
    openPort: openRedisPort,
    clock,
    l10n,
    onState: (profile, state) => logState(profile, state, log),
  });
  const file = context.asAbsolutePath('dist/worker.js');
  const sandbox = new Sandbox({ file, connections, l10n, log, notifications });

  // The one way to write: locked but for local connections, and written down.
  const actionLog = new FileActionLog(context.globalStorageUri.fsPath);
  const gate = new WriteGate({ clock, log: actionLog, l10n, warn });

  // What is seen.
  const held = new HeldByDebugger();
  const explorer = new Explorer({ connections, clock, getSetting, held });
  const panels = new StreamPanels({
    extensionUri: context.extensionUri,
    connections,
    readerOf: (connection, stream) => new InspectReader(connection, stream),
    warn,
    act: (connection, stream, action) => actOnEntry(services, connection, stream, action),
  });
  const onDidShowPanel = panels.onDidShow;
  const status = new ConnectionStatus({ connections, explorer, clock, onDidShowPanel });

  // What can be done.
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
  const services: CommandServices = {
    connections,
    sandbox,
    explorer,
    notifications,
    log,
    openPort: openRedisPort,
    openStreamPanel: ({ profile }, key, select) => panels.open(profile.id, key, select === undefined ? {} : { select }),
    gate,
    actionLog,
    debugging,
    sampleHandler: context.asAbsolutePath('src/worker/sampleHandler.ts'),
  };

  const views = [explorer, status, panels.register(), followSettings(connections, explorer)];
  const server = [connections, offerConnections(connections), sandbox, gate, held, debugging];
  context.subscriptions.push(log, ...server, ...views, registerEntryPoints(services));
  log.info('Redis Streams Debugger is ready.');
}
