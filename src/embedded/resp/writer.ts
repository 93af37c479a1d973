import { formatId } from '../data/streamId';
import type { Reply } from '../reply';
import { EntryReply, MapReply, NullArray, ReplyError, Status, VerbatimReply } from '../reply';

const firstCapacity = 16384;

/** Encodes replies into one growing buffer, as RESP2 or RESP3. */
export class RespWriter {
  private buffer = Buffer.allocUnsafe(firstCapacity);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** The bytes written since the last call; they are the caller's. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.used);
    this.used = 0;
    if (taken.length <= firstCapacity / 4) return Buffer.from(taken);
    this.buffer = Buffer.allocUnsafe(firstCapacity);
    return taken;
  }

  write(reply: Reply, protocol: 2 | 3): void {
    if (typeof reply === 'string') this.writeText('$', reply);
    else if (typeof reply === 'number' || typeof reply === 'bigint') this.writeLine(`:${reply}`);
    else if (reply === null) this.writeLine(protocol === 3 ? '_' : '$-1');
    else if (reply instanceof EntryReply) this.writeEntry(reply);
    else if (Array.isArray(reply)) this.writeAll('*', reply.length, reply as readonly Reply[], protocol);
    else if (Buffer.isBuffer(reply)) this.writeBytes(reply);
    else if (reply instanceof Status) this.writeLine(`+${reply.text}`);
    else if (reply instanceof ReplyError) this.writeLine(`-${reply.message}`);
    else if (reply instanceof NullArray) this.writeLine(protocol === 3 ? '_' : '*-1');
    else if (reply instanceof MapReply) this.writeMap(reply, protocol);
    else if (reply instanceof VerbatimReply) this.writeVerbatim(reply, protocol);
  }

  private writeMap({ pairs }: MapReply, protocol: 2 | 3): void {
    if (protocol === 3) this.writeAll('%', pairs.length / 2, pairs, protocol);
    else this.writeAll('*', pairs.length, pairs, protocol);
  }

  private writeAll(mark: string, count: number, replies: readonly Reply[], protocol: 2 | 3): void {
    this.writeLine(mark + String(count));
    for (const reply of replies) this.write(reply, protocol);
  }

  private writeVerbatim({ text }: VerbatimReply, protocol: 2 | 3): void {
    if (protocol === 3) this.writeText('=', `txt:${text}`);
    else this.writeText('$', text);
  }

  private writeEntry({ id, fields }: EntryReply): void {
    const text = formatId(id);
    const size = fields.end - fields.start;
    this.reserve(text.length + size + 32);
    this.put('*2\r\n$');
    this.put(String(text.length));
    this.put('\r\n');
    this.put(text);
    this.put('\r\n');
    fields.bytes.copy(this.buffer, this.used, fields.start, fields.end);
    this.used += size;
  }

  private writeText(mark: string, text: string): void {
    this.reserve(text.length + 32);
    this.put(mark);
    this.put(String(text.length));
    this.put('\r\n');
    this.put(text);
    this.put('\r\n');
  }

  private writeBytes(bytes: Buffer): void {
    this.reserve(bytes.length + 32);
    this.put('$');
    this.put(String(bytes.length));
    this.put('\r\n');
    this.used += bytes.copy(this.buffer, this.used);
    this.put('\r\n');
  }

  private writeLine(line: string): void {
    this.reserve(line.length + 2);
    this.put(line);
    this.put('\r\n');
  }

  private put(text: string): void {
    const { buffer } = this;
    let { used } = this;
    if (text.length > 64) used += buffer.write(text, used, 'latin1');
    else for (let i = 0; i < text.length; i++) buffer[used++] = text.charCodeAt(i);
    this.used = used;
  }

  private reserve(size: number): void {
    const needed = this.used + size;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.used);
    this.buffer = grown;
  }
}
