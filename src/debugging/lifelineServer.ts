/**
 * The editor's end of a lifeline: one loopback server for each launched worker. Its main thread and its heartbeat thread connect, say
 * the secret, and end themselves when their connections end. It knows nothing of VS Code or Redis; its tests are in `test/worker`.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

const outcomes = [
  'acknowledged',
  'retry-scheduled',
  'dead-lettered',
  'released',
  'ownership-lost',
  'message-gone',
  'not-settled',
] as const;

/** What became of a message. */
export type SettledOutcome = (typeof outcomes)[number];

/** What a worker tells; it says the same in `src/worker/run/lifelineClient.ts`. */
export type WorkerMessage =
  | { readonly type: 'hello'; readonly pid: number }
  | { readonly type: 'ready'; readonly group: string; readonly consumer: string }
  | { readonly type: 'delivered'; readonly id: string; readonly deliveryCount: number }
  | { readonly type: 'settled'; readonly id: string; readonly outcome: SettledOutcome }
  | { readonly type: 'error'; readonly reason: string; readonly message: string }
  | { readonly type: 'bye'; readonly exitCode: number };

/** Whom a lifeline tells. */
export interface LifelineListener {
  readonly said: (message: WorkerMessage) => void;
  /** Every connection of the worker has ended, after there was one: its process is gone or about to be. */
  readonly ended: () => void;
}

/** Nobody needs longer lines, and nobody without the secret may fill memory. */
const maxLineLength = 64 * 1024;

/** A lifeline that is open. */
export class LifelineServer {
  readonly token = randomBytes(32).toString('hex');
  private readonly server: Server;
  private readonly known = new Set<Socket>();
  private readonly strangers = new Set<Socket>();

  constructor(private readonly listener: LifelineListener) {
    this.server = createServer((socket) => {
      this.accept(socket);
    });
  }

  /** Begins to listen; answers the port. Rejects when the machine has none to give. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host: '127.0.0.1', port: 0 }, () => {
        const address = this.server.address();
        if (address === null || typeof address === 'string') reject(new Error('The lifeline has no port'));
        else resolve(address.port);
      });
    });
  }

  /** How many connections have said the secret. */
  get connections(): number {
    return this.known.size;
  }

  /** Asks the worker to end; one that is stopped by the debugger ends without running on. */
  stop({ isPaused = false } = {}): void {
    const line = JSON.stringify({ type: 'stop', ...(isPaused ? { now: true } : {}) });
    for (const socket of this.known) if (socket.writable) socket.write(`${line}\n`);
  }

  /** Ends everything: what still runs at the other end ends itself. */
  dispose(): void {
    this.server.close();
    for (const socket of [...this.known, ...this.strangers]) socket.destroy();
  }

  private accept(socket: Socket): void {
    this.strangers.add(socket);
    socket.setEncoding('utf8');
    let rest = '';
    socket.on('data', (text: string) => {
      rest += text;
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.received(socket, line);
      if (rest.length > maxLineLength) socket.destroy();
    });
    // Every error is followed by a close.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.strangers.delete(socket);
      if (this.known.delete(socket) && this.known.size === 0) this.listener.ended();
    });
  }

  private received(socket: Socket, line: string): void {
    if (this.known.has(socket)) {
      const message = readMessage(line);
      if (message) this.listener.said(message);
      return;
    }
    if (!this.strangers.delete(socket)) return;
    if (isSame(line, this.token)) this.known.add(socket);
    else socket.destroy();
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** What a line says, or undefined when it is nothing that a worker says. */
export function readMessage(line: string): WorkerMessage | undefined {
  const fields = parseFields(line);
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  const number = (name: string): number => {
    const value = fields[name];
    return typeof value === 'number' ? value : 0;
  };
  switch (fields.type) {
    case 'hello':
      return { type: 'hello', pid: number('pid') };
    case 'ready':
      return { type: 'ready', group: text('group'), consumer: text('consumer') };
    case 'delivered':
      return { type: 'delivered', id: text('id'), deliveryCount: number('deliveryCount') };
    case 'settled': {
      const outcome = outcomes.find((known) => known === fields.outcome);
      return outcome && { type: 'settled', id: text('id'), outcome };
    }
    case 'error':
      return { type: 'error', reason: text('reason'), message: text('message') };
    case 'bye':
      return { type: 'bye', exitCode: number('exitCode') };
    default:
      return undefined;
  }
}

function parseFields(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
