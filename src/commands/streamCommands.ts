import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import { parseEntryId } from '../bus';
import type { EntryId } from '../bus';
import { DeadLettersNode } from '../tree/nodes/deadLettersNode';
import { connectionOf, isTreeNode } from '../tree/explorer';
import { DeadLetterNode, PendingNode } from '../tree/nodes/entryNodes';
import { StreamNode } from '../tree/nodes/streamNode';
import { pickOne, promptText, withProgress } from '../ui/pickers';
import type { CommandServices } from './commandServices';
import { chooseStream, connectionFor, nodesOf } from './targets';

/** Opens the panel of a stream; asks which when the call does not tell. */
export async function openStream(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const [node] = isTreeNode(args[0]) ? nodesOf(args, services) : [];
  const owner = node && connectionOf(node);
  if (owner && (node instanceof StreamNode || node instanceof DeadLettersNode)) {
    await services.openStreamPanel(owner.connection, node.facts.key);
    return;
  }
  const title = vscode.l10n.t('Open Stream');
  const connection = await connectionFor(args, services, title);
  const key = connection && (await chooseStream(connection, title));
  if (connection && key !== undefined) await services.openStreamPanel(connection.connection, key);
}

/** Opens the panel of the stream that an entry is in, at that entry. */
export async function openEntry(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const [node] = nodesOf(args, services);
  if (!(node instanceof PendingNode || node instanceof DeadLetterNode)) return;
  const owner = connectionOf(node);
  if (owner) await services.openStreamPanel(owner.connection, node.streamKey, node.facts.id);
}

/** Takes an id, as pasted from a log line, finds the streams that have it, and opens it there. */
export async function findEntry(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const title = vscode.l10n.t('Find Entry by ID');
  const owner = await connectionFor(args, services, title);
  if (!owner) return;
  const text = await promptText({
    title,
    prompt: vscode.l10n.t('An entry id, or a log line that holds one'),
    placeholder: '1700000000000-0',
    validate: (value) =>
      value === '' || findId(value)
        ? undefined
        : vscode.l10n.t('There is no entry id in this: expected digits-digits.'),
  });
  const id = text === undefined ? undefined : findId(text);
  if (id === undefined) return;
  const name = displayText(owner.profile.name);
  const found = await withProgress(vscode.l10n.t('Looking for {0} on {1}…', id, name), (signal) =>
    owner.reads.findEntry(id, signal),
  );
  const [first] = found.keys;
  if (first === undefined) {
    const message = found.isComplete
      ? vscode.l10n.t(
          'No stream of {0} has the entry {1}: it was deleted or trimmed, or is on another server.',
          name,
          id,
        )
      : vscode.l10n.t('The search for {0} on {1} was stopped before it was found.', id, name);
    const blind = vscode.l10n.t('{0} streams could not be looked at: no permission.', found.unreadable);
    await services.notifications.information(found.unreadable > 0 ? `${message} ${blind}` : message);
    return;
  }
  const key =
    found.keys.length === 1
      ? first
      : await pickOne(
          title,
          vscode.l10n.t('{0} streams have an entry with this id', found.keys.length),
          found.keys.map((each) => ({ label: displayText(each), icon: { id: 'layers' }, value: each })),
        );
  if (key !== undefined) await services.openStreamPanel(owner.connection, key, id);
}

/** The first thing in a text that is a whole entry id; a lone number only when it is all there is. */
export function findId(text: string): EntryId | undefined {
  for (const [whole] of text.matchAll(/(?<![\d-])\d{1,20}-\d{1,20}(?![\d-])/g)) {
    const id = parseEntryId(whole);
    if (id !== undefined) return id;
  }
  return parseEntryId(text.trim());
}
