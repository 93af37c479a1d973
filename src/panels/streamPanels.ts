/**
 * panels: the hosts of the webview panels. They read through `connections` and write nothing; a webview gets only what it asked for.
 * Their pages are in `webview/`, what the two say to each other in `src/protocol`. Tests: `test/unit`, `test/webview`, `test/host`.
 *
 * This file: the stream panels, one for each stream, opened by tree and commands and made again after a reload of the window.
 */
import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import { Disposables } from '../base/disposables';
import type { Disposable } from '../base/disposables';
import { Emitter } from '../base/emitter';
import type { EntryId, StreamKey } from '../bus';
import type { Connections } from '../connections/liveConnection';
import type { ConnectionId } from '../connections/profiles';
import { PanelError } from './panelError';
import { isPanelIdentity, panelKey } from './panelIdentity';
import { StreamPanel } from './streamPanel';
import type { ActOnEntry, StreamPanelDeps } from './streamPanel';
import type { ReaderOf } from './streamReader';
import { registerValueDocuments } from './valueDocuments';

/** The type of the stream panels, which package.json's activation events name. */
export const streamPanelType = 'redisStreams.stream';

/** What the stream panels need. */
export interface StreamPanelsDeps {
  readonly extensionUri: vscode.Uri;
  readonly connections: Connections;
  readonly readerOf: ReaderOf;
  readonly warn: (message: string) => void;
  readonly act: ActOnEntry;
}

/** Opens stream panels and keeps track of them; VS Code restores them through it. */
export class StreamPanels implements Disposable {
  private readonly disposables = new Disposables();
  private readonly panels = new Map<string, StreamPanel>();
  private readonly bundles: vscode.Uri;
  private readonly shown = this.disposables.add(new Emitter<ConnectionId>());

  /** Fires when a panel comes to the front, with its connection. */
  readonly onDidShow = this.shown.event;

  constructor(private readonly deps: StreamPanelsDeps) {
    this.bundles = vscode.Uri.joinPath(deps.extensionUri, 'dist', 'webview');
  }

  /** Starts restoring panels and providing the documents of whole values. */
  register(): Disposable {
    this.disposables.add(
      vscode.window.registerWebviewPanelSerializer(streamPanelType, {
        deserializeWebviewPanel: (panel, state: unknown) => {
          this.restore(panel, state);
          return Promise.resolve();
        },
      }),
    );
    this.disposables.add(registerValueDocuments((address, signal) => this.readValue(address, signal)));
    return this;
  }

  /** Shows the panel of a stream, a new one only when there is none; with `select` at that entry. */
  open(connectionId: ConnectionId, stream: StreamKey, options: { readonly select?: EntryId } = {}): void {
    const known = this.panels.get(panelKey({ connectionId, stream }));
    if (known) {
      known.reveal(options.select);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      streamPanelType,
      displayText(stream),
      vscode.ViewColumn.Active,
      this.webviewOptions(),
    );
    this.adopt(panel, { connectionId, stream }, { isRestored: false, selectedId: options.select ?? null });
  }

  dispose(): void {
    this.disposables.dispose();
    for (const panel of [...this.panels.values()]) panel.dispose();
  }

  private restore(panel: vscode.WebviewPanel, state: unknown): void {
    const kept: unknown =
      typeof state === 'object' && state !== null && 'identity' in state ? state.identity : undefined;
    if (!isPanelIdentity(kept) || this.panels.has(panelKey(kept))) {
      panel.dispose();
      return;
    }
    panel.webview.options = this.webviewOptions();
    const connectionId = kept.connectionId as ConnectionId;
    const stream = kept.stream as StreamKey;
    this.adopt(panel, { connectionId, stream }, { isRestored: true, selectedId: null });
  }

  private adopt(
    panel: vscode.WebviewPanel,
    place: StreamPanelDeps['place'],
    start: { readonly isRestored: boolean; readonly selectedId: string | null },
  ): void {
    const key = panelKey(place);
    const own = new StreamPanel(panel, {
      ...start,
      place,
      connections: this.deps.connections,
      readerOf: this.deps.readerOf,
      bundles: this.bundles,
      media: vscode.Uri.joinPath(this.deps.extensionUri, 'media'),
      warn: this.deps.warn,
      act: this.deps.act,
      open: (stream, id) => {
        this.open(place.connectionId, stream, id === undefined ? {} : { select: id });
      },
    });
    this.panels.set(key, own);
    const tellShown = (): void => {
      if (panel.active) this.shown.fire(place.connectionId);
    };
    tellShown();
    panel.onDidChangeViewState(tellShown);
    panel.onDidDispose(() => {
      own.dispose();
      this.panels.delete(key);
    });
  }

  private async readValue(
    { connectionId, stream, id, field }: { connectionId: string; stream: string; id: string; field: number },
    signal: AbortSignal,
  ): Promise<{ name: string; value: Uint8Array }> {
    const connection = this.deps.connections.find(connectionId as ConnectionId);
    const entry = connection ? await this.deps.readerOf(connection, stream as StreamKey).fields(id, signal) : null;
    const value = entry?.fields[2 * field + 1];
    if (!value) {
      const message = connection
        ? vscode.l10n.t('The entry {0} of {1} is gone, or has no such field.', displayText(id), displayText(stream))
        : vscode.l10n.t('The connection of this value was removed.');
      throw new PanelError({ reason: 'no-entry', message, retriable: false });
    }
    return { name: '', value };
  }

  private webviewOptions(): vscode.WebviewOptions & vscode.WebviewPanelOptions {
    return { enableScripts: true, enableForms: false, localResourceRoots: [this.bundles] };
  }
}
