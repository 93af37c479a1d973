import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import { ConnectionError } from '../connections/connectionFailure';
import { writeUserConnections } from '../connections/connectionSetting';
import { readConnectionSetting } from '../connections/connectionSetting';
import { splitSecrets } from '../connections/connectionUrl';
import type { ConnectionProfile } from '../connections/profiles';
import { connectionId } from '../connections/profiles';
import type { ConnectionNode } from '../tree/nodes/connectionNode';
import { ProblemNode } from '../tree/nodes/smallNodes';
import { confirm } from '../ui/confirm';
import { openText } from '../ui/pickers';
import { promptText } from '../ui/pickers';
import type { CommandServices } from './commandServices';
import { runConnectionWizard } from './connectionWizard';
import { connectionFor, nodesOf } from './targets';

/** Adds a connection. */
export async function addConnection(services: CommandServices): Promise<void> {
  await runConnectionWizard(services);
}

/** Edits a saved connection; one that comes from settings is edited there. */
export async function editConnection(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const node = await connectionFor(args, services, vscode.l10n.t('Edit Connection'));
  if (!node) return;
  if (node.profile.source === 'saved') await runConnectionWizard(services, node.profile);
  else await openSettings();
}

/** Forgets a saved connection with its password, after asking. */
export async function removeConnection(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const title = vscode.l10n.t('Remove Connection');
  const node = await connectionFor(args, services, title, ({ profile }) => profile.source === 'saved');
  if (!node) return;
  const name = displayText(node.profile.name);
  if (node.profile.source !== 'saved') {
    const message = vscode.l10n.t('{0} comes from your settings: remove it there.', name);
    await services.notifications.information(message, {
      title: vscode.l10n.t('Open Connection Settings'),
      run: openSettings,
    });
    return;
  }
  const answer = await confirm({
    title: vscode.l10n.t('Remove connection {0}?', name),
    detail: [vscode.l10n.t('Its URL and password are forgotten. Nothing on the server changes.')],
    verb: vscode.l10n.t('Remove'),
  });
  if (answer !== 'confirmed') return;
  await services.connections.remove(node.profile.id);
  services.notifications.status(vscode.l10n.t('Removed {0}', name));
}

/** Connects, asking for the password when the server wants another one. */
export async function connect(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const isOpen = ({ connection }: ConnectionNode): boolean => connection.state.kind === 'connected';
  const node = await connectionFor(args, services, vscode.l10n.t('Connect'), (candidate) => !isOpen(candidate));
  if (node) await connectNode(services, node);
}

/** Connects a node's connection; what goes wrong is shown in the tree below it, and asked for when it is the password. */
export async function connectNode(services: CommandServices, node: ConnectionNode): Promise<void> {
  try {
    await node.connection.connect();
  } catch (error) {
    if (!ConnectionError.is(error)) throw error;
    if (error.reason === 'authentication' && (await askNewPassword(services, node, error.failure.message))) {
      await connectNode(services, node);
      return;
    }
    services.explorer.model.redraw(node);
  }
}

/** Drops a connection's links until it is connected again. */
export async function disconnect(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const isOpen = ({ connection }: ConnectionNode): boolean => connection.state.kind !== 'disconnected';
  const node = await connectionFor(args, services, vscode.l10n.t('Disconnect'), isOpen);
  node?.connection.disconnect();
}

/** Moves a password that stands in the user's settings to the secret storage. */
export async function movePassword(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const [node] = nodesOf(args, services);
  if (!(node instanceof ProblemNode) || !node.problem.movable) return;
  const { user } = readConnectionSetting();
  if (!Array.isArray(user)) return;
  const entries: readonly unknown[] = user;
  const entry = entries[node.problem.movable.index];
  if (!hasNameAndUrl(entry)) return;
  const { url, secrets } = splitSecrets(entry.url);
  const profile: ConnectionProfile = {
    id: connectionId(`user/${entry.name}`),
    name: entry.name,
    url,
    environment: 'production',
    source: 'user setting',
  };
  await services.connections.setSecrets(profile, secrets);
  await writeUserConnections(entries.map((other) => (other === entry ? { ...entry, url } : other)));
  services.notifications.status(vscode.l10n.t('Moved the password of {0}', displayText(entry.name)));
}

/** Opens the setting that lists connections. */
export async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', 'redisStreams.connections');
}

/** Shows the ACL rule that browsing needs, to hand to whoever runs the server. */
export async function showMinimalAcl(): Promise<void> {
  const lines = [
    vscode.l10n.t('# A user that may look at every stream and change nothing. Set a real password and a key pattern.'),
    `ACL SETUSER stream-reader on '>choose-a-password' '~*' resetchannels ${readOnlyRules.join(' ')}`,
    '',
    vscode.l10n.t('# On a cluster, also:'),
    `ACL SETUSER stream-reader ${clusterRules.join(' ')}`,
    '',
  ];
  await openText(lines.join('\n'), 'plaintext');
}

const readOnlyRules = ['-@all', '+@read', '+@connection', '-@dangerous', '+info', '+command', '+role', '+time'];

const clusterRules = ['+cluster|info', '+cluster|slots', '+cluster|shards', '+cluster|nodes'];

/** Asks for a password; false when none was given. */
async function askNewPassword(services: CommandServices, node: ConnectionNode, why: string): Promise<boolean> {
  const password = await promptText({
    title: vscode.l10n.t('Password for {0}', displayText(node.profile.name)),
    prompt: why,
    password: true,
  });
  if (password === undefined || password === '') return false;
  const kept = await services.connections.secretsOf(node.profile);
  await services.connections.setSecrets(node.profile, { ...kept, password });
  return true;
}

function hasNameAndUrl(value: unknown): value is { readonly name: string; readonly url: string } {
  if (typeof value !== 'object' || value === null) return false;
  const { name, url } = value as Record<string, unknown>;
  return typeof name === 'string' && typeof url === 'string';
}
