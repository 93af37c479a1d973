import * as vscode from 'vscode';
import { displayText } from '../../base/byteText';
import { defaultUnlockMs } from '../../connections/gate';
import type { LiveConnection } from '../../connections/liveConnection';
import { environmentText } from '../../tree/phrases';
import { pickOne, promptText } from '../../ui/pickers';
import type { CommandServices } from '../commandServices';
import { connectionFor } from '../targets';

/** Asks to unlock writing when it is locked; false when it stays locked. */
export async function ensureUnlocked(services: CommandServices, connection: LiveConnection): Promise<boolean> {
  return services.gate.isOpen(connection) || unlock(services, connection);
}

/** Unlocks writing of a connection for a while. */
export async function unlockWriting(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const title = vscode.l10n.t('Unlock Writing');
  const node = await connectionFor(args, services, title, ({ connection }) => !services.gate.isOpen(connection));
  if (!node) {
    await services.notifications.information(vscode.l10n.t('There is no read-only connection to unlock.'));
    return;
  }
  if (services.gate.isOpen(node.connection)) {
    const name = displayText(node.profile.name);
    await services.notifications.information(vscode.l10n.t('{0} can be written to already.', name));
    return;
  }
  await unlock(services, node.connection);
}

/** Locks writing at once. */
export async function lockWriting(services: CommandServices, args: readonly unknown[]): Promise<void> {
  const node = await connectionFor(
    args,
    services,
    vscode.l10n.t('Lock Writing'),
    ({ connection }) => connection.writableUntilMs !== undefined,
  );
  if (!node) return;
  services.gate.lock(node.connection);
  services.notifications.status(vscode.l10n.t('{0} is read-only again', displayText(node.profile.name)));
}

async function unlock(services: CommandServices, connection: LiveConnection): Promise<boolean> {
  const { profile } = connection;
  const name = displayText(profile.name);
  const words = { l10n: vscode.l10n, locale: vscode.env.language };
  const title = vscode.l10n.t('{0} ({1}) is read-only', name, environmentText(profile.environment, words));
  const minutes = await pickOne(
    title,
    vscode.l10n.t('Unlock writing for how long? Every change is still asked for.'),
    [defaultUnlockMs / 60_000, 5, 60].map((value) => ({
      label: vscode.l10n.t('Unlock for {0} min', value),
      icon: { id: 'unlock' },
      value,
    })),
  );
  if (minutes === undefined) return false;
  if (profile.environment === 'production') {
    const typed = await promptText({
      title,
      prompt: vscode.l10n.t('This is production. Type the name of the connection to unlock writing: {0}', name),
      submit: (text) =>
        Promise.resolve(text === name ? undefined : vscode.l10n.t('This is not the name of the connection.')),
    });
    if (typed !== name) return false;
  }
  services.gate.unlock(connection, minutes * 60_000);
  services.notifications.status(vscode.l10n.t('{0} can be written to for {1} min', name, minutes));
  return true;
}
