/** Values and names of entries as a panel can show them: bounded, and never more bytes than the webview should get. */
import { bytesToText, displayText, isUtf8 } from '../base/byteText';
import { shortened } from '../base/shortText';
import type { FieldView, NameView, ValueView } from '../protocol/streamPanel';
import { hexDump } from './hexDump';

/** How much of one value the detail shows. */
export const maxValueBytes = 64 * 1024;

/** How much of a value that is no text is dumped: a dump is five times as long as what it shows. */
export const maxDumpBytes = 8 * 1024;

/** How much of one value a row shows, in characters. */
export const maxPreviewChars = 200;

/** Bounds of one entry's detail, so that a message stays below a megabyte whatever the entry holds. */
export const detailLimits = { fields: 500, nameChars: 300, valueChars: 384 * 1024 } as const;

/** Up to this size a value is parsed to learn whether it is JSON. */
const maxJsonBytes = 1024 * 1024;

/** A name as text without loss, and as a line that is safe to show and at most 300 characters long. */
export function nameView(text: string): NameView {
  return { text, display: shortened(displayText(text), detailLimits.nameChars) };
}

/** As many of the items, in their order, as fit into so many characters of JSON; those that are too large alone are left out. */
export function fitting<T>(items: readonly T[], maxChars: number): readonly T[] {
  let left = maxChars;
  return items.filter((item) => {
    const size = JSON.stringify(item).length;
    if (size > left) return false;
    left -= size;
    return true;
  });
}

/** A value as it can be shown, at most `maxBytes` of it. */
export function valueView(bytes: Uint8Array, maxBytes: number = maxValueBytes): ValueView {
  const limit = Math.min(maxBytes, maxValueBytes);
  const shown = cutUtf8(bytes, limit);
  const truncated = shown.length < bytes.length;
  if (!isReadable(shown)) {
    const dumped = bytes.subarray(0, Math.min(maxDumpBytes, Math.floor(limit / 5)));
    return { kind: 'bytes', text: hexDump(dumped), bytes: bytes.length, truncated: dumped.length < bytes.length };
  }
  return {
    kind: isJson(bytes) ? 'json' : 'text',
    text: bytesToText(shown),
    bytes: bytes.length,
    truncated,
  };
}

/** A value as part of a row: one line, at most 200 characters. */
export function previewText(bytes: Uint8Array, maxChars: number = maxPreviewChars): string {
  const text = displayText(bytesToText(cutUtf8(bytes, maxChars * 4)));
  const isCut = text.length > maxChars || bytes.length > maxChars * 4;
  return bytes.length === 0 ? '""' : isCut ? shortened(text, maxChars) : text;
}

/** The fields of an entry, the first ones when there are very many, each value within what is left of the whole. */
export function fieldViews(fields: readonly Uint8Array[]): readonly FieldView[] {
  const views: FieldView[] = [];
  let left: number = detailLimits.valueChars;
  for (let index = 0; index + 1 < fields.length && views.length < detailLimits.fields; index += 2) {
    const name = shortened(displayText(bytesToText(cutUtf8(fields[index] ?? empty, 1200))), detailLimits.nameChars);
    const value = valueView(fields[index + 1] ?? empty, Math.max(256, left));
    left -= value.text.length;
    views.push({ name: { text: name, display: name }, value });
  }
  return views;
}

/** The bytes of all names and values. */
export function sizeOf(fields: readonly Uint8Array[]): number {
  return fields.reduce((sum, bytes) => sum + bytes.length, 0);
}

/** At most `maxBytes` of the bytes, never ending within a UTF-8 character. */
export function cutUtf8(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (bytes.length <= maxBytes) return bytes;
  let end = maxBytes;
  while (end > maxBytes - 4 && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

const empty = new Uint8Array(0);

/** Text is UTF-8 without NUL and with hardly any control characters. */
function isReadable(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  let controls = 0;
  for (const byte of bytes) {
    if (byte === 0) return false;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) controls += 1;
  }
  return controls * 10 <= bytes.length;
}

/** Objects and arrays only: a bare number or word is better shown as the text that it is. */
function isJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > 0x20);
  if ((first !== 0x7b && first !== 0x5b) || bytes.length > maxJsonBytes) return false;
  try {
    JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
    return true;
  } catch (error) {
    return !(error instanceof SyntaxError);
  }
}
