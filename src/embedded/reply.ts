/**
 * What a command answers, before it is encoded for RESP2 or RESP3 or read by the port adapter.
 *
 * Text is binary (one character a byte) and stands for a bulk string, like a Buffer. A reply may refer to stored bytes, which are
 * never changed; it is still meant to be encoded before the next command runs.
 */
import type { Int } from './data/int64';
import type { FieldBytes } from './data/streamNode';
import type { StreamId } from './data/streamId';

export type Reply =
  | null
  | Int
  | string
  | Buffer
  | Status
  | ReplyError
  | NullArray
  | MapReply
  | EntryReply
  | VerbatimReply
  | readonly Reply[];

/** A simple string such as `OK`. */
export class Status {
  constructor(readonly text: string) {}
}

/** An error reply; `message` starts with its code word. Thrown by commands, answered like any reply. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';

  /** The first word: `ERR`, `WRONGTYPE`, `NOGROUP` … */
  get code(): string {
    const space = this.message.indexOf(' ');
    return space < 0 ? this.message : this.message.slice(0, space);
  }
}

/** The null array of RESP2; in RESP3 it is null like the other. */
export class NullArray {
  readonly isNullArray = true;
}

/** A map: a flat array of keys and values in RESP2. */
export class MapReply {
  constructor(readonly pairs: readonly Reply[]) {}
}

/** A stream entry: an array of its id and its fields. */
export class EntryReply {
  constructor(
    readonly id: StreamId,
    readonly fields: FieldBytes,
  ) {}
}

/** Text for people: a bulk string in RESP2, verbatim text in RESP3. */
export class VerbatimReply {
  constructor(readonly text: string) {}
}

export const ok = new Status('OK');
export const nullArray = new NullArray();

/** Makes an error reply as Redis's addReplyErrorFormat does: `ERR` unless the text starts with a dash, line ends made blank. */
export function replyError(text: string): ReplyError {
  const full = text.startsWith('-') ? text.slice(1) : `ERR ${text}`;
  return new ReplyError(full.replace(/[\r\n]/g, ' '));
}

export const syntaxError = (): ReplyError => replyError('syntax error');
export const wrongType = (): ReplyError =>
  replyError('-WRONGTYPE Operation against a key holding the wrong kind of value');
export const noSuchKey = (): ReplyError => replyError('no such key');
export const notAnInteger = (): ReplyError => replyError('value is not an integer or out of range');

/** The fields of an entry as separate copies: name, value, name, value. */
export function readFields(fields: FieldBytes): Buffer[] {
  const { bytes } = fields;
  const found: Buffer[] = [];
  let position = bytes.indexOf(0x0a, fields.start) + 1;
  while (position < fields.end) {
    const lineEnd = bytes.indexOf(0x0a, position);
    const length = Number(bytes.toString('latin1', position + 1, lineEnd - 1));
    found.push(Buffer.from(bytes.subarray(lineEnd + 1, lineEnd + 1 + length)));
    position = lineEnd + 1 + length + 2;
  }
  return found;
}

/** The fields of an entry as binary text. */
export function formatFields(fields: FieldBytes): string[] {
  return readFields(fields).map((bytes) => bytes.toString('latin1'));
}
