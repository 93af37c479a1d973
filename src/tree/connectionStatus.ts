import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import type { Clock } from '../base/clock';
import { Disposables } from '../base/disposables';
import type { Disposable } from '../base/disposables';
import type { Connections, LiveConnection } from '../connections/liveConnection';
import { environmentColor } from '../connections/profiles';
import type { ConnectionId } from '../connections/profiles';
import { EnvironmentStatus } from '../ui/environmentStatus';
import { connectionOf } from './explorer';
import type { Explorer } from './explorer';
import { connectionText, environmentText, joinFacts, writableText } from './phrases';

/** What the status bar follows. */
export interface ConnectionStatusDeps {
  readonly connections: Connections;
  readonly explorer: Explorer;
  /** Tells when a panel comes to the front, with its connection. */
  readonly onDidShowPanel: (listener: (id: ConnectionId) => void) => Disposable;
  readonly clock: Clock;
}

/**
 * Keeps the environment of the connection in use in the status bar: the one whose node was selected or whose
 * panel came to the front last, else the first that is open.
 */
export class ConnectionStatus implements Disposable {
  private readonly disposables = new Disposables();
  private readonly item: EnvironmentStatus;
  private chosen: ConnectionId | undefined;

  constructor(private readonly deps: ConnectionStatusDeps) {
    this.item = this.disposables.add(new EnvironmentStatus(vscode.l10n.t('Redis Streams environment')));
    this.disposables.add(
      deps.connections.onDidChange(() => {
        this.update();
      }),
    );
    this.disposables.add(
      deps.explorer.onDidChangeSelection(() => {
        const [node] = deps.explorer.selection;
        this.choose(node && connectionOf(node)?.profile.id);
      }),
    );
    this.disposables.add(
      deps.onDidShowPanel((id) => {
        this.choose(id);
      }),
    );
    this.update();
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private choose(id: ConnectionId | undefined): void {
    this.chosen = id ?? this.chosen;
    this.update();
  }

  private update(): void {
    const connection = this.current();
    if (!connection) {
      this.item.show(undefined);
      return;
    }
    const { profile, state, isReadOnly, writableUntilMs } = connection;
    const words = { l10n: vscode.l10n, locale: vscode.env.language };
    const name = displayText(profile.name);
    const facts = { environment: profile.environment, isReadOnly, writableUntilMs, nowMs: this.deps.clock.now() };
    const writable = writableText(facts, words);
    this.item.show({
      icon: writable === undefined ? 'server-environment' : 'unlock',
      text: joinFacts(environmentText(profile.environment, words), name, writable),
      tooltip: vscode.l10n.t('Redis Streams: {0}, {1}', name, connectionText(state, facts, words)),
      color: environmentColor(profile.environment),
      isAlarming: profile.environment === 'production',
    });
  }

  private current(): LiveConnection | undefined {
    const open = this.deps.connections.list().filter(({ state }) => state.kind !== 'disconnected');
    return open.find(({ profile }) => profile.id === this.chosen) ?? open[0];
  }
}
