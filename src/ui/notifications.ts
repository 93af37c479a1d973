import * as vscode from 'vscode';
import { escapeIcons } from '../base/iconText';

/** A button of a notification, and what it does. */
export interface NotificationAction {
  readonly title: string;
  run(): unknown;
}

/** What people are told outside of what they are looking at. Each call shows once; what a person chose has run when it resolves. */
export interface Notifications {
  error(message: string, ...actions: NotificationAction[]): Promise<void>;
  warning(message: string, ...actions: NotificationAction[]): Promise<void>;
  information(message: string, ...actions: NotificationAction[]): Promise<void>;
  /** A short note in the status bar, gone after five seconds: for what went as asked. */
  status(message: string): void;
}

/** Shows notifications through VS Code. */
export function createNotifications(): Notifications {
  return {
    error: (message, ...actions) =>
      show(vscode.window.showErrorMessage(withoutLinks(message), ...titles(actions)), actions),
    warning: (message, ...actions) =>
      show(vscode.window.showWarningMessage(withoutLinks(message), ...titles(actions)), actions),
    information: (message, ...actions) =>
      show(vscode.window.showInformationMessage(withoutLinks(message), ...titles(actions)), actions),
    status: (message) => {
      vscode.window.setStatusBarMessage(escapeIcons(message), 5000);
    },
  };
}

/** VS Code makes links, also to commands, of `[text](target)` in notifications; a name must not be able to. */
function withoutLinks(message: string): string {
  return message.replaceAll('](', '] (');
}

function titles(actions: readonly NotificationAction[]): string[] {
  return actions.map(({ title }) => title);
}

async function show(chosen: Thenable<string | undefined>, actions: readonly NotificationAction[]): Promise<void> {
  const title = await chosen;
  await actions.find((action) => action.title === title)?.run();
}
