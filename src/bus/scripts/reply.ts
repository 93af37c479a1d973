import { bytesToText } from '../../base/byteText';
import { BusError } from '../errors';
import { entryId } from '../ids';
import type { EntryId } from '../ids';
import type { RawReply } from './script';

/** Reads a list; throws a BusError of reason `protocol` for anything else. */
export function listOf(raw: RawReply | undefined): readonly RawReply[] {
  if (Array.isArray(raw)) return raw as readonly RawReply[];
  throw protocolError('a list', raw);
}

/** Reads text, or an integer as text. */
export function textOf(raw: RawReply | undefined): string {
  if (Buffer.isBuffer(raw)) return bytesToText(raw);
  if (typeof raw === 'number') return String(raw);
  throw protocolError('text', raw);
}

/** Reads a number that came as an integer or, because it may exceed 2^53, as text. */
export function numberOf(raw: RawReply | undefined): number {
  const value = typeof raw === 'number' ? raw : Number(textOf(raw));
  if (Number.isNaN(value)) throw protocolError('a number', raw);
  return value;
}

/** Reads an entry id. */
export function idOf(raw: RawReply | undefined): EntryId {
  return entryId(textOf(raw));
}

/** Reads a list of bytes: the fields of an entry. */
export function fieldsOf(raw: RawReply | undefined): readonly Buffer[] {
  return listOf(raw).map((value) => {
    if (Buffer.isBuffer(value)) return value;
    throw protocolError('bytes', value);
  });
}

/** The error for a reply of an unexpected shape; it names the shape and never the content. */
export function protocolError(expected: string, raw: RawReply | undefined): BusError {
  const found =
    raw === null ? 'nil' : Array.isArray(raw) ? `a list of ${raw.length}` : Buffer.isBuffer(raw) ? 'bytes' : typeof raw;
  return new BusError('protocol', `A script answered ${found} where ${expected} was expected`);
}

/** Reads rows of `[status, detail...]`, one for each item that the script was given, in their order. */
export function itemsOf<Item>(
  raw: RawReply | undefined,
  read: (status: string, details: readonly RawReply[]) => Item | undefined,
): readonly Item[] {
  return listOf(raw).map((row) => {
    const [status, ...details] = listOf(row);
    const item = read(textOf(status), details);
    if (item === undefined) throw new BusError('protocol', `A script answered the unknown status "${textOf(status)}"`);
    return item;
  });
}
