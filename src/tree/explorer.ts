/**
 * tree: the sidebar. Connections, streams, groups, consumers, pending entries, dead letters. It reads through `connections` and
 * writes nothing. All but this file and `treeItems.ts` is plain TypeScript: `treeModel.ts` is the tree, `nodes/` a file a kind,
 * `reads.ts` what a level reads. Its tests are in `test/unit`, `test/bus` (golden text of whole trees) and `test/host`.
 */
import * as vscode from 'vscode';
import type { Clock } from '../base/clock';
import { Disposables } from '../base/disposables';
import type { Disposable } from '../base/disposables';
import type { HeldByDebugger } from '../connections/heldMessages';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { LiveConnection } from '../connections/liveConnection';
import type { Environment } from '../connections/profiles';
import type { ConnectionId } from '../connections/profiles';
import { readSetting } from '../manifest/settings';
import type { SettingKey } from '../manifest/settings';
import type { ViewId } from '../manifest/views';
import { AutomaticRefresh } from './automaticRefresh';
import { createInspectReads } from './inspectReads';
import { ConnectionNode } from './nodes/connectionNode';
import { toTreeItem } from './treeItems';
import { TreeModel } from './treeModel';
import { TreeNode } from './treeNode';

const explorerId: ViewId = 'redisStreams.explorer';

/** How long changes of what a debug session holds are gathered before the tree is read again. */
const heldDelayMs = 300;

/** What the explorer needs. */
export interface ExplorerDeps {
  readonly connections: ConnectionRegistry;
  readonly clock: Clock;
  readonly getSetting: (key: SettingKey) => unknown;
  readonly held: HeldByDebugger;
}

/** The explorer view: shows the tree, keeps it fresh while somebody looks, and tells commands what is selected. */
export class Explorer implements Disposable {
  readonly model: TreeModel;
  private readonly disposables = new Disposables();
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly refreshing: AutomaticRefresh;
  private readonly cancelHeld = new Map<ConnectionId, () => void>();
  private readonly holds = new Map<LiveConnection, Disposable>();

  constructor(private readonly deps: ExplorerDeps) {
    const { connections, clock, getSetting, held } = deps;
    this.model = this.disposables.add(
      new TreeModel({
        connections,
        readsOf: (connection) => createInspectReads(connection, vscode.l10n),
        context: {
          l10n: vscode.l10n,
          locale: vscode.env.language,
          clock,
          held,
          settings: () => ({
            pageSize: readSetting(getSetting, 'redisStreams.pageSize'),
            keySeparator: readSetting(getSetting, 'redisStreams.keySeparator'),
            scanMatch: readSetting(getSetting, 'redisStreams.scan.match'),
            refreshSeconds: (environment) => this.refreshSeconds(environment),
          }),
        },
      }),
    );
    const drawn = this.disposables.add(new vscode.EventEmitter<TreeNode | undefined>());
    this.view = this.disposables.add(
      vscode.window.createTreeView<TreeNode>(explorerId, {
        treeDataProvider: {
          onDidChangeTreeData: drawn.event,
          getTreeItem: toTreeItem,
          getChildren: async (node) => [...(node ? await node.children() : this.model.roots())],
          getParent: (node) => node.parent,
        },
        canSelectMany: true,
        showCollapseAll: true,
      }),
    );
    this.disposables.add(
      held.onDidChange((id) => {
        this.heldChanged(id);
      }),
    );
    this.refreshing = this.disposables.add(this.createRefreshing());
    this.disposables.add(
      this.model.onDidChange((node) => {
        drawn.fire(node);
      }),
    );
    this.disposables.add(
      connections.onDidChange(() => {
        this.holdVisible();
        this.refreshing.update();
      }),
    );
    this.disposables.add(
      this.view.onDidChangeVisibility(({ visible }) => {
        this.setVisible(visible);
      }),
    );
    this.disposables.add(
      vscode.window.onDidChangeWindowState(({ focused }) => {
        this.refreshing.setFocused(focused);
      }),
    );
    this.refreshing.setFocused(vscode.window.state.focused);
    this.setVisible(this.view.visible);
  }

  /** Fires when another node is selected. */
  readonly onDidChangeSelection = (listener: () => void): Disposable =>
    this.disposables.add(this.view.onDidChangeSelection(listener));

  /** The selected nodes, in the order of selection. */
  get selection(): readonly TreeNode[] {
    return this.view.selection;
  }

  /** Reads a node, or everything, again. */
  refresh(node: TreeNode | undefined): void {
    const connection = node && connectionOf(node);
    if (connection) this.refreshing.noteRead(connection.connection);
    this.model.refresh(node);
  }

  /** Opens the way to a node and selects it. */
  async reveal(node: TreeNode): Promise<void> {
    await this.view.reveal(node, { select: true, focus: true, expand: true });
  }

  /** Called when settings of the tree changed. */
  settingsChanged(): void {
    this.model.refresh(undefined);
    this.refreshing.update();
  }

  /** What a debug session holds changed, and with it what the server says: read again, a few changes at once. */
  private heldChanged(id: ConnectionId): void {
    if (this.cancelHeld.has(id) || !this.view.visible) return;
    const cancel = this.deps.clock.after(heldDelayMs, () => {
      this.cancelHeld.delete(id);
      const connection = this.deps.connections.find(id);
      if (connection?.state.kind === 'connected') this.model.refreshAutomatically(connection);
    });
    this.cancelHeld.set(id, cancel);
  }

  dispose(): void {
    for (const cancel of this.cancelHeld.values()) cancel();
    for (const hold of this.holds.values()) hold.dispose();
    this.disposables.dispose();
  }

  private createRefreshing(): AutomaticRefresh {
    const { connections, clock } = this.deps;
    return new AutomaticRefresh({
      clock,
      list: () => connections.list(),
      seconds: (environment) => this.refreshSeconds(environment),
      refresh: (connection) => {
        this.model.refreshAutomatically(connection);
      },
    });
  }

  private refreshSeconds(environment: Environment): number {
    const isProduction = environment === 'production';
    return readSetting(
      this.deps.getSetting,
      isProduction ? 'redisStreams.autoRefreshProductionSeconds' : 'redisStreams.autoRefreshSeconds',
    );
  }

  private setVisible(visible: boolean): void {
    this.refreshing.setVisible(visible);
    this.holdVisible();
  }

  /** While the tree is visible it holds every connection, so that links stay open and lost ones are tried again. */
  private holdVisible(): void {
    const wanted = new Set(this.view.visible ? this.deps.connections.list() : []);
    for (const [connection, hold] of this.holds) {
      if (wanted.has(connection)) continue;
      hold.dispose();
      this.holds.delete(connection);
    }
    for (const connection of wanted) {
      if (!this.holds.has(connection)) this.holds.set(connection, connection.hold());
    }
  }
}

/** The connection that a node lies below, or is. */
export function connectionOf(node: TreeNode): ConnectionNode | undefined {
  for (let at: TreeNode | undefined = node; at; at = at.parent) if (at instanceof ConnectionNode) return at;
  return undefined;
}

/** Tells whether what a command was given is a node of the tree. */
export function isTreeNode(value: unknown): value is TreeNode {
  return value instanceof TreeNode;
}
