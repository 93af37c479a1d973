import type { Int } from './data/int64';
import { parseInt64 } from './data/int64';

/**
 * The arguments of one command, kept where they arrived.
 *
 * `buffer` holds the command in RESP form, `$3\r\nfoo\r\n` for each argument; an argument is a pair of offsets into it. That is also
 * the form in which the engine stores fields and answers them, so that most bytes are copied once. A parser may reuse the object
 * and the buffer for its next command: whoever keeps arguments must `copy` them.
 */
export class Args {
  count = 0;
  readonly starts: number[] = [];
  readonly ends: number[] = [];

  constructor(public buffer: Buffer) {}

  /** Makes arguments from values; text is binary, one character a byte. */
  static of(values: readonly (string | Buffer)[]): Args {
    const parts = values.map((value) => (typeof value === 'string' ? Buffer.from(value, 'latin1') : value));
    const heads = parts.map((part) => `$${part.length}\r\n`);
    let size = 0;
    for (let i = 0; i < parts.length; i++) size += (heads[i]?.length ?? 0) + (parts[i]?.length ?? 0) + 2;
    const args = new Args(Buffer.allocUnsafe(size));
    let position = 0;
    for (const [i, part] of parts.entries()) {
      position += args.buffer.write(heads[i] ?? '', position, 'latin1');
      args.add(position, position + part.length);
      position += part.copy(args.buffer, position);
      position += args.buffer.write('\r\n', position, 'latin1');
    }
    return args;
  }

  /** Notes where the next argument is. */
  add(start: number, end: number): void {
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.count += 1;
  }

  start(index: number): number {
    return this.starts[index] ?? 0;
  }

  end(index: number): number {
    return this.ends[index] ?? 0;
  }

  length(index: number): number {
    return this.end(index) - this.start(index);
  }

  /** Where the argument's `$` is. */
  head(index: number): number {
    return index === 0 ? this.start(0) - headSize(this.length(0)) : this.end(index - 1) + 2;
  }

  /** The argument as binary text. */
  text(index: number): string {
    return this.buffer.toString('latin1', this.start(index), this.end(index));
  }

  /** The argument as a C string sees it: up to the first NUL. */
  visibleText(index: number): string {
    const text = this.text(index);
    const end = text.indexOf('\0');
    return end < 0 ? text : text.slice(0, end);
  }

  /** A copy of the argument's bytes. */
  bytes(index: number): Buffer {
    return Buffer.from(this.buffer.subarray(this.start(index), this.end(index)));
  }

  /** Tells whether the argument is this word (given in lower case), in any case. */
  is(index: number, word: string): boolean {
    const start = this.start(index);
    if (this.end(index) - start !== word.length) return false;
    for (let i = 0; i < word.length; i++) {
      const byte = this.buffer[start + i] ?? 0;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      if (lower !== word.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Tells whether the argument is exactly this one character. */
  isChar(index: number, code: number): boolean {
    return this.length(index) === 1 && this.buffer[this.start(index)] === code;
  }

  /** The argument as a signed 64-bit integer, undefined when it is none. */
  int(index: number): Int | undefined {
    return parseInt64(this.text(index));
  }

  /** Arguments of their own, which stay as they are. */
  copy(): Args {
    const offset = this.head(0);
    const last = this.end(this.count - 1) + 2;
    const copied = new Args(Buffer.from(this.buffer.subarray(offset, last)));
    for (let i = 0; i < this.count; i++) copied.add(this.start(i) - offset, this.end(i) - offset);
    return copied;
  }
}

function headSize(length: number): number {
  return 3 + String(length).length;
}
