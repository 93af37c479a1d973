import type { Disposable } from '../base/disposables';
import type { ConnectionFailure } from './connectionFailure';
import type { Inspector } from './inspector';
import type { ConnectionId, ConnectionProfile } from './profiles';

/** What answered at the other end. */
export interface ServerDescription {
  /** `redis`, `valkey` and so on, as the bus detected it. */
  readonly kind: string;
  /** The engine's own version. */
  readonly version: string;
  readonly role: 'master' | 'replica' | 'unknown';
  readonly isCluster: boolean;
}

/** Where a connection stands. */
export type ConnectionState =
  /** Nothing was tried yet, or the user disconnected, or the last attempt failed for the reason in `failure`. */
  | { readonly kind: 'disconnected'; readonly byUser: boolean; readonly failure?: ConnectionFailure }
  | { readonly kind: 'connecting' }
  /** The server answered. Its sockets may be closed while nothing is read; the next read opens them again. */
  | { readonly kind: 'connected'; readonly server: ServerDescription }
  /** The link broke; the next attempt is made at `retryAtMs` of this machine's clock. */
  | { readonly kind: 'lost'; readonly failure: ConnectionFailure; readonly retryAtMs: number };

/** How to read. */
export interface ReadOptions {
  /** Aborting rejects at once with the signal's reason; a command that was sent already still runs on the server. */
  readonly signal?: AbortSignal;
  /** `bulk` for scans, searches and exports, so that clicks are not held up behind them. Default `control`. */
  readonly lane?: 'control' | 'bulk';
}

/**
 * A profile's connection as the tree and the panels see it. It hands out the bus's inspecting functions only, never a port, so
 * that nothing above this room can write to a server.
 */
export interface LiveConnection {
  readonly profile: ConnectionProfile;
  readonly state: ConnectionState;
  /** True until the write gate is opened for this connection; always true at first but for local ones. */
  readonly isReadOnly: boolean;
  /** Until when writing is unlocked, by this machine's clock; undefined when it is locked, or needs no unlocking. */
  readonly writableUntilMs: number | undefined;
  /** Fires after every change of `state`, `profile`, `isReadOnly` or `writableUntilMs`. */
  readonly onDidChange: (listener: () => void) => Disposable;

  /** Connects when it is not connected, also after a failure or a disconnect; rejects with a ConnectionError. */
  connect(signal?: AbortSignal): Promise<void>;
  /** Drops the links; what was in flight rejects. Stays disconnected until `connect`. */
  disconnect(): void;
  /**
   * Runs `work` with the inspecting functions, connecting first when nothing was tried yet. After a failed attempt, a lost link or
   * a disconnect by the user it rejects at once instead, and so does the first read of a connection that the workspace names: only
   * `connect` (Connect, Retry) tries then. Rejects with a BusError of the read or a ConnectionError of the connection.
   */
  read<T>(work: (inspect: Inspector, signal: AbortSignal) => Promise<T>, options?: ReadOptions): Promise<T>;
  /** While at least one hold lasts, a lost link is tried again and idle links stay open. Panels and a visible tree hold. */
  hold(): Disposable;
}

/** All connections that the user can see. */
export interface Connections {
  /** In the order of the tree. */
  list(): readonly LiveConnection[];
  find(id: ConnectionId): LiveConnection | undefined;
  /** Fires when connections are added, removed or change. Without a connection: the list itself changed. */
  readonly onDidChange: (listener: (changed: LiveConnection | undefined) => void) => Disposable;
}
