/** The commands around actions: the log, undo, and the commands without doing them. */
import * as vscode from 'vscode';
import { displayText } from '../../base/byteText';
import { connectionId } from '../../connections/profiles';
import { lastUndoable, restoreRequestOf } from '../../connections/lastAction';
import { restore } from '../../connections/verbs/restore';
import { openFile, pickOne } from '../../ui/pickers';
import type { CommandServices } from '../commandServices';
import { act } from './act';
import { deleteEntries, publishEntry, replay } from './entryCommands';
import { acknowledge, acknowledgeGone, claim, makeReclaimable, moveToDeadLetters } from './pendingCommands';
import type { CallOptions } from './pendingCommands';

/** Opens the action log in an editor. */
export async function openActionLog({ actionLog }: CommandServices): Promise<void> {
  await openFile(await actionLog.file());
}

/** Takes the last action back, as far as Redis allows it. */
export async function undoLastAction(services: CommandServices): Promise<void> {
  const { actionLog, connections, notifications } = services;
  const action = lastUndoable(await actionLog.recent());
  if (!action) {
    await notifications.information(vscode.l10n.t('There is no action that can be undone.'));
    return;
  }
  const { start } = action;
  const connection = connections.find(connectionId(start.connection.id));
  const request = restoreRequestOf(action, Date.now());
  if (!connection || !request) {
    const name = displayText(start.connection.name);
    await notifications.information(
      vscode.l10n.t('The last action was on {0}, which is no connection any more.', name),
    );
    return;
  }
  await act(services, {
    connection,
    verb: restore,
    requests: [request],
    onDone: () => {
      services.explorer.refresh(services.explorer.model.nodeOf(connection));
    },
    onComplete: (by) => actionLog.append({ action: start.action, kind: 'undone', at: new Date().toISOString(), by }),
  });
}

/** Copies the commands of a verb instead of running them. */
export async function showCommand(services: CommandServices, args: readonly unknown[]): Promise<void> {
  type Run = (services: CommandServices, args: readonly unknown[], options: CallOptions) => Promise<void>;
  const run = await pickOne<Run>(
    vscode.l10n.t('Show Command'),
    vscode.l10n.t('Which command is to be copied as redis-cli, without being run?'),
    [
      { label: vscode.l10n.t('Make Reclaimable'), value: makeReclaimable },
      { label: vscode.l10n.t('Claim'), value: claim },
      { label: vscode.l10n.t('Acknowledge'), value: acknowledge },
      { label: vscode.l10n.t('Acknowledge Gone Entries'), value: acknowledgeGone },
      { label: vscode.l10n.t('Move to Dead Letters'), value: moveToDeadLetters },
      { label: vscode.l10n.t('Replay'), value: replay },
      { label: vscode.l10n.t('Publish Entry'), value: publishEntry },
      { label: vscode.l10n.t('Delete Entry'), value: deleteEntries },
    ],
  );
  await run?.(services, args, { copyOnly: true });
}
