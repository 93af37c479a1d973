/**
 * commands: one function for each command of the palette and the menus: prompts, confirmation, progress. `handlers.ts` lists them
 * all. Their tests are in `test/host`; what is plain of them in `test/unit`.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import { BusError } from '../bus';
import { ConnectionError } from '../connections/connectionFailure';
import type { CommandId } from '../manifest/commands';
import type { Log } from '../ui/log';
import type { Notifications } from '../ui/notifications';

/** What each command does. Every declared command has its entry, or this does not compile. */
export type CommandHandlers = Readonly<Record<CommandId, (...args: unknown[]) => unknown>>;

/**
 * Registers every command with VS Code until disposed. What a command throws is logged; a failure of a connection or a server is
 * shown once with its next step, anything else fails for the caller too.
 */
export function registerCommands(handlers: CommandHandlers, log: Log, notifications: Notifications): Disposable {
  const registrations = Object.entries(handlers).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        return await handler(...args);
      } catch (error) {
        if (isCancelled(error)) return undefined;
        log.error(`${id} failed`, error);
        if (!ConnectionError.is(error) && !BusError.is(error)) throw error;
        await showFailure(error, notifications);
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}

async function showFailure(error: ConnectionError | BusError, notifications: Notifications): Promise<void> {
  const nextStep = ConnectionError.is(error) ? error.failure.nextStep : undefined;
  const actions = nextStep
    ? [{ title: nextStep.title, run: () => vscode.commands.executeCommand(nextStep.command) }]
    : [];
  await notifications.error(error.message, ...actions);
}

/** What a person cancelled is no failure. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
