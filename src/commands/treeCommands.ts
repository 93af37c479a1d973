import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import { formatDuration } from '../base/duration';
import { readSetting } from '../manifest/settings';
import type { SettingKey } from '../manifest/settings';
import { connectionOf, isTreeNode } from '../tree/explorer';
import { ErrorNode, LoadMoreNode } from '../tree/nodes/smallNodes';
import { pickOne, promptText } from '../ui/pickers';
import type { CommandServices } from './commandServices';
import { connectNode } from './connectionCommands';
import { connectionFor, nodesOf } from './targets';

/** Reads the nodes again: those of the call, else what is selected, else everything. */
export function refresh(services: CommandServices, args: readonly unknown[]): void {
  const nodes = nodesOf(args, services);
  if (nodes.length === 0) services.explorer.refresh(undefined);
  for (const node of nodes) services.explorer.refresh(node);
}

/** Tries again what failed: the connection when that is what failed, else the read. */
export async function retry(services: CommandServices, args: readonly unknown[]): Promise<void> {
  for (const node of nodesOf(args, services)) {
    if (!(node instanceof ErrorNode)) continue;
    const owner = connectionOf(node);
    if (owner && owner.connection.state.kind !== 'connected') await connectNode(services, owner);
    services.explorer.refresh(node.parent);
  }
}

/** Loads the next page of a list. */
export function loadMore(services: CommandServices, args: readonly unknown[]): void {
  for (const node of nodesOf(args, services)) {
    if (!(node instanceof LoadMoreNode)) continue;
    node.parent.wantMore();
    services.explorer.model.redraw(node.parent);
  }
}

/** Shows only the streams of a connection whose keys match a glob or start with a text. */
export async function filterStreams(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const node = await connectionFor(args, services, vscode.l10n.t('Filter Streams'));
  if (!node) return;
  const filter = await promptText({
    title: vscode.l10n.t('Filter streams of {0}', displayText(node.profile.name)),
    prompt: vscode.l10n.t('The start of a key, such as orders:, or a glob, such as *:dlq. Empty shows all.'),
    value: node.filter ?? '',
  });
  if (filter === undefined) return;
  node.setFilter(filter);
  services.explorer.model.redraw(node);
}

/** Sets how often the tree refreshes by itself, apart for production. */
export async function setAutomaticRefresh(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const title = vscode.l10n.t('Set Automatic Refresh');
  const key = await settingFor(services, args, title);
  if (key === undefined) return;
  const current = readSetting(getSetting, key);
  const seconds = await pickOne(
    title,
    key === 'redisStreams.autoRefreshProductionSeconds'
      ? vscode.l10n.t('Production connections: refresh while the explorer is visible and the window has the focus')
      : vscode.l10n.t('Other connections: refresh while the explorer is visible and the window has the focus'),
    [0, 2, 5, 10, 30, 60].map((value) => ({
      label: value === 0 ? vscode.l10n.t('Off') : vscode.l10n.t('Every {0}', formatDuration(value * 1000)),
      ...(value === current ? { description: vscode.l10n.t('now') } : {}),
      value,
    })),
    current,
  );
  if (seconds === undefined) return;
  await vscode.workspace.getConfiguration().update(key, seconds, vscode.ConfigurationTarget.Global);
}

type RefreshKey = 'redisStreams.autoRefreshSeconds' | 'redisStreams.autoRefreshProductionSeconds';

async function settingFor(
  services: CommandServices,
  args: readonly unknown[],
  title: string,
): Promise<RefreshKey | undefined> {
  const [node] = isTreeNode(args[0]) ? nodesOf(args, services) : [];
  const environment = node && connectionOf(node)?.profile.environment;
  if (environment !== undefined) {
    return environment === 'production'
      ? 'redisStreams.autoRefreshProductionSeconds'
      : 'redisStreams.autoRefreshSeconds';
  }
  return pickOne<RefreshKey>(title, vscode.l10n.t('Which connections?'), [
    { label: vscode.l10n.t('Connections that are not production'), value: 'redisStreams.autoRefreshSeconds' },
    { label: vscode.l10n.t('Production connections'), value: 'redisStreams.autoRefreshProductionSeconds' },
  ]);
}

/** The effective value of a setting. */
export function getSetting(key: SettingKey): unknown {
  return vscode.workspace.getConfiguration().get(key);
}
