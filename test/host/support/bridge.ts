// The tests' end of the test bridge: listens on loopback, lets in the extension in ../bridge by its secret, and asks it
// what only an extension inside VS Code can know or do. Survives a reload of the window: requests wait for the bridge to
// come back. Tested by ../harness.test.ts.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type * as vscode from 'vscode';
import { eventually } from '../../support/eventually';

/** What an extension looks like from inside VS Code. */
export interface ExtensionState {
  readonly id: string;
  readonly isActive: boolean;
  readonly version: string;
  readonly path: string;
  readonly exports: readonly string[];
}

/** A debug session as `vscode.debug` shows it; js-debug has a child session for the process under its own. */
export interface DebugSessionState {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly parent: string | null;
}

/** An event of the Debug Adapter Protocol that a session sent. */
export interface DebugEvent {
  readonly session: string;
  readonly event: string;
  readonly body: unknown;
}

/** A text document that VS Code holds open. */
export interface DocumentState {
  readonly uri: string;
  readonly languageId: string;
  readonly isDirty: boolean;
  readonly isUntitled: boolean;
  readonly text: string;
}

/** An editor tab. */
export interface TabState {
  readonly label: string;
  readonly isActive: boolean;
  readonly isDirty: boolean;
  readonly isPreview: boolean;
  readonly uri: string | null;
  readonly viewType: string | null;
}

/** A terminal and what it was created with. */
export interface TerminalState {
  readonly name: string;
  readonly creationOptions: Readonly<Record<string, unknown>>;
  readonly exitStatus: { readonly code?: number } | null;
}

const connectionTimeoutMs = 90_000;

/** Requests to the extension inside VS Code. */
export class Bridge {
  /** Every event of every debug session since the window opened, oldest first. */
  readonly debugEvents: DebugEvent[] = [];
  /** How often the bridge has connected: one more after each reload. */
  connections = 0;

  private readonly secret = randomUUID();
  private readonly server: Server;
  private readonly pending = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  private socket: Socket | undefined;
  private lastId = 0;

  constructor() {
    this.server = createServer((socket) => this.accept(socket));
  }

  /** Listens; the result is what the environment variable REDIS_STREAMS_TEST_BRIDGE of VS Code has to hold. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return `${this.port}:${this.secret}`;
  }

  /** The loopback port, 0 when closed. */
  get port(): number {
    const address = this.server.address();
    return address === null || typeof address === 'string' ? 0 : address.port;
  }

  /** Resolves when the extension is there; `beyond` waits for a newer connection than that, after a reload. */
  async connected(beyond = 0): Promise<void> {
    await eventually(() => this.socket !== undefined && this.connections > beyond, {
      timeoutMs: connectionTimeoutMs,
      what: 'the test bridge to connect',
    });
  }

  async close(): Promise<void> {
    this.socket?.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Runs a command as `vscode.commands.executeCommand` does. */
  executeCommand(command: string, ...args: unknown[]): Promise<unknown> {
    return this.request('executeCommand', { command, args });
  }

  /** Every registered command that starts with `prefix`, sorted. */
  commands(prefix: string): Promise<string[]> {
    return this.request('commands', { prefix });
  }

  setting(name: string): Promise<unknown> {
    return this.request('setting', { name });
  }

  /** Writes a user setting; `undefined` removes it. */
  async updateSetting(name: string, value: unknown): Promise<void> {
    await this.request('updateSetting', { name, value });
  }

  extension(id: string): Promise<ExtensionState> {
    return this.request('extension', { id });
  }

  activate(id: string): Promise<ExtensionState> {
    return this.request('activate', { id });
  }

  debugSessions(): Promise<DebugSessionState[]> {
    return this.request('debugSessions');
  }

  activeDebugSession(): Promise<DebugSessionState | null> {
    return this.request('activeDebugSession');
  }

  /** A request of the Debug Adapter Protocol to a running session. */
  debugRequest(session: string, command: string, args: unknown): Promise<unknown> {
    return this.request('debugRequest', { session, command, args });
  }

  startDebugging(configuration: Readonly<Record<string, unknown>>): Promise<boolean> {
    return this.request('startDebugging', { configuration });
  }

  async stopDebugging(): Promise<void> {
    await this.request('stopDebugging');
  }

  /** Sets a breakpoint in the file `path`; lines count from 1. */
  async addBreakpoint(path: string, line: number): Promise<void> {
    await this.request('addBreakpoint', { path, line });
  }

  async removeBreakpoints(): Promise<void> {
    await this.request('removeBreakpoints');
  }

  documents(): Promise<DocumentState[]> {
    return this.request('documents');
  }

  tabs(): Promise<TabState[]> {
    return this.request('tabs');
  }

  terminals(): Promise<TerminalState[]> {
    return this.request('terminals');
  }

  readClipboard(): Promise<string> {
    return this.request('readClipboard');
  }

  async writeClipboard(text: string): Promise<void> {
    await this.request('writeClipboard', { text });
  }

  /** Runs `probe` inside the extension host. It sees only its arguments, and both they and its result travel as JSON. */
  evaluate<Result, Argument = undefined>(
    probe: (api: typeof vscode, argument: Argument) => Result | PromiseLike<Result>,
    ...[argument]: Argument extends undefined ? [] : [Argument]
  ): Promise<Result> {
    return this.request('evaluate', { source: probe.toString(), argument });
  }

  /** The caller names the type that the operation in ../bridge/operations.js answers with. */
  private async request<Result>(operation: string, argument?: unknown): Promise<Result> {
    await this.connected();
    const id = ++this.lastId;
    return new Promise<Result>((resolve, reject) => {
      this.pending.set(id, { resolve: (value) => resolve(value as Result), reject });
      this.socket?.write(`${JSON.stringify({ id, operation, argument })}\n`);
    });
  }

  private accept(socket: Socket): void {
    let rest = '';
    let welcome = false;
    socket.setNoDelay(true).setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (text) => {
      const lines = `${rest}${text.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const message = parse(line);
        if (welcome) this.take(message);
        else if (message.hello === this.secret) {
          welcome = true;
          this.rejectPending();
          this.socket = socket;
          this.connections += 1;
        } else socket.destroy();
      }
    });
    socket.on('close', () => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      this.rejectPending();
    });
  }

  private rejectPending(): void {
    for (const { reject } of this.pending.values()) reject(new Error('The window closed before it answered.'));
    this.pending.clear();
  }

  private take(message: Readonly<Record<string, unknown>>): void {
    const { id, event, error } = message;
    if (event === 'debugEvent') this.debugEvents.push(message.data as DebugEvent);
    if (typeof id !== 'number') return;
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    if (typeof error === 'string') waiting?.reject(new Error(`In VS Code: ${error}`));
    else waiting?.resolve(message.result);
  }
}

function parse(line: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(line);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
