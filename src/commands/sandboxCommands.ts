import * as vscode from 'vscode';
import type { CommandServices } from './commandServices';

/** Starts the sandbox, connects to it and shows it in the tree. */
export async function startSandbox(services: CommandServices): Promise<void> {
  await vscode.window.withProgress(
    { location: { viewId: 'redisStreams.explorer' }, title: vscode.l10n.t('Starting the sandbox') },
    async () => {
      const connection = await services.sandbox.start();
      await connection.connect();
    },
  );
  await vscode.commands.executeCommand('redisStreams.explorer.focus');
}

/** Ends the sandbox; its data is gone. */
export async function stopSandbox(services: CommandServices): Promise<void> {
  if (services.sandbox.url === undefined) services.notifications.status(vscode.l10n.t('The sandbox is not running'));
  else await services.sandbox.stop();
}

/** Starts the sandbox afresh at the same address. */
export async function resetSandbox(services: CommandServices): Promise<void> {
  const connection = await services.sandbox.reset();
  await connection.connect();
  services.explorer.refresh(undefined);
}

/** Copies the sandbox's URL, for a client or redis-cli. */
export async function copySandboxUrl(services: CommandServices): Promise<void> {
  const connection = await services.sandbox.start();
  await vscode.env.clipboard.writeText(connection.profile.url);
  services.notifications.status(vscode.l10n.t('Copied {0}', connection.profile.url));
}
