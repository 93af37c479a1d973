/** Groups keys by prefix: where at least two streams share one up to a separator, they go into a folder. Pure. */

/** A folder of streams, or a stream by itself. */
export type Grouped<T> =
  | { readonly kind: 'folder'; readonly prefix: string; readonly label: string; readonly items: readonly T[] }
  | { readonly kind: 'item'; readonly item: T };

/**
 * Groups what lies below `prefix`, sorted by key. A folder that would hold a single folder and nothing else is drawn as one, so
 * `a:b:c` and `a:b:d` alone give the folder `a:b:`. An empty separator gives no folders.
 */
export function groupByPrefix<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  separator: string,
  prefix = '',
): readonly Grouped<T>[] {
  const sorted = [...items].sort((a, b) => compareText(keyOf(a), keyOf(b)));
  const byPrefix = new Map<string, [T, ...T[]]>();
  const order: ({ readonly item: T } | { readonly prefix: string; readonly members: readonly [T, ...T[]] })[] = [];
  for (const item of sorted) {
    const found = nextPrefix(keyOf(item), separator, prefix.length);
    const members = found === undefined ? undefined : byPrefix.get(found);
    if (found === undefined) order.push({ item });
    else if (members) members.push(item);
    else {
      const first: [T, ...T[]] = [item];
      byPrefix.set(found, first);
      order.push({ prefix: found, members: first });
    }
  }
  return order.map((entry): Grouped<T> => {
    if ('item' in entry) return { kind: 'item', item: entry.item };
    if (entry.members.length === 1) return { kind: 'item', item: entry.members[0] };
    const whole = longestShared(keysOf(entry.members, keyOf), separator, entry.prefix);
    return { kind: 'folder', prefix: whole, label: whole.slice(prefix.length), items: entry.members };
  });
}

/** The key up to and with the first separator at or after `from`, unless nothing follows it. */
function nextPrefix(key: string, separator: string, from: number): string | undefined {
  if (separator === '') return undefined;
  const at = key.indexOf(separator, from);
  const end = at + separator.length;
  return at < 0 || end >= key.length ? undefined : key.slice(0, end);
}

function keysOf<T>([first, ...rest]: readonly [T, ...T[]], keyOf: (item: T) => string): readonly [string, ...string[]] {
  return [keyOf(first), ...rest.map(keyOf)];
}

/** Keys may hold separators by the ten thousand, so this neither calls itself nor cuts a prefix out for each of them. */
function longestShared(keys: readonly [string, ...string[]], separator: string, shared: string): string {
  const [first] = keys;
  const common = keys.reduce((length, key) => Math.min(length, commonLength(first, key)), first.length);
  // Something must follow the separator in every key.
  const shortest = keys.reduce((length, key) => Math.min(length, key.length), first.length);
  let end = shared.length;
  for (;;) {
    const at = first.indexOf(separator, end);
    const next = at + separator.length;
    if (at < 0 || next > common || next >= shortest) return first.slice(0, end);
    end = next;
  }
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

/** Orders by UTF-16 code units, the same everywhere; locales would order the same keys differently on two machines. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
