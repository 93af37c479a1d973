import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import type { CommandServices } from './commandServices';
import { createUriHandler } from './debugCommands';
import { createCommandHandlers } from './handlers';
import { registerCommands } from './register';

/** Registers all that starts something from outside: the commands, and links into this extension. */
export function registerEntryPoints(services: CommandServices): Disposable {
  return vscode.Disposable.from(
    registerCommands(createCommandHandlers(services), services.log, services.notifications),
    vscode.window.registerUriHandler(createUriHandler(services)),
  );
}
