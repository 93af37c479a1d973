/**
 * The composition root: builds every part by hand, top to bottom, and hands each what it needs. Nothing connects to a server here.
 */
import type * as vscode from 'vscode';
import { registerCommands } from './commands/register';
import { registerExplorer } from './tree/explorer';
import { createLog } from './ui/log';

/** Called by VS Code when one of the extension's views or commands is first used. */
export function activate(context: vscode.ExtensionContext): void {
  const log = createLog();
  context.subscriptions.push(
    log,
    registerExplorer(),
    registerCommands(
      {
        'redisStreams.openLog': () => {
          log.open();
        },
      },
      log,
    ),
  );
  log.info('Redis Streams Debugger is ready.');
}

/** Called by VS Code when the extension host ends; everything is disposed through the context's subscriptions. */
export function deactivate(): void {}
