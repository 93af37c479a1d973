/** A client for benchmarks that costs little: sends prepared bytes and counts replies without reading them. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A connection that only counts. */
export class LoadClient {
  private expected = 0;
  private done: (() => void) | undefined;
  private buffer: Buffer = Buffer.alloc(0);
  /** Elements that are still to come of nested arrays. */
  private depth: number[] = [];

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.count(chunk);
    });
  }

  static async open(port: number): Promise<LoadClient> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new LoadClient(socket);
  }

  /** Sends bytes that hold `replies` commands, and resolves when all were answered. */
  send(bytes: Buffer, replies: number): Promise<void> {
    this.expected += replies;
    return new Promise((resolve) => {
      this.done = resolve;
      this.socket.write(bytes);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private count(chunk: Buffer): void {
    const buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
    let at = 0;
    while (at < buffer.length) {
      const next = this.skipOne(buffer, at);
      if (next < 0) break;
      at = next;
    }
    this.buffer = buffer.subarray(at);
    if (this.expected === 0) this.done?.();
  }

  /** Where the reply element at this place ends, -1 when it is not complete. */
  private skipOne(buffer: Buffer, at: number): number {
    const lineEnd = buffer.indexOf(0x0a, at);
    if (lineEnd < 0) return -1;
    const mark = buffer[at];
    let end = lineEnd + 1;
    if (mark === 0x2d) throw new Error(`The server answered ${buffer.toString('latin1', at, lineEnd)}`);
    const isArray = mark === 0x2a;
    const size = isArray || mark === 0x24 ? Number(buffer.toString('latin1', at + 1, lineEnd - 1)) : 0;
    if (mark === 0x24 && size >= 0) end += size + 2;
    if (end > buffer.length) return -1;
    if (isArray && size > 0) {
      this.depth.push(size);
      return end;
    }
    this.finishElement();
    return end;
  }

  private finishElement(): void {
    while (this.depth.length > 0) {
      const left = (this.depth.pop() ?? 1) - 1;
      if (left > 0) {
        this.depth.push(left);
        return;
      }
    }
    this.expected -= 1;
  }
}

/** A command as a client sends it. */
export function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}
