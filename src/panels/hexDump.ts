/** Writes bytes as `hexdump -C` does: offset, sixteen bytes in hexadecimal, and those that are printable ASCII. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 16) {
    let hex = '';
    let ascii = '';
    for (let place = 0; place < 16; place += 1) {
      const byte = bytes[offset + place];
      if (place === 8) hex += ' ';
      hex += byte === undefined ? '   ' : (hexOf[byte] ?? '');
      if (byte !== undefined) ascii += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.';
    }
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex} |${ascii}|`);
  }
  return lines.join('\n');
}

const hexOf: readonly string[] = Array.from({ length: 256 }, (_, byte) => `${byte.toString(16).padStart(2, '0')} `);
