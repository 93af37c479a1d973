// A client that hides nothing of a reply: RESP2 and RESP3 as they come, for comparing two servers. Tested by wireClient's users:
// a reply that it cannot read fails them.
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A reply: text is binary and stands for a bulk string; integers are decimal text so that none loses a digit. */
export type Wire =
  | string
  | null
  | readonly Wire[]
  | { readonly integer: string }
  | { readonly status: string }
  | { readonly error: string }
  | { readonly pairs: readonly Wire[] }
  | { readonly verbatim: string }
  | { readonly nullArray: true };

interface Position {
  at: number;
}

/** A connection to a server on loopback. */
export class WireClient {
  private buffer: Buffer = Buffer.alloc(0);
  private readonly waiting: { readonly resolve: (reply: Wire) => void; readonly reject: (error: Error) => void }[] = [];

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
      this.deliver();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      for (const { reject } of this.waiting.splice(0)) reject(new Error('The server closed the connection'));
    });
  }

  static async open(port: number): Promise<WireClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new WireClient(socket);
  }

  /** Sends commands in one write and resolves with their replies. */
  async sendAll(commands: readonly (readonly (string | Buffer)[])[]): Promise<Wire[]> {
    const replies = commands.map(() => this.nextReply());
    this.socket.write(Buffer.concat(commands.map(encodeCommand)));
    return Promise.all(replies);
  }

  async send(...command: readonly (string | Buffer)[]): Promise<Wire> {
    const [reply] = await this.sendAll([command]);
    return reply ?? null;
  }

  /** The reply to whatever was sent last. */
  nextReply(): Promise<Wire> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.deliver();
    });
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** Closes the connection; replies that are still missing never come. */
  close(): void {
    this.waiting.length = 0;
    this.socket.destroy();
  }

  private deliver(): void {
    const position: Position = { at: 0 };
    while (this.waiting.length > 0) {
      const start = position.at;
      const reply = readReply(this.buffer, position);
      if (reply === undefined) {
        position.at = start;
        break;
      }
      this.waiting.shift()?.resolve(reply);
    }
    this.buffer = this.buffer.subarray(position.at);
  }
}

/** A command as a client sends it; text is binary. */
export function encodeCommand(command: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${command.length}\r\n`)];
  for (const word of command) {
    const bytes = typeof word === 'string' ? Buffer.from(word, 'latin1') : word;
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

function readReply(buffer: Buffer, position: Position): Wire | undefined {
  const end = buffer.indexOf('\r\n', position.at);
  if (end < 0) return undefined;
  const mark = String.fromCharCode(buffer[position.at] ?? 0);
  const line = buffer.toString('latin1', position.at + 1, end);
  position.at = end + 2;
  switch (mark) {
    case '+':
      return { status: line };
    case '-':
      return { error: line };
    case ':':
      return { integer: line };
    case '_':
      return null;
    case '$':
    case '=': {
      if (line === '-1') return null;
      const bodyEnd = position.at + Number(line);
      if (bodyEnd + 2 > buffer.length) return undefined;
      const body = buffer.toString('latin1', position.at, bodyEnd);
      position.at = bodyEnd + 2;
      return mark === '=' ? { verbatim: body } : body;
    }
    case '*':
    case '~':
      return line === '-1' ? { nullArray: true } : readAll(buffer, position, Number(line));
    case '%': {
      const pairs = readAll(buffer, position, 2 * Number(line));
      return pairs && { pairs };
    }
    default:
      throw new Error(`The server sent a reply of an unknown kind: ${JSON.stringify(mark + line)}`);
  }
}

function readAll(buffer: Buffer, position: Position, count: number): Wire[] | undefined {
  const items: Wire[] = [];
  for (let i = 0; i < count; i++) {
    const item = readReply(buffer, position);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}
