import * as vscode from 'vscode';
import type { SettingKey } from '../manifest/settings';
import type { SettingLevels } from './settingProfiles';

const key: SettingKey = 'redisStreams.connections';

/** The setting `redisStreams.connections` by level: what the user says apart from what the workspace says. */
export function readConnectionSetting(): SettingLevels {
  const levels = vscode.workspace.getConfiguration().inspect(key);
  const ofWorkspace = [levels?.workspaceValue, levels?.workspaceFolderValue].filter((value) => value !== undefined);
  return { user: levels?.globalValue, workspace: ofWorkspace.length === 0 ? undefined : ofWorkspace.flat() };
}

/** Replaces the user's value of the setting. */
export async function writeUserConnections(value: readonly unknown[]): Promise<void> {
  await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
}
