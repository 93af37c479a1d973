/**
 * Text that holds any bytes without loss.
 *
 * Redis names (keys, groups, consumers, field names) are bytes, while maps, tree ids and messages want strings. `bytesToText`
 * decodes valid UTF-8 as itself and each byte that is not part of valid UTF-8 as one lone surrogate U+DC80 to U+DCFF, which
 * valid UTF-8 never yields; `textToBytes` is its exact inverse. Equal bytes give equal text and the other way round.
 */

const escapeBase = 0xdc00;
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes bytes to text without loss: every byte that is not valid UTF-8 becomes a lone low surrogate. */
export function bytesToText(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return decodeWithEscapes(bytes);
  }
}

/** Encodes text made by `bytesToText`, or any ordinary string, back to the bytes that it stands for. */
export function textToBytes(text: string): Buffer {
  if (!/[\ud800-\udfff]/.test(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isEscapedByte = code >= escapeBase + 0x80 && code <= escapeBase + 0xff;
    parts.push(isEscapedByte ? Buffer.of(code - escapeBase) : Buffer.from(character, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** Tells whether the bytes are valid UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Renders text for people: bytes that are not UTF-8, control characters and characters that reorder or hide text are written
 * as visible escapes (`\xff`, `\n`, `\u202e`), and the empty name as `""`, so that no name can disguise itself.
 */
export function displayText(text: string): string {
  if (text === '') return '""';
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu,
    escape,
  );
}

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= escapeBase + 0x80 && code <= escapeBase + 0xff) return `\\x${(code - escapeBase).toString(16)}`;
  if (code === 0x0a) return '\\n';
  if (code === 0x0d) return '\\r';
  if (code === 0x09) return '\\t';
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

function decodeWithEscapes(bytes: Uint8Array): string {
  let text = '';
  let position = 0;
  while (position < bytes.length) {
    const length = validSequenceLength(bytes, position);
    if (length === 0) {
      text += String.fromCharCode(escapeBase + (bytes[position] ?? 0));
      position += 1;
    } else {
      text += strictDecoder.decode(bytes.subarray(position, position + length));
      position += length;
    }
  }
  return text;
}

function validSequenceLength(bytes: Uint8Array, position: number): number {
  const lead = bytes[position] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || position + length > bytes.length) return 0;
  return isUtf8(bytes.subarray(position, position + length)) ? length : 0;
}
