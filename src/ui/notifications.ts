import * as vscode from 'vscode';

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
    error: (message, ...actions) => show(vscode.window.showErrorMessage(message, ...titles(actions)), actions),
    warning: (message, ...actions) => show(vscode.window.showWarningMessage(message, ...titles(actions)), actions),
    information: (message, ...actions) =>
      show(vscode.window.showInformationMessage(message, ...titles(actions)), actions),
    status: (message) => {
      vscode.window.setStatusBarMessage(message, 5000);
    },
  };
}

function titles(actions: readonly NotificationAction[]): string[] {
  return actions.map(({ title }) => title);
}

async function show(chosen: Thenable<string | undefined>, actions: readonly NotificationAction[]): Promise<void> {
  const title = await chosen;
  await actions.find((action) => action.title === title)?.run();
}
