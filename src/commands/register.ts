/**
 * commands: one function for each command of the palette and the menus: prompts, confirmation, progress. Its tests are in `test/host`.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import type { CommandId } from '../manifest/commands';
import type { Log } from '../ui/log';

/** What each command does. */
export type CommandHandlers = Readonly<Partial<Record<CommandId, (...args: unknown[]) => unknown>>>;

/** Registers every command with VS Code until disposed. A command that throws is logged, then fails for its caller. */
export function registerCommands(handlers: CommandHandlers, log: Log): Disposable {
  const registrations = Object.entries(handlers).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        return await handler(...args);
      } catch (error) {
        log.error(`${id} failed`, error);
        throw error;
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}
