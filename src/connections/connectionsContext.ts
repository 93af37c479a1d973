import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import type { ContextKey } from '../manifest/contextKeys';
import type { Connections } from './liveConnection';

const hasConnections: ContextKey = 'redisStreams.hasConnections';

/** Tells VS Code whether there is any connection, which the manifest's `enablement` clauses ask, until disposed. */
export function offerConnections(connections: Connections): Disposable {
  const tell = (): void =>
    void vscode.commands.executeCommand('setContext', hasConnections, connections.list().length > 0);
  tell();
  return connections.onDidChange(tell);
}
