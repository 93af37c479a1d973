import { textToBytes } from '../../base/byteText';

/** How many hash slots a cluster has. */
export const slotCount = 16384;

/** The hash slot of a key on a cluster: CRC16 of its hash tag, or of all of it when it has none. */
export function slotOf(key: string): number {
  return crc16(hashTagOf(textToBytes(key))) % slotCount;
}

/** Tells whether only a part of the key decides its slot: what is between its first `{` and the next `}`, when not empty. */
export function hasHashTag(key: string): boolean {
  const bytes = textToBytes(key);
  return hashTagOf(bytes).length !== bytes.length;
}

function hashTagOf(key: Buffer): Buffer {
  const open = key.indexOf(0x7b);
  const close = open < 0 ? -1 : key.indexOf(0x7d, open + 1);
  return close > open + 1 ? key.subarray(open + 1, close) : key;
}

/** CRC16-CCITT (XMODEM), the polynomial that Redis Cluster uses. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] ?? 0);
  return crc;
}

const table: readonly number[] = Array.from({ length: 256 }, (_, index) => {
  let crc = index << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  return crc;
});
