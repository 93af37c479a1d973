import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import { settingKeys } from '../manifest/settings';
import type { Explorer } from './explorer';

/** Reads the connections again, or draws the tree anew, when a setting of theirs changes, until disposed. */
export function followSettings(connections: ConnectionRegistry, explorer: Explorer): Disposable {
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('redisStreams.connections')) connections.reload();
    else if (settingKeys.some((key) => change.affectsConfiguration(key))) explorer.settingsChanged();
  });
}
