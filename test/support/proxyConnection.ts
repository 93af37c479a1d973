// One connection through the fault proxy: the client's socket, the server's, and what is between a command and its reply.
// Part of faultProxy.ts. Tested by test/bus/faultProxy.test.ts.
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandFault, CommandFaults } from './commandFault';
import { RespFrameReader, readWords } from './respFrames';
import type { RespFrame } from './respFrames';

/** What the connections of one proxy share. */
export interface ProxyState {
  mode: 'pass' | 'black-hole' | 'refuse';
  delayMs: number;
  /** Bytes are passed on without looking at them, as TLS needs; then there are no commands. */
  readonly opaque: boolean;
  readonly faults: CommandFaults;
  readonly forwarded: Map<string, number>;
}

interface Command {
  readonly words: readonly Buffer[];
  readonly fault: CommandFault | undefined;
}

/** A client's connection and its own connection to the server. Redis answers in order, so a queue pairs the two. */
export class ProxyConnection {
  private readonly server: Socket;
  private readonly requests = new RespFrameReader();
  private readonly replies = new RespFrameReader();
  private readonly unanswered: Command[] = [];
  /** Everything that goes to the client, in order, behind held and delayed replies. */
  private outbox: Promise<void> = Promise.resolve();
  /** A cut that waits until what is unanswered has been answered. */
  private pendingCut: (() => void) | undefined;
  /** Bytes were lost on this connection: it can never be in step again. */
  private isDeaf = false;

  constructor(
    private readonly client: Socket,
    targetPort: number,
    private readonly state: ProxyState,
    onClose: () => void,
  ) {
    this.server = createConnection({ host: '127.0.0.1', port: targetPort, noDelay: true });
    client.setNoDelay(true);
    client.on('data', (chunk) => this.takeRequests(chunk));
    this.server.on('data', (chunk) => this.takeReplies(chunk));
    // The server still reads what was sent before the end, as after a real client's end.
    client.on('close', () => this.server.end());
    this.server.on('close', () => client.destroySoon());
    for (const [socket, other] of [
      [client, this.server],
      [this.server, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (other.destroyed) onClose();
      });
    }
  }

  get isOpen(): boolean {
    return !this.client.destroyed;
  }

  cut(how: 'end' | 'reset'): void {
    this.isDeaf = true;
    if (how === 'reset') this.client.resetAndDestroy();
    else this.client.destroySoon();
  }

  destroy(): void {
    this.client.destroy();
    this.server.destroy();
  }

  private takeRequests(chunk: Buffer): void {
    if (this.state.mode === 'black-hole') this.isDeaf = true;
    if (this.isDeaf) return;
    if (this.state.opaque) {
      this.server.write(chunk);
      return;
    }
    for (const frame of this.requests.read(chunk)) {
      if (!this.isListening()) return;
      const words = readWords(frame);
      this.handle({ words, fault: this.state.faults.take(words) }, frame.bytes);
    }
  }

  private isListening(): boolean {
    return !this.isDeaf && this.pendingCut === undefined;
  }

  private handle(command: Command, bytes: Buffer): void {
    switch (command.fault?.fault) {
      case 'cut-before-forwarding':
        this.cutInTurn(command, () => this.cut('end'));
        break;
      case 'reset-before-forwarding':
        this.cutInTurn(command, () => this.cut('reset'));
        break;
      case 'cut-before-reply':
        this.cutInTurn(command, () => {
          this.forward(command, bytes);
          this.cut('end');
        });
        break;
      case 'black-hole':
        this.isDeaf = true;
        command.fault.fire(command.words);
        break;
      case 'swallow-reply':
      case 'cut-mid-reply':
      case 'hold-reply':
      case undefined:
        this.unanswered.push(command);
        this.forward(command, bytes);
    }
  }

  private forward({ words }: Command, bytes: Buffer): void {
    const name = String(words[0] ?? '').toUpperCase();
    this.state.forwarded.set(name, (this.state.forwarded.get(name) ?? 0) + 1);
    this.server.write(bytes);
  }

  private cutInTurn(command: Command, cut: () => void): void {
    this.pendingCut = () => {
      cut();
      command.fault?.fire(command.words);
    };
    this.cutWhenAllIsAnswered();
  }

  private cutWhenAllIsAnswered(): void {
    const cut = this.pendingCut;
    if (cut !== undefined && this.unanswered.length === 0) this.afterOutbox(cut);
  }

  private takeReplies(chunk: Buffer): void {
    if (this.state.mode === 'black-hole') this.isDeaf = true;
    if (this.isDeaf) return;
    if (this.state.opaque) this.send(chunk);
    else for (const frame of this.replies.read(chunk)) this.takeReply(frame);
  }

  private takeReply(frame: RespFrame): void {
    const isPush = frame.type === '>';
    const command = isPush ? undefined : this.unanswered.shift();
    const fault = command?.fault;
    switch (fault?.fault) {
      case 'swallow-reply':
        this.afterOutbox(() => this.cut('end'));
        break;
      case 'cut-mid-reply':
        this.send(frame.bytes.subarray(0, Math.floor(frame.bytes.length / 2)));
        this.afterOutbox(() => this.cut('end'));
        break;
      case 'hold-reply':
        this.send(frame.bytes, fault.released);
        fault.fire(command?.words ?? []);
        break;
      default:
        this.send(frame.bytes);
    }
    if (fault?.fault === 'swallow-reply' || fault?.fault === 'cut-mid-reply') {
      this.afterOutbox(() => fault.fire(command?.words ?? []));
    }
    this.cutWhenAllIsAnswered();
  }

  private send(bytes: Buffer, gate?: Promise<void>): void {
    const { delayMs } = this.state;
    this.outbox = this.outbox.then(async () => {
      await gate;
      if (delayMs > 0) await sleep(delayMs);
      if (this.isOpen && !this.isDeaf) this.client.write(bytes);
    });
  }

  private afterOutbox(then: () => void): void {
    this.outbox = this.outbox.then(then);
  }
}
