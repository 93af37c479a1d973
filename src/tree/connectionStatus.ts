import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import { Disposables } from '../base/disposables';
import type { Disposable } from '../base/disposables';
import type { Connections, LiveConnection } from '../connections/liveConnection';
import { environmentColor } from '../connections/profiles';
import { EnvironmentStatus } from '../ui/environmentStatus';
import { connectionText, environmentText, joinFacts, writableText } from './phrases';

/** What the status bar follows. */
export interface ConnectionStatusDeps {
  readonly connections: Connections;
  /** The connection that was chosen last: by selecting in the tree, or by opening a panel. */
  readonly chosen: () => LiveConnection | undefined;
  readonly nowMs: () => number;
}

/** Keeps the environment of the connection in use in the status bar: the one that was chosen last, else the first that is open. */
export class ConnectionStatus implements Disposable {
  private readonly disposables = new Disposables();
  private readonly item: EnvironmentStatus;

  constructor(private readonly deps: ConnectionStatusDeps) {
    this.item = this.disposables.add(new EnvironmentStatus(vscode.l10n.t('Redis Streams environment')));
    this.disposables.add(
      deps.connections.onDidChange(() => {
        this.update();
      }),
    );
    this.update();
  }

  /** Called when another connection was chosen. */
  update(): void {
    const connection = this.current();
    if (!connection) {
      this.item.show(undefined);
      return;
    }
    const { profile, state, isReadOnly, writableUntilMs } = connection;
    const words = { l10n: vscode.l10n, locale: vscode.env.language };
    const name = displayText(profile.name);
    const facts = { environment: profile.environment, isReadOnly, writableUntilMs, nowMs: this.deps.nowMs() };
    const writable = writableText(facts, words);
    this.item.show({
      icon: writable === undefined ? 'server-environment' : 'unlock',
      text: joinFacts(environmentText(profile.environment, words), name, writable),
      tooltip: vscode.l10n.t('Redis Streams: {0}, {1}', name, connectionText(state, facts, words)),
      color: environmentColor(profile.environment),
      isAlarming: profile.environment === 'production',
    });
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private current(): LiveConnection | undefined {
    const open = this.deps.connections.list().filter(({ state }) => state.kind !== 'disconnected');
    const chosen = this.deps.chosen();
    return chosen && open.includes(chosen) ? chosen : open[0];
  }
}
