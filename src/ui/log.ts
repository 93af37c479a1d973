/**
 * ui: all that people see outside the tree and the panels. The log, notifications, confirmations and pickers; the only callers of
 * `vscode.window.show*`. It knows nothing of Redis. Its tests are in `test/host`.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';

/** The extension's log channel. Secrets and payload bytes never go into it. */
export interface Log extends Disposable {
  info(message: string): void;
  warn(message: string): void;
  error(message: string, error?: unknown): void;
  /** Brings the log to the front. */
  open(): void;
}

/** Creates the log channel; VS Code keeps its lines and its level. */
export function createLog(): Log {
  const channel = vscode.window.createOutputChannel('Redis Streams', { log: true });
  return {
    info: (message) => {
      channel.info(message);
    },
    warn: (message) => {
      channel.warn(message);
    },
    error: (message, error) => {
      channel.error(error instanceof Error ? `${message} (${error.name}: ${error.message})` : message);
    },
    open: () => {
      channel.show(true);
    },
    dispose: () => {
      channel.dispose();
    },
  };
}
