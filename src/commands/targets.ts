/** From what a command was called with to what it is about: the node of a menu, the selected nodes, or a choice. */
import * as vscode from 'vscode';
import type { StreamKey } from '../bus';
import { environmentColor } from '../connections/profiles';
import { shownUrl } from '../connections/settingProfiles';
import { displayText } from '../base/byteText';
import type { ConnectionNode } from '../tree/nodes/connectionNode';
import { connectionOf, isTreeNode } from '../tree/explorer';
import type { TreeNode } from '../tree/treeNode';
import { environmentText } from '../tree/phrases';
import { pickOne } from '../ui/pickers';
import type { CommandServices } from './commandServices';

/** The nodes that a command is about: all that are selected when the menu's node is among them, else that node, else the selection. */
export function nodesOf(args: readonly unknown[], { explorer }: CommandServices): readonly TreeNode[] {
  const [clicked, selected] = args;
  if (!isTreeNode(clicked)) return explorer.selection;
  const many = Array.isArray(selected) ? selected.filter(isTreeNode) : [];
  return many.includes(clicked) ? many : [clicked];
}

/** The connection that a command is about; asks when the call does not tell and there are several. */
export async function connectionFor(
  args: readonly unknown[],
  services: CommandServices,
  title: string,
  fits: (node: ConnectionNode) => boolean = () => true,
): Promise<ConnectionNode | undefined> {
  const [clicked] = args;
  const named = isTreeNode(clicked) ? connectionOf(clicked) : undefined;
  if (named) return named;
  const candidates = services.explorer.model.connectionNodes().filter(fits);
  const [only] = candidates;
  if (candidates.length < 2) return only;
  const selected = services.explorer.selection.map(connectionOf).find((node) => node && candidates.includes(node));
  return pickOne(
    title,
    vscode.l10n.t('Choose a connection'),
    candidates.map((node) => ({
      label: displayText(node.profile.name),
      description: environmentText(node.profile.environment, { l10n: vscode.l10n, locale: vscode.env.language }),
      detail: displayText(shownUrl(node.profile)),
      icon: { id: 'server-environment', color: environmentColor(node.profile.environment) },
      value: node,
    })),
    selected,
  );
}

/** A stream of a connection, chosen from what the first scan finds. */
export async function chooseStream(connection: ConnectionNode, title: string): Promise<StreamKey | undefined> {
  const { streams } = await connection.reads.listStreams({ match: '*', count: 1000, pages: 1 });
  return pickOne(
    title,
    vscode.l10n.t('Choose a stream of {0}', displayText(connection.profile.name)),
    streams.map(({ key, figures }) => ({
      label: displayText(key),
      ...(figures ? { description: vscode.l10n.t('{0} entries', figures.length) } : {}),
      icon: { id: 'layers' },
      value: key,
    })),
  );
}
