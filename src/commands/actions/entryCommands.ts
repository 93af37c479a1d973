/** The commands on dead letters and on entries as such: replay, publish, delete. */
import * as vscode from 'vscode';
import { displayText, textToBytes } from '../../base/byteText';
import { streamKey } from '../../bus';
import type { EntryFields, EntryId, GroupName, StreamKey } from '../../bus';
import type { LiveConnection } from '../../connections/liveConnection';
import { deleteEntry as deleteVerb } from '../../connections/verbs/deleteEntry';
import { publish as publishVerb } from '../../connections/verbs/publish';
import { replay as replayVerb } from '../../connections/verbs/replay';
import { replayEntry as replayEntryVerb } from '../../connections/verbs/replayEntry';
import { replayToGroup as replayToGroupVerb } from '../../connections/verbs/replayToGroup';
import { connectionOf } from '../../tree/explorer';
import type { ConnectionNode } from '../../tree/nodes/connectionNode';
import { DeadLetterNode, PendingNode } from '../../tree/nodes/entryNodes';
import { StreamNode } from '../../tree/nodes/streamNode';
import type { TreeNode } from '../../tree/treeNode';
import { pickOne, promptText } from '../../ui/pickers';
import type { CommandServices } from '../commandServices';
import { chooseStream, connectionFor, nodesOf } from '../targets';
import { act } from './act';
import type { CallOptions } from './pendingCommands';
import { chooseConnectionAndStream, chooseIds, streamOf } from './pickTargets';

/** Some dead letters of one stream. */
export interface DeadLetterTargets {
  readonly connection: LiveConnection;
  readonly owner: ConnectionNode | undefined;
  readonly deadLetters: StreamKey;
  /** The stream that they come from. */
  readonly stream: StreamKey;
  readonly letters: readonly { readonly id: EntryId; readonly group: GroupName | undefined }[];
  readonly refresh: () => void;
}

/** Replays dead letters or, of a stream, entries. */
export async function replay(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const nodes = nodesOf(args, services);
  const letters = nodes.filter((node) => node instanceof DeadLetterNode);
  const [letter] = letters;
  const owner = letter && connectionOf(letter);
  if (letter && owner) {
    const same = letters.filter((node) => node.parent === letter.parent);
    await replayDeadLetters(
      services,
      {
        connection: owner.connection,
        owner,
        deadLetters: letter.streamKey,
        stream: letter.parent.parent.facts.key,
        letters: same.map(({ facts }) => ({ id: facts.id, group: facts.group })),
        refresh: refresher(services, same),
      },
      options,
    );
    return;
  }
  const title = vscode.l10n.t('Replay Entry');
  const entries = nodes.filter((node) => node instanceof PendingNode);
  const [entry] = entries;
  const entryOwner = entry && connectionOf(entry);
  if (entry && entryOwner) {
    const same = entries.filter((node) => node.streamKey === entry.streamKey && connectionOf(node) === entryOwner);
    const ids = same.map(({ facts }) => facts.id);
    const place = { connection: entryOwner.connection, owner: entryOwner, stream: entry.streamKey, ids };
    await replayEntries(services, { ...place, refresh: refresher(services, same) }, options);
    return;
  }
  const target = await chooseConnectionAndStream(services, args, title);
  const ids = target && (await chooseIds(title, vscode.l10n.t('The ids of the entries to replay')));
  if (ids) await replayEntries(services, { ...target, ids, refresh: refresher(services, [target.owner]) }, options);
}

/** Asks where to: by default only the group in which they died, while its entries still exist. */
export async function replayDeadLetters(
  services: CommandServices,
  { connection, owner, deadLetters, stream, letters, refresh }: DeadLetterTargets,
  { copyOnly = false }: CallOptions,
): Promise<void> {
  const title = vscode.l10n.t('Replay Dead Letters');
  const ids = letters.map(({ id }) => id);
  const groups = [...new Set(letters.flatMap(({ group }) => group ?? []))];
  const toGroups = groups.map((group) => ({
    deadLetters,
    stream,
    group,
    ids: letters.filter((letter) => letter.group === group).map(({ id }) => id),
  }));
  const plans = await Promise.all(
    toGroups.map((request) => services.gate.plan(connection, replayToGroupVerb, request)),
  );
  const returnable = plans.reduce((sum, { preview }) => sum + (preview.obstacle ? 0 : preview.items.length), 0);
  const receivers = await countGroups(connection, stream);
  const names = groups.map((name) => displayText(name)).join(', ');
  const how = await pickOne<'group' | 'stream' | 'other'>(title, vscode.l10n.t('Where to?'), [
    ...(returnable > 0
      ? [
          {
            label: vscode.l10n.t('Only the group in which they died: {0}', names),
            detail: vscode.l10n.t(
              '{0} of {1} still have their entry; other groups see nothing',
              returnable,
              ids.length,
            ),
            icon: { id: 'organization' },
            value: 'group' as const,
          },
        ]
      : []),
    {
      label: vscode.l10n.t('Stream {0}', displayText(stream)),
      detail:
        receivers === undefined
          ? vscode.l10n.t('there is no such stream any more')
          : vscode.l10n.t('as new entries, which all of its {0} groups receive', receivers),
      icon: { id: 'layers' },
      value: 'stream',
    },
    { label: vscode.l10n.t('Another stream…'), icon: { id: 'layers' }, value: 'other' },
  ]);
  if (how === undefined) return;
  if (how === 'group') {
    await act(services, { connection, verb: replayToGroupVerb, requests: toGroups, copyOnly, onDone: refresh });
    return;
  }
  const target = how === 'stream' ? stream : owner && (await chooseStream(owner, title));
  if (target === undefined) return;
  const requests = [{ deadLetters, target, ids }];
  await act(services, { connection, verb: replayVerb, requests, copyOnly, onDone: refresh });
}

/** Publishes entries of a stream once more. */
export async function replayEntries(
  services: CommandServices,
  target: {
    readonly connection: LiveConnection;
    readonly owner: ConnectionNode | undefined;
    readonly stream: StreamKey;
    readonly ids: readonly EntryId[];
    readonly refresh: () => void;
  },
  { copyOnly = false }: CallOptions,
): Promise<void> {
  const { connection, owner, stream, ids, refresh } = target;
  const title = vscode.l10n.t('Replay Entry');
  const receivers = (await countGroups(connection, stream)) ?? 0;
  const where = await pickOne<'stream' | 'other'>(title, vscode.l10n.t('Where to?'), [
    {
      label: vscode.l10n.t('Stream {0}', displayText(stream)),
      detail: vscode.l10n.t('as new entries, which all of its {0} groups receive', receivers),
      icon: { id: 'layers' },
      value: 'stream',
    },
    { label: vscode.l10n.t('Another stream…'), icon: { id: 'layers' }, value: 'other' },
  ]);
  if (where === undefined) return;
  const to = where === 'stream' ? stream : owner && (await chooseStream(owner, title));
  if (to === undefined) return;
  const requests = [{ stream, target: to, ids }];
  await act(services, { connection, verb: replayEntryVerb, requests, copyOnly, onDone: refresh });
}

/** Publishes a new entry. */
export async function publishEntry(
  services: CommandServices,
  args: readonly unknown[],
  { copyOnly = false }: CallOptions = {},
): Promise<void> {
  const title = vscode.l10n.t('Publish Entry');
  const [node] = nodesOf(args, services);
  const owner = node instanceof StreamNode ? connectionOf(node) : await connectionFor(args, services, title);
  if (!owner) return;
  const known = node instanceof StreamNode ? node.facts.key : undefined;
  const name =
    known ??
    (await promptText({
      title,
      prompt: vscode.l10n.t('The stream of {0} to publish to', displayText(owner.profile.name)),
      submit: (text) => Promise.resolve(text === '' ? vscode.l10n.t('A stream needs a name.') : undefined),
    }));
  if (name === undefined || name === '') return;
  const text = await promptText({
    title,
    prompt: vscode.l10n.t('The fields as JSON: an object of texts, or pairs as Copy Payload gives them'),
    placeholder: '{"type":"order.created","payload":"{}"}',
    submit: (value) =>
      Promise.resolve(
        readFields(value) ? undefined : vscode.l10n.t('Expected {"field":"text"} or [["field","text"]], at least one.'),
      ),
  });
  const fields = text === undefined ? undefined : readFields(text);
  if (!fields) return;
  const stream = streamKey(name);
  const exists = known !== undefined || (await owner.connection.read((inspect) => inspect.typeOf(stream))) !== 'none';
  await act(services, {
    connection: owner.connection,
    verb: publishVerb,
    requests: [{ stream, fields, makeStream: !exists }],
    copyOnly,
    onDone: refresher(services, [node instanceof StreamNode ? node : owner]),
  });
}

/** Deletes dead letters, or entries that every group has read and acknowledged. */
export async function deleteEntries(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const title = vscode.l10n.t('Delete Entry');
  const nodes = nodesOf(args, services).filter((node) => node instanceof DeadLetterNode);
  const [node] = nodes;
  const owner = node && connectionOf(node);
  if (node && owner) {
    const same = nodes.filter(({ parent }) => parent === node.parent);
    const ids = same.map(({ facts }) => facts.id);
    await deleteOf(services, owner.connection, node.streamKey, ids, refresher(services, same), options);
    return;
  }
  const target = await chooseConnectionAndStream(services, args, title);
  const ids = target && (await chooseIds(title, vscode.l10n.t('The ids of the entries to delete')));
  if (!ids) return;
  await deleteOf(services, target.connection, target.stream, ids, refresher(services, [target.owner]), options);
}

/** The same for entries that are known. */
export async function deleteOf(
  services: CommandServices,
  connection: LiveConnection,
  stream: StreamKey,
  ids: readonly EntryId[],
  onDone: () => void,
  { copyOnly = false }: CallOptions,
): Promise<void> {
  await act(services, { connection, verb: deleteVerb, requests: [{ stream, ids }], copyOnly, onDone });
}

/** Fields from JSON: an object of texts or a list of pairs, so that order and duplicates can be given. */
export function readFields(text: string): EntryFields | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const pairs: readonly unknown[] = Array.isArray(value) ? value : Object.entries(value);
  const words = pairs.flatMap((pair): readonly unknown[] =>
    Array.isArray(pair) && pair.length === 2 ? (pair as unknown[]) : [undefined],
  );
  if (words.length === 0 || !words.every((word) => typeof word === 'string')) return undefined;
  return words.map((word) => textToBytes(word));
}

async function countGroups(connection: LiveConnection, stream: StreamKey): Promise<number | undefined> {
  return connection.read(async (inspect) =>
    (await inspect.typeOf(stream)) === 'stream' ? (await inspect.groupInfos(stream)).length : undefined,
  );
}

function refresher(services: CommandServices, nodes: readonly TreeNode[]): () => void {
  const streams = [...new Set(nodes.map(streamOf))];
  return () => {
    for (const node of streams) services.explorer.refresh(node);
  };
}
