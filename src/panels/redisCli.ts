/** Redis's own ways of writing: command lines that redis-cli takes back byte for byte, and replies as it prints them. */
import { textToBytes } from '../base/byteText';
import type { StreamKey } from '../bus';

/** Quotes bytes as one argument of a redis-cli line: plain when that is safe, else `"\xff"` escapes. */
export function quoteArgument(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return /^[A-Za-z0-9_.:/@{}+\-*,=]+$/.test(text) ? text : quoted(bytes);
}

/** Writes bytes as redis-cli prints a string: quoted, with escapes for all that is not printable ASCII. */
export function quoted(bytes: Uint8Array): string {
  let line = '"';
  for (const byte of bytes) line += escaped(byte);
  return `${line}"`;
}

/** One redis-cli line of a command and its arguments, each text holding bytes without loss. */
export function commandLine(...words: readonly string[]): string {
  return words.map((word) => quoteArgument(textToBytes(word))).join(' ');
}

/** The lines that show what the header and the table of a stream show. */
export function streamCommands(key: StreamKey): readonly string[] {
  return [
    commandLine('XINFO', 'STREAM', key),
    commandLine('XINFO', 'GROUPS', key),
    commandLine('XREVRANGE', key, '+', '-', 'COUNT', '100'),
  ];
}

/** The lines that show an entry and where it stands in the groups. */
export function entryCommands(key: StreamKey, id: string, groups: readonly string[]): readonly string[] {
  return [
    commandLine('XRANGE', key, id, id),
    ...groups.map((group) => commandLine('XPENDING', key, group, id, id, '1')),
  ];
}

/**
 * The reply of XRANGE for one entry as redis-cli prints it, at most about `maxChars` long. `fields` is null when there is no such
 * entry.
 */
export function entryReply(
  id: string,
  fields: readonly Uint8Array[] | null,
  maxChars: number,
): { readonly text: string; readonly truncated: boolean } {
  if (fields === null) return { text: '(empty array)', truncated: false };
  const lines = [`1) 1) ${quoted(Buffer.from(id))}`];
  const width = String(fields.length).length;
  let left = maxChars;
  for (const [index, value] of fields.entries()) {
    const start = `${index === 0 ? '   2) ' : '      '}${String(index + 1).padStart(width)}) `;
    left -= start.length;
    const longest = Math.max(0, Math.floor(left / 4));
    const isCut = value.length > longest && value.length * 4 > left && quoted(value.subarray(0, left)).length > left;
    if (isCut) {
      lines.push(`${start}${quoted(value.subarray(0, longest)).slice(0, -1)}…`);
      return { text: lines.join('\n'), truncated: true };
    }
    const line = quoted(value);
    lines.push(start + line);
    left -= line.length + 1;
  }
  return { text: lines.join('\n'), truncated: false };
}

const named: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
]);

const escapes: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const name = named.get(byte);
  if (name !== undefined) return name;
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
});

function escaped(byte: number): string {
  return escapes[byte] ?? '';
}
