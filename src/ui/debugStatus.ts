import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import { escapeIcons } from '../base/iconText';
import type { CommandId } from '../manifest/commands';

const openHeldMessage: CommandId = 'redisStreams.openHeldMessage';

/** The status bar's item for what is being debugged; hidden while nothing is. A click opens the message. */
export class DebugStatus implements Disposable {
  private readonly item: vscode.StatusBarItem;

  constructor(name: string) {
    this.item = vscode.window.createStatusBarItem('redisStreams.debug', vscode.StatusBarAlignment.Left, 9);
    this.item.name = name;
    this.item.command = openHeldMessage;
  }

  show(status: { readonly text: string; readonly tooltip: string } | undefined): void {
    if (!status) {
      this.item.hide();
      return;
    }
    this.item.text = `$(debug) ${escapeIcons(status.text)}`;
    this.item.tooltip = status.tooltip;
    this.item.accessibilityInformation = { label: status.text };
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
