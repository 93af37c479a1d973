import type { Disposable } from '../base/disposables';
import { Emitter } from '../base/emitter';
import type { Connections, LiveConnection } from '../connections/liveConnection';
import type { ConnectionId } from '../connections/profiles';
import type { ProfileProblem } from '../connections/settingProfiles';
import type { TreeReads } from './reads';
import { ConnectionNode } from './nodes/connectionNode';
import { ProblemNode } from './nodes/smallNodes';
import type { TreeNode } from './treeNode';
import type { TreeContext } from './treeContext';

/** What the model needs from outside. */
export interface TreeModelDeps {
  readonly connections: Connections & { problems(): readonly ProfileProblem[] };
  readonly readsOf: (connection: LiveConnection) => TreeReads;
  readonly context: TreeContext;
}

/** The whole tree without VS Code: roots, and which node has to be drawn anew. */
export class TreeModel implements Disposable {
  private nodes = new Map<ConnectionId, ConnectionNode>();
  private readonly changed = new Emitter<TreeNode | undefined>();
  private readonly listener: Disposable;
  private readonly lost = new WeakSet<LiveConnection>();
  private cancelCountdown: (() => void) | undefined;

  constructor(private readonly deps: TreeModelDeps) {
    this.listener = deps.connections.onDidChange((connection) => {
      this.connectionChanged(connection);
    });
  }

  /** Fires with the node whose row and children are to be asked for again; without one: all. */
  readonly onDidChange = (listener: (node: TreeNode | undefined) => void): Disposable => this.changed.event(listener);

  roots(): readonly TreeNode[] {
    const { connections, context } = this.deps;
    return [
      ...connections.problems().map((problem) => new ProblemNode(problem, context)),
      ...connections.list().map((connection) => this.nodeOf(connection)),
    ];
  }

  connectionNodes(): readonly ConnectionNode[] {
    return this.deps.connections.list().map((connection) => this.nodeOf(connection));
  }

  /** The node of a connection; the same object as long as the connection is. */
  nodeOf(connection: LiveConnection): ConnectionNode {
    const { id } = connection.profile;
    const known = this.nodes.get(id);
    if (known?.connection === connection) return known;
    const node = new ConnectionNode(connection, this.deps.readsOf(connection), this.deps.context);
    this.nodes.set(id, node);
    return node;
  }

  /** Reads a node and all that is open below it again; without a node, everything. */
  refresh(node: TreeNode | undefined): void {
    if (node) node.markStale();
    else for (const root of this.connectionNodes()) root.markStale();
    this.changed.fire(node);
  }

  /** Reads a connection again because time has passed; spares a large keyspace the scan. */
  refreshAutomatically(connection: LiveConnection): void {
    const node = this.nodeOf(connection);
    node.markStaleAutomatically();
    this.changed.fire(node);
  }

  /** Draws a node again without reading. */
  redraw(node: TreeNode | undefined): void {
    this.changed.fire(node);
  }

  dispose(): void {
    this.cancelCountdown?.();
    this.listener.dispose();
    this.changed.dispose();
  }

  private connectionChanged(connection: LiveConnection | undefined): void {
    if (!connection) {
      this.forgetRemoved();
      this.changed.fire(undefined);
      return;
    }
    const node = this.nodeOf(connection);
    const { state } = connection;
    const wasLost = this.lost.has(connection);
    if (state.kind === 'lost') this.lost.add(connection);
    else if (state.kind !== 'connecting') this.lost.delete(connection);
    // What was read before the link broke stays on screen until it can be read again. A connection that was only just made is
    // being read already, by the node that asked for it.
    const mustForget = state.kind === 'disconnected' && !state.failure;
    if (mustForget || (wasLost && state.kind === 'connected')) node.markStale();
    this.changed.fire(node);
    this.countDown();
  }

  private forgetRemoved(): void {
    const here = new Set(this.deps.connections.list().map(({ profile }) => profile.id));
    for (const id of this.nodes.keys()) if (!here.has(id)) this.nodes.delete(id);
  }

  /** Redraws lost connections once a second, so that the time to the next attempt is true. */
  private countDown(): void {
    if (this.cancelCountdown) return;
    const lost = this.connectionNodes().filter(({ connection }) => connection.state.kind === 'lost');
    if (lost.length === 0) return;
    this.cancelCountdown = this.deps.context.clock.after(1000, () => {
      this.cancelCountdown = undefined;
      for (const node of lost) this.changed.fire(node);
      this.countDown();
    });
  }
}
