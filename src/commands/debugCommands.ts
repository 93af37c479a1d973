import path from 'node:path';
import * as vscode from 'vscode';
import { parseEntryId } from '../bus';
import { askTarget } from '../debugging/askTarget';
import type { KnownTarget } from '../debugging/askTarget';
import { readEntryLink } from '../debugging/entryLink';
import { workerDebugType } from '../debugging/workerConfiguration';
import { connectionOf } from '../tree/explorer';
import { GroupNode } from '../tree/nodes/groupNode';
import { StreamNode } from '../tree/nodes/streamNode';
import { openFile, promptText } from '../ui/pickers';
import type { CommandServices } from './commandServices';
import { handlerTemplate } from './handlerTemplate';
import { nodesOf } from './targets';

/** Starts the sample worker under the debugger, beside a group and without touching it. */
export async function debugSampleWorker(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const target = await askTarget(knownTarget(services, args), {
    connections: services.connections,
    l10n: vscode.l10n,
  });
  if (!target) return;
  const { connection, stream, group } = target;
  offerBreakpoint(services);
  await vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], {
    type: workerDebugType,
    request: 'launch',
    name: vscode.l10n.t('Sample worker'),
    connection: connection.profile.id,
    stream,
    ...(group === undefined ? {} : { group }),
  });
}

/** Opens the source of the sample's handler, where a breakpoint is hit. */
export async function openSampleHandler(services: CommandServices): Promise<void> {
  await openFile(services.sampleHandler);
}

/** Writes a handler and a launch configuration for it into the workspace; never over a file that is there. */
export async function createHandlerFile(services: CommandServices): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder) {
    const message = vscode.l10n.t('Cannot create a handler file: no folder is open. Open one first.');
    await services.notifications.error(message, {
      title: vscode.l10n.t('Open Folder…'),
      run: () => vscode.commands.executeCommand('vscode.openFolder'),
    });
    return;
  }
  const name = await promptText({
    title: vscode.l10n.t('Create Handler File'),
    prompt: vscode.l10n.t('The file, relative to {0}', folder.name),
    value: 'handler.mjs',
    validate: (text) =>
      /^[^\s:*?"<>|]+\.mjs$/.test(text) && !path.isAbsolute(text) && !text.split(/[\\/]/).includes('..')
        ? undefined
        : vscode.l10n.t('Expected a relative path that ends in .mjs'),
    submit: async (text) =>
      (await exists(vscode.Uri.joinPath(folder.uri, text)))
        ? vscode.l10n.t('There is such a file already.')
        : undefined,
  });
  if (name === undefined) return;
  const target = await askTarget({}, { connections: services.connections, l10n: vscode.l10n });
  const file = vscode.Uri.joinPath(folder.uri, name);
  await vscode.workspace.fs.writeFile(file, Buffer.from(handlerTemplate));
  await addConfiguration(folder, {
    type: workerDebugType,
    request: 'launch',
    name: vscode.l10n.t('Debug {0}', name),
    connection: target?.connection.profile.name ?? 'local',
    stream: target?.stream ?? 'orders',
    ...(target?.group === undefined ? {} : { group: target.group }),
    handler: `\${workspaceFolder}/${name}`,
  });
  await openFile(file.fsPath);
}

/** Opens the message that the debugger holds in its stream's panel. */
export async function openHeldMessage(services: CommandServices): Promise<void> {
  const session = services.debugging.shown;
  const connection = session && services.connections.find(session.connection);
  if (session && connection) await services.openStreamPanel(connection, session.grant.stream, session.current?.id);
}

/** Opens what a link of the worker's log leads to: the panel of a stream of a connection that is there, and nothing else. */
export function createUriHandler(services: CommandServices): vscode.UriHandler {
  return {
    handleUri: async ({ path: what, query }) => {
      const target = what === '/entry' ? readEntryLink(query, parseEntryId) : undefined;
      const connection = target && services.connections.find(target.connection);
      if (target && connection) await services.openStreamPanel(connection, target.stream, target.entry);
    },
  };
}

function knownTarget(services: CommandServices, args: readonly unknown[]): KnownTarget {
  const [node] = args.length > 0 ? nodesOf(args, services) : [];
  const owner = node && connectionOf(node);
  if (!owner) return {};
  const { connection } = owner;
  if (node instanceof GroupNode) return { connection, stream: node.parent.facts.key, group: node.facts.name };
  return node instanceof StreamNode ? { connection, stream: node.facts.key } : { connection };
}

/** Without a breakpoint the sample runs through all messages, which is not what its command says. */
function offerBreakpoint(services: CommandServices): void {
  const isSet = vscode.debug.breakpoints.some(
    (breakpoint) =>
      breakpoint instanceof vscode.SourceBreakpoint && breakpoint.location.uri.fsPath === services.sampleHandler,
  );
  if (isSet) return;
  const message = vscode.l10n.t('The sample handler has no breakpoint: it will run through. Set one in its source.');
  void services.notifications.information(message, {
    title: vscode.l10n.t('Open Sample Handler'),
    run: () => openFile(services.sampleHandler),
  });
}

async function addConfiguration(folder: vscode.WorkspaceFolder, configuration: object): Promise<void> {
  const launch = vscode.workspace.getConfiguration('launch', folder.uri);
  const there: unknown = launch.inspect('configurations')?.workspaceFolderValue;
  const all: readonly unknown[] = Array.isArray(there) ? there : [];
  await launch.update('configurations', [...all, configuration], vscode.ConfigurationTarget.WorkspaceFolder);
}

async function exists(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file);
    return true;
  } catch {
    // What cannot be looked at cannot be written either, which the write then says.
    return false;
  }
}
