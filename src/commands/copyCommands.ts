import * as vscode from 'vscode';
import { bytesToText, displayText } from '../base/byteText';
import { DeadLettersNode } from '../tree/nodes/deadLettersNode';
import { cliLinesOf } from '../tree/cliLines';
import { connectionOf } from '../tree/explorer';
import { ConnectionNode } from '../tree/nodes/connectionNode';
import { ConsumerNode } from '../tree/nodes/consumerNode';
import { DeadLetterNode, PendingNode } from '../tree/nodes/entryNodes';
import { FolderNode } from '../tree/nodes/folderNode';
import { GroupNode } from '../tree/nodes/groupNode';
import { StreamNode } from '../tree/nodes/streamNode';
import type { TreeNode } from '../tree/treeNode';
import { copyText } from '../ui/pickers';
import type { CommandServices } from './commandServices';
import { nodesOf } from './targets';

/** Copies the names of nodes, one a line; of an entry its id. Error and message rows give their text. */
export async function copyName(services: CommandServices, args: readonly unknown[]): Promise<void> {
  await copyLines(services, nodesOf(args, services).map(nameOf));
}

/** Copies the ids of entries, one a line. */
export async function copyId(services: CommandServices, args: readonly unknown[]): Promise<void> {
  await copyName(services, args);
}

/** Copies the redis-cli lines that show the same. */
export async function copyCommands(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const lines: string[] = [];
  for (const node of nodesOf(args, services)) {
    const owner = connectionOf(node);
    if (!owner) continue;
    const secrets = await services.connections.secretsOf(owner.profile);
    lines.push(...cliLinesOf(node, owner.profile, secrets !== undefined));
  }
  await copyLines(services, lines);
}

/** Copies the fields of an entry as JSON: an array of [name, value] pairs, so that order and duplicates survive. */
export async function copyPayload(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const payloads: string[] = [];
  for (const node of nodesOf(args, services)) {
    if (!(node instanceof PendingNode || node instanceof DeadLetterNode)) continue;
    const fields = await connectionOf(node)?.reads.payload(node.streamKey, node.facts.id);
    if (!fields) {
      services.notifications.status(vscode.l10n.t('Entry {0} is gone: there is no payload to copy', node.facts.id));
      return;
    }
    payloads.push(payloadJson(fields));
  }
  await copyLines(services, payloads);
}

/** The fields as JSON pairs; bytes that are not text are shown as escapes. */
function payloadJson(fields: readonly Uint8Array[]): string {
  const texts = fields.map((bytes) => bytesToText(bytes));
  const pairs: string[][] = [];
  for (let index = 0; index + 1 < texts.length; index += 2) pairs.push(texts.slice(index, index + 2));
  return JSON.stringify(pairs, undefined, 2);
}

function nameOf(node: TreeNode): string {
  if (node instanceof ConnectionNode) return node.profile.name;
  if (node instanceof FolderNode) return copyable(node.prefix);
  if (node instanceof StreamNode || node instanceof DeadLettersNode) return copyable(node.facts.key);
  if (node instanceof GroupNode || node instanceof ConsumerNode) return copyable(node.facts.name);
  if (node instanceof PendingNode || node instanceof DeadLetterNode) return node.facts.id;
  return node.row().label;
}

/** A name as it is; one with bytes that are no text as it is shown, since a clipboard holds only text. */
function copyable(name: string): string {
  return /[\ud800-\udfff]/u.test(name) ? displayText(name) : name;
}

async function copyLines({ notifications }: CommandServices, lines: readonly string[]): Promise<void> {
  const [first] = lines;
  if (first === undefined) return;
  await copyText(lines.join('\n'));
  notifications.status(lines.length === 1 ? vscode.l10n.t('Copied') : vscode.l10n.t('Copied {0} lines', lines.length));
}
