/** A whole value as text for an editor or the clipboard. */
import { bytesToText, isUtf8 } from '../base/byteText';
import { hexDump } from './hexDump';
import { prettyJson } from './prettyJson';
import { quoted } from './redisCli';
import { valueView } from './values';

/** How much of a value that is no text is dumped: an editor takes up to about 50 MB of text. */
const maxDumpBytes = 1024 * 1024;

/** The whole value: JSON indented, text as it is, other bytes as a hex dump of at most a megabyte. */
export function valueText(bytes: Uint8Array): {
  readonly text: string;
  readonly kind: 'json' | 'text' | 'bytes';
  /** True when the dump ends before the value does. */
  readonly isCut: boolean;
} {
  const kind = isUtf8(bytes) ? valueView(bytes).kind : 'bytes';
  if (kind === 'bytes') {
    return { kind, text: hexDump(bytes.subarray(0, maxDumpBytes)), isCut: bytes.length > maxDumpBytes };
  }
  const text = bytesToText(bytes);
  return { kind, text: kind === 'json' ? prettyJson(text) : text, isCut: false };
}

/** A whole value for the clipboard: text as it is, other bytes quoted so that redis-cli takes them back. */
export function copiedValue(bytes: Uint8Array): string {
  return valueText(bytes).kind === 'bytes' ? quoted(bytes) : bytesToText(bytes);
}
