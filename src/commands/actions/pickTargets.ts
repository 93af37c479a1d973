/** What a verb is to be done to: the nodes of a menu or selection, else what people choose step by step. */
import * as vscode from 'vscode';
import { displayText } from '../../base/byteText';
import { formatDuration } from '../../base/duration';
import { consumerName, parseEntryId } from '../../bus';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../../bus';
import type { LiveConnection } from '../../connections/liveConnection';
import type { PendingSelection } from '../../connections/verbs/pendingRows';
import { connectionOf } from '../../tree/explorer';
import type { ConnectionNode } from '../../tree/nodes/connectionNode';
import { ConsumerNode } from '../../tree/nodes/consumerNode';
import { PendingNode } from '../../tree/nodes/entryNodes';
import { GroupNode } from '../../tree/nodes/groupNode';
import { StreamNode } from '../../tree/nodes/streamNode';
import type { TreeNode } from '../../tree/treeNode';
import { pickMany, pickOne, promptText } from '../../ui/pickers';
import type { CommandServices } from '../commandServices';
import { chooseStream, connectionFor, nodesOf } from '../targets';

/** Pending entries of one connection, by stream and group. */
export interface PendingTargets {
  readonly connection: LiveConnection;
  readonly places: readonly PendingPlace[];
  /** What to read again afterwards. */
  readonly nodes: readonly TreeNode[];
}

/** Some pending entries of one group. */
export interface PendingPlace {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly select: PendingSelection;
}

/** A connection and what to read again there. */
export interface ConnectionTarget {
  readonly connection: LiveConnection;
  readonly owner: ConnectionNode;
}

/**
 * The pending entries that a command is about. Whole groups and consumers stand for all that is pending there (`whole`), for what
 * of it has lost its message (`gone`), or are no target at all (`single`): what they hold may change between look and click.
 */
export async function pendingTargets(
  services: CommandServices,
  args: readonly unknown[],
  title: string,
  reach: 'single' | 'whole' | 'gone',
): Promise<PendingTargets | undefined> {
  const onlyGone = reach === 'gone';
  const nodes = nodesOf(args, services).filter(
    (node) =>
      node instanceof PendingNode ||
      (reach !== 'single' && (node instanceof ConsumerNode || node instanceof GroupNode)),
  );
  const owners = new Set(nodes.map((node) => connectionOf(node)));
  const [owner] = owners;
  if (owners.size > 1) {
    await services.notifications.information(vscode.l10n.t('Choose entries of one connection at a time.'));
    return undefined;
  }
  if (owner) {
    const places = onlyGone ? nodes.flatMap((node) => gonePlace(node)) : placesOf(nodes);
    return { connection: owner.connection, places, nodes: [...new Set(nodes.map(streamOf))] };
  }
  return choosePending(services, title, onlyGone);
}

/** A consumer of a group, one that is there or a new one. */
export async function chooseConsumer(
  connection: LiveConnection,
  place: PendingPlace,
  title: string,
): Promise<ConsumerName | undefined> {
  const consumers = await connection.read((inspect) => inspect.consumerInfos(place.stream, place.group));
  const chosen = await pickOne<ConsumerName | null>(title, vscode.l10n.t('Who is to own them?'), [
    ...consumers.map(({ name, pending, idleMs }) => ({
      label: displayText(name),
      description: vscode.l10n.t('{0} pending · idle {1}', pending, formatDuration(idleMs)),
      icon: { id: 'person' },
      value: name,
    })),
    { label: vscode.l10n.t('New consumer…'), icon: { id: 'add' }, value: null },
  ]);
  if (chosen !== null) return chosen;
  const name = await promptText({
    title,
    prompt: vscode.l10n.t('The name of the new consumer of group {0}', displayText(place.group)),
    submit: (text) => Promise.resolve(text === '' ? vscode.l10n.t('A consumer needs a name.') : undefined),
  });
  return name === undefined || name === '' ? undefined : consumerName(name);
}

/** A connection, and a stream of it, that people choose. */
export async function chooseConnectionAndStream(
  services: CommandServices,
  args: readonly unknown[],
  title: string,
): Promise<(ConnectionTarget & { readonly stream: StreamKey }) | undefined> {
  const owner = await connectionFor(args, services, title);
  const stream = owner && (await chooseStream(owner, title));
  return owner && stream !== undefined ? { connection: owner.connection, owner, stream } : undefined;
}

/** Ids that people type or paste. */
export async function chooseIds(title: string, prompt: string): Promise<readonly EntryId[] | undefined> {
  const text = await promptText({
    title,
    prompt,
    placeholder: '1700000000000-0',
    validate: (value) =>
      value === '' || idsIn(value).length > 0
        ? undefined
        : vscode.l10n.t('There is no entry id in this: expected digits-digits.'),
  });
  const ids = text === undefined ? [] : idsIn(text);
  return ids.length === 0 ? undefined : ids;
}

/** The stream's node that a node lies in; the node itself above streams. */
export function streamOf(node: TreeNode): TreeNode {
  for (let at: TreeNode | undefined = node; at; at = at.parent) if (at instanceof StreamNode) return at;
  return node;
}

function placesOf(nodes: readonly TreeNode[]): readonly PendingPlace[] {
  const byGroup = new Map<string, { stream: StreamKey; group: GroupName; ids: EntryId[] }>();
  const whole: PendingPlace[] = [];
  for (const node of nodes) {
    if (node instanceof PendingNode) {
      const group = node.parent.parent.facts.name;
      const key = JSON.stringify([node.streamKey, group]);
      const place = byGroup.get(key) ?? { stream: node.streamKey, group, ids: [] };
      place.ids.push(node.facts.id);
      byGroup.set(key, place);
    } else whole.push(...placeOf(node, 'pending'));
  }
  return [...whole, ...[...byGroup.values()].map(({ stream, group, ids }) => ({ stream, group, select: { ids } }))];
}

function gonePlace(node: TreeNode): readonly PendingPlace[] {
  return placeOf(node instanceof PendingNode ? node.parent : node, 'gone');
}

function placeOf(node: TreeNode, all: 'pending' | 'gone'): readonly PendingPlace[] {
  if (node instanceof GroupNode) return [{ stream: node.parent.facts.key, group: node.facts.name, select: { all } }];
  if (node instanceof ConsumerNode) {
    const group = node.parent;
    const select = { all, consumer: node.facts.name };
    return [{ stream: group.parent.facts.key, group: group.facts.name, select }];
  }
  return [];
}

async function choosePending(
  services: CommandServices,
  title: string,
  onlyGone: boolean,
): Promise<PendingTargets | undefined> {
  const target = await chooseConnectionAndStream(services, [], title);
  if (!target) return undefined;
  const { connection, owner, stream } = target;
  const groups = await connection.read((inspect) => inspect.groupInfos(stream));
  const group = await pickOne(
    title,
    vscode.l10n.t('Choose a group of {0}', displayText(stream)),
    groups.map(({ name, pending }) => ({
      label: displayText(name),
      description: vscode.l10n.t('{0} pending', pending),
      icon: { id: 'organization' },
      value: name,
    })),
  );
  if (group === undefined) return undefined;
  if (onlyGone) return { connection, places: [{ stream, group, select: { all: 'gone' } }], nodes: [owner] };
  const { rows } = await connection.read((inspect) => inspect.pendingPage(stream, group, { count: 200 }));
  if (rows.length === 0) {
    const name = displayText(group);
    await services.notifications.information(vscode.l10n.t('Nothing is pending in group {0}.', name));
    return undefined;
  }
  const ids = await pickMany(
    title,
    vscode.l10n.t('Choose pending entries of {0}', displayText(group)),
    rows.map(({ id, consumer, deliveryCount, idleMs }) => ({
      label: id,
      description: `${displayText(consumer)} · ×${deliveryCount} · ${formatDuration(idleMs)}`,
      value: id,
    })),
  );
  return ids && { connection, places: [{ stream, group, select: { ids } }], nodes: [owner] };
}

function idsIn(text: string): readonly EntryId[] {
  return [...new Set([...text.matchAll(/(?<![\d-])(\d{1,20}-\d{1,20})(?![\d-])/g)].flatMap(([id]) => parse(id)))];
}

function parse(text: string): readonly EntryId[] {
  const id = parseEntryId(text);
  return id === undefined ? [] : [id];
}
