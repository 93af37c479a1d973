import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import { escapeIcons } from '../base/iconText';

/** What the status bar says of the connection in use. */
export interface EnvironmentStatusText {
  /** The id of a codicon. */
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
  readonly color: string;
  /** Production stands out. */
  readonly isAlarming: boolean;
}

/** The status bar's item for the connection in use; hidden while there is none. A click shows the explorer. */
export class EnvironmentStatus implements Disposable {
  private readonly item: vscode.StatusBarItem;

  constructor(name: string) {
    this.item = vscode.window.createStatusBarItem('redisStreams.environment', vscode.StatusBarAlignment.Left, 10);
    this.item.name = name;
    this.item.command = 'redisStreams.explorer.focus';
  }

  show(status: EnvironmentStatusText | undefined): void {
    if (!status) {
      this.item.hide();
      return;
    }
    this.item.text = `$(${status.icon}) ${escapeIcons(status.text)}`;
    this.item.tooltip = status.tooltip;
    this.item.accessibilityInformation = { label: status.tooltip };
    this.item.color = status.isAlarming ? undefined : new vscode.ThemeColor(status.color);
    this.item.backgroundColor = status.isAlarming ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
