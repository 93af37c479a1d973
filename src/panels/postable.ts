/** How much one message may carry. Larger ones take VS Code too long to hand over. */
export const maxMessageBytes = 1024 * 1024;

/**
 * Tells why a value cannot be posted to a webview, or undefined when it can. VS Code turns a Buffer into a plain object, a Map into
 * `{}`, drops functions and throws on a bigint: each of these is refused here instead, and so is what is larger than one message
 * (a cycle is).
 */
export function whyNotPostable(value: unknown): string | undefined {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0) {
    const next = open.pop();
    bytes += 1;
    if (typeof next === 'string') bytes += 2 + next.length;
    else if (typeof next === 'number' || typeof next === 'boolean' || next === undefined) bytes += 8;
    else if (typeof next !== 'object') return `it holds a ${typeof next}`;
    else if (next !== null) {
      if (Array.isArray(next)) {
        for (const item of next as readonly unknown[]) open.push(item);
      } else if (isBytes(next)) bytes += next.byteLength;
      else if (isPlain(next)) {
        for (const [name, item] of Object.entries(next)) {
          bytes += 3 + name.length;
          open.push(item);
        }
      } else return 'it holds an object that is not plain';
    }
    if (bytes > maxMessageBytes) return `it is larger than ${maxMessageBytes} bytes`;
  }
  return undefined;
}

function isBytes(value: object): value is Uint8Array {
  return Object.getPrototypeOf(value) === Uint8Array.prototype;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
