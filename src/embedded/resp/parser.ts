import { Args } from '../args';

/** What a connection may send. */
export interface RequestLimits {
  /** The most bytes of one request. */
  readonly requestBytes: number;
  /** The most arguments of one request. */
  readonly argumentCount: number;
}

/** Input that is no RESP: the connection cannot go on. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const maxLineBytes = 65536;

/**
 * Takes bytes as they arrive and yields commands: RESP arrays of bulk strings, and inline commands.
 *
 * The arguments of a command stay where they arrived and are valid until the next call. A command that is not complete yet is kept
 * in a buffer that grows by doubling, and reading goes on where it stopped, so that no input makes the work grow faster than its
 * own size.
 */
export class RespParser {
  private buffer: Buffer = Buffer.alloc(0);
  private limit = 0;
  private position = 0;
  private commandStart = 0;
  private isOwned = false;
  private args = new Args(this.buffer);
  /** Arguments still to come, -1 between commands. */
  private remaining = -1;
  /** Bytes of the argument being read, -1 before its length is known. */
  private bulkLength = -1;

  constructor(
    private readonly limits: RequestLimits,
    /** Tells whether the client may send large requests already. */
    private readonly isAuthenticated: () => boolean,
  ) {}

  /** Bytes that were fed and not read yet. */
  get waitingBytes(): number {
    return this.limit - this.commandStart;
  }

  /** Adds input. */
  feed(chunk: Buffer): void {
    if (this.limit === this.commandStart) {
      this.buffer = chunk;
      this.limit = chunk.length;
      this.isOwned = false;
      this.position = this.commandStart = 0;
      return;
    }
    const kept = this.limit - this.commandStart;
    const needed = kept + chunk.length;
    if (!this.isOwned || this.buffer.length < needed) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(kept * 2, this.limits.requestBytes)));
      this.buffer.copy(grown, 0, this.commandStart, this.limit);
      this.shiftTo(grown);
    } else if (this.commandStart > 0) {
      this.buffer.copyWithin(0, this.commandStart, this.limit);
      this.shiftTo(this.buffer);
    }
    chunk.copy(this.buffer, kept);
    this.limit = needed;
  }

  /** The next complete command, undefined when more input is needed. Throws a `ProtocolError`. */
  next(): Args | undefined {
    for (;;) {
      if (this.remaining < 0) {
        if (this.position >= this.limit) return undefined;
        this.commandStart = this.position;
        if (this.buffer[this.position] !== 0x2a) {
          const inline = this.readInline();
          if (!inline) return undefined;
          if (inline.count > 0) return inline;
          continue;
        }
        const count = this.readLength('mbulk count', 'multibulk length', 0x7fff_ffff);
        if (count === undefined) return undefined;
        if (count <= 0) {
          this.commandStart = this.position;
          continue;
        }
        if (count > this.limits.argumentCount) throw new ProtocolError('invalid multibulk length');
        if (count > 10 && !this.isAuthenticated()) throw new ProtocolError('unauthenticated multibulk length');
        this.remaining = count;
        this.args.buffer = this.buffer;
        this.args.count = 0;
      }
      return this.readArguments() ? this.take() : undefined;
    }
  }

  private readArguments(): boolean {
    while (this.remaining > 0) {
      if (this.bulkLength < 0) {
        if (this.position >= this.limit) return false;
        const found = this.buffer[this.position] ?? 0;
        if (found !== 0x24 && this.hasLine())
          throw new ProtocolError(`expected '$', got '${String.fromCharCode(found)}'`);
        const length = this.readLength('bulk count', 'bulk length', this.limits.requestBytes);
        if (length === undefined) return false;
        if (length < 0) throw new ProtocolError('invalid bulk length');
        if (length > 16384 && !this.isAuthenticated()) throw new ProtocolError('unauthenticated bulk length');
        this.bulkLength = length;
      }
      const end = this.position + this.bulkLength;
      if (end + 2 - this.commandStart > this.limits.requestBytes) throw new ProtocolError('too big request');
      if (end + 2 > this.limit) return false;
      if (this.buffer[end] !== carriageReturn || this.buffer[end + 1] !== lineFeed)
        throw new ProtocolError('invalid bulk termination');
      this.args.add(this.position, end);
      this.position = end + 2;
      this.bulkLength = -1;
      this.remaining -= 1;
    }
    return true;
  }

  private take(): Args {
    this.remaining = -1;
    this.commandStart = this.position;
    return this.args;
  }

  /** Reads the number of a line that starts with a mark, undefined when the line is not complete. */
  private readLength(line: string, name: string, max: number): number | undefined {
    let at = this.position + 1;
    let value = 0;
    let digits = 0;
    const isNegative = this.buffer[at] === 0x2d;
    if (isNegative) at += 1;
    for (; at < this.limit; at++) {
      const byte = this.buffer[at] ?? 0;
      if (byte === carriageReturn) break;
      const digit = byte - 0x30;
      digits += 1;
      if (digit < 0 || digit > 9 || digits > 10 || (digits === 2 && value === 0)) {
        this.refuseLength(line, name);
        return undefined;
      }
      value = value * 10 + digit;
    }
    if (at + 1 >= this.limit) {
      if (this.limit - this.position > maxLineBytes) throw new ProtocolError(`too big ${line} string`);
      return undefined;
    }
    if (digits === 0 || value > max || (isNegative && value === 0)) throw new ProtocolError(`invalid ${name}`);
    if (this.buffer[at + 1] !== lineFeed) throw new ProtocolError(`invalid ${name}`);
    this.position = at + 2;
    return isNegative ? -value : value;
  }

  /** A length that is none: an error once its line is complete or too long, as Redis says it. */
  private refuseLength(line: string, name: string): void {
    if (this.hasLine()) throw new ProtocolError(`invalid ${name}`);
    if (this.limit - this.position > maxLineBytes) throw new ProtocolError(`too big ${line} string`);
  }

  private hasLine(): boolean {
    const end = this.buffer.indexOf(carriageReturn, this.position);
    return end >= 0 && end + 1 < this.limit;
  }

  private readInline(): Args | undefined {
    const end = this.buffer.subarray(0, this.limit).indexOf(lineFeed, this.position);
    if (end < 0) {
      if (this.limit - this.position > maxLineBytes) throw new ProtocolError('too big inline request');
      return undefined;
    }
    const lineEnd = end > this.position && this.buffer[end - 1] === carriageReturn ? end - 1 : end;
    const words = splitInline(this.buffer.toString('latin1', this.position, lineEnd));
    this.position = end + 1;
    this.commandStart = this.position;
    return Args.of(words);
  }

  private shiftTo(buffer: Buffer): void {
    const by = this.commandStart;
    this.buffer = buffer;
    this.isOwned = true;
    if (this.remaining >= 0) {
      this.args.buffer = buffer;
      for (let i = 0; i < this.args.count && by > 0; i++) {
        this.args.starts[i] = this.args.start(i) - by;
        this.args.ends[i] = this.args.end(i) - by;
      }
    }
    this.position -= by;
    this.commandStart = 0;
  }
}

/** Splits an inline command into words; quoted words may hold blanks and, in double quotes, escapes. */
function splitInline(line: string): string[] {
  const words: string[] = [];
  let at = 0;
  const isBlank = (character: string | undefined): boolean => character !== undefined && /\s|\0/.test(character);
  for (;;) {
    while (at < line.length && isBlank(line[at])) at += 1;
    if (at >= line.length) return words;
    let word = '';
    while (at < line.length && !isBlank(line[at])) {
      const character = line[at] ?? '';
      at += 1;
      if (character !== '"' && character !== "'") {
        word += character;
        continue;
      }
      const quoted = readQuoted(line, at, character);
      if (!quoted || (quoted.end < line.length && !isBlank(line[quoted.end])))
        throw new ProtocolError('unbalanced quotes in request');
      word += quoted.text;
      at = quoted.end;
    }
    words.push(word);
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };

function readQuoted(
  line: string,
  from: number,
  quote: string,
): { readonly text: string; readonly end: number } | undefined {
  let text = '';
  for (let at = from; at < line.length; at++) {
    const character = line[at] ?? '';
    if (character === quote) return { text, end: at + 1 };
    if (character !== '\\' || at + 1 >= line.length) {
      text += character;
      continue;
    }
    const next = line[at + 1] ?? '';
    if (quote === "'") {
      text += next === "'" ? "'" : character;
      if (next === "'") at += 1;
      continue;
    }
    const hex = /^x([0-9a-fA-F]{2})/.exec(line.slice(at + 1, at + 4));
    text += hex ? String.fromCharCode(parseInt(hex[1] ?? '', 16)) : (escapes[next] ?? next);
    at += hex ? 3 : 1;
  }
  return undefined;
}
