/** One stream's webview panel: its page, its transport, and what its answers need from VS Code and the connection. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { bytesToText, displayText } from '../base/byteText';
import { Disposables } from '../base/disposables';
import type { Disposable } from '../base/disposables';
import type { EntryId, StreamKey } from '../bus';
import { describeReadFailure } from '../connections/describeFailure';
import type { Connections, LiveConnection } from '../connections/liveConnection';
import type { ConnectionId } from '../connections/profiles';
import type { ErrorData } from '../protocol/envelope';
import type { ConnectionView, EntryAction, StreamPanelContract } from '../protocol/streamPanel';
import { connectionView } from './connectionView';
import { PanelError } from './panelError';
import { PanelHost } from './panelHost';
import { PanelLink } from './panelLink';
import { panelHtml } from './panelHtml';
import type { ReaderOf, StreamReader } from './streamReader';
import { streamRequests } from './streamRequests';
import { openValueDocument } from './valueDocuments';

/** What one panel is made of. */
export interface StreamPanelDeps {
  readonly place: { readonly connectionId: ConnectionId; readonly stream: StreamKey };
  readonly connections: Connections;
  readonly readerOf: ReaderOf;
  /** The folder of the built pages. */
  readonly bundles: vscode.Uri;
  /** The folder of the icons. */
  readonly media: vscode.Uri;
  /** True for a panel that VS Code brought back: it reads by itself only where that asks nothing new of anybody. */
  readonly isRestored: boolean;
  readonly selectedId: string | null;
  readonly warn: (message: string) => void;
  readonly open: (stream: StreamKey, id: EntryId | undefined) => void;
  readonly act: ActOnEntry;
}

/** Asks people and does something to an entry; `commands` has the real one. */
export type ActOnEntry = (connection: LiveConnection, stream: StreamKey, action: EntryAction) => Promise<void>;

/** Serves one panel until it is closed. */
export class StreamPanel implements Disposable {
  private readonly disposables = new Disposables();
  private readonly host: PanelHost<StreamPanelContract>;
  private selectedId: string | null;
  private hold: Disposable | undefined;
  private connectionListener: Disposable | undefined;
  private connection: LiveConnection | undefined;
  private readonly link: PanelLink;
  private readonly readers = new WeakMap<LiveConnection, StreamReader>();

  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly deps: StreamPanelDeps,
  ) {
    this.selectedId = deps.selectedId;
    this.link = new PanelLink(deps.isRestored, vscode.l10n);
    this.host = this.disposables.add(this.createHost());
    this.disposables.add(
      deps.connections.onDidChange((changed) => {
        if (changed === undefined || changed === this.connection) this.follow();
      }),
    );
    this.disposables.add(
      panel.onDidChangeViewState(() => {
        this.holdWhileVisible();
      }),
    );
    this.follow();
    this.holdWhileVisible();
    const iconOf = (theme: string): vscode.Uri => vscode.Uri.joinPath(deps.media, `stream-${theme}.svg`);
    panel.iconPath = { light: iconOf('light'), dark: iconOf('dark') };
    panel.webview.html = this.html();
  }

  /** Brings the panel to the front, at an entry when one is given. */
  reveal(select: EntryId | undefined): void {
    if (select !== undefined) {
      this.selectedId = select;
      this.host.post('select', { id: select });
    }
    this.panel.reveal();
  }

  dispose(): void {
    this.disposables.dispose();
    this.connectionListener?.dispose();
    this.hold?.dispose();
    this.panel.dispose();
  }

  private createHost(): PanelHost<StreamPanelContract> {
    const { place, warn } = this.deps;
    const { webview } = this.panel;
    return new PanelHost<StreamPanelContract>({
      transport: {
        post: (message) => {
          webview.postMessage(message).then(undefined, () => {
            // A message to a page that is gone is lost: the next page asks for everything anew.
            return false;
          });
        },
        onMessage: (listener) => webview.onDidReceiveMessage(listener),
      },
      handlers: streamRequests({
        key: place.stream,
        reader: this.guardedReader(),
        l10n: vscode.l10n,
        session: () => ({
          translations: vscode.l10n.bundle ?? {},
          locale: vscode.env.language,
          selectedId: this.selectedId,
          identity: place,
        }),
        connection: () => this.view(),
        describeFailure: (error, what) => this.describe(error, what),
        copyText: async (text) => {
          await vscode.env.clipboard.writeText(text);
        },
        openValue: (id, field) => this.openValue(id, field),
        openPanel: (stream, id) => {
          this.deps.open(stream as StreamKey, id as EntryId | undefined);
        },
        runCommand: async (command) => {
          await vscode.commands.executeCommand(command);
        },
        connect: async (signal) => {
          if (!this.connection) throw new PanelError(this.removed());
          await this.link.connect(this.connection, signal);
        },
        act: async (action) => {
          if (!this.connection) throw new PanelError(this.removed());
          await this.deps.act(this.connection, place.stream, action);
        },
        onSelected: (id) => {
          this.selectedId = id;
        },
      }),
      describeError: (error) => {
        if (PanelError.is(error)) return error.data;
        warn(`A stream panel's request failed: ${error instanceof Error ? error.name : typeof error}`);
        const message = vscode.l10n.t('Something went wrong in the extension. The log has more.');
        return { reason: 'unexpected', message, retriable: true };
      },
      onUnpostable: (name, why) => {
        warn(`The answer to "${name}" could not be posted to a stream panel: ${why}.`);
      },
    });
  }

  /** Reads through whatever connection has the id now, so that an edited or removed one is noticed. */
  private guardedReader(): StreamReader {
    const reader = (): StreamReader => {
      const { connection } = this;
      if (!connection) throw new PanelError(this.removed());
      this.link.check(connection);
      const known = this.readers.get(connection) ?? this.deps.readerOf(connection, this.deps.place.stream);
      this.readers.set(connection, known);
      return known;
    };
    return {
      overview: async (signal) => reader().overview(signal),
      entries: async (query, signal) => reader().entries(query, signal),
      entry: async (id, signal) => reader().entry(id, signal),
      fields: async (id, signal) => reader().fields(id, signal),
    };
  }

  private describe(error: unknown, what: string): ErrorData {
    if (!this.connection) return this.removed();
    const { reason, message, retriable, nextStep } = describeReadFailure(
      error,
      what,
      this.connection.profile,
      vscode.l10n,
    );
    return { reason, message, retriable, ...(nextStep ? { nextStep } : {}) };
  }

  private removed(): ErrorData {
    const message = vscode.l10n.t('The connection of this panel was removed. Add it again, or close the panel.');
    const title = vscode.l10n.t('Add Connection…');
    return {
      reason: 'no-connection',
      message,
      retriable: true,
      nextStep: { title, command: 'redisStreams.addConnection' },
    };
  }

  private async openValue(id: string, field: number): Promise<void> {
    const { stream, connectionId } = this.deps.place;
    const entry = await this.guardedReader().fields(id, new AbortController().signal);
    const name = entry?.fields[2 * field];
    const value = entry?.fields[2 * field + 1];
    if (!name || !value) {
      const message = vscode.l10n.t('The entry {0} of {1} is gone, or has no such field.', id, displayText(stream));
      throw new PanelError({ reason: 'no-entry', message, retriable: false });
    }
    await openValueDocument({ connectionId, stream, id, field }, bytesToText(name), value);
  }

  /** Finds the connection again and tells the page how it stands. */
  private follow(): void {
    const found = this.deps.connections.find(this.deps.place.connectionId);
    if (found !== this.connection) {
      this.connectionListener?.dispose();
      this.hold?.dispose();
      this.hold = undefined;
      this.connection = found;
      this.connectionListener = found?.onDidChange(() => {
        this.tellConnection();
      });
      this.holdWhileVisible();
    }
    this.tellConnection();
  }

  private tellConnection(): void {
    const { stream } = this.deps.place;
    const view = this.view();
    this.panel.title = this.connection ? `${displayText(stream)} · ${displayText(view.name)}` : displayText(stream);
    this.host.post('connection', view);
  }

  private view(): ConnectionView {
    return connectionView(this.connection, vscode.l10n);
  }

  private holdWhileVisible(): void {
    if (this.panel.visible) this.hold ??= this.connection?.hold();
    else {
      this.hold?.dispose();
      this.hold = undefined;
    }
  }

  private html(): string {
    const { webview } = this.panel;
    const uriOf = (file: string): string =>
      webview.asWebviewUri(vscode.Uri.joinPath(this.deps.bundles, file)).toString();
    return panelHtml({
      title: displayText(this.deps.place.stream),
      locale: vscode.env.language,
      scriptUri: uriOf('stream.js'),
      styleUri: uriOf('stream.css'),
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('base64url'),
      styleNonce: randomBytes(16).toString('base64url'),
    });
  }
}
