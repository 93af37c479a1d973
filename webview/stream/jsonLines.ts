/**
 * Pretty printing of JSON without changing it: numbers keep their digits, strings their escapes, objects their order and their
 * repeated names. Nothing here recurses, so that a hundred thousand nested arrays are only a long list of lines.
 */

/** One line of pretty-printed JSON. */
export interface JsonLine {
  readonly depth: number;
  /** The name before the value, quoted as in the source; null within arrays and at the top. */
  readonly name: string | null;
  readonly kind: 'open' | 'close' | 'string' | 'number' | 'word' | 'empty';
  /** The value as in the source, or the bracket. */
  readonly text: string;
  readonly comma: boolean;
  /** Of an opening line: the index of its closing line, and how many values it holds. */
  readonly end?: number;
  readonly size?: number;
}

interface OpenLine {
  readonly index: number;
  readonly isObject: boolean;
  size: number;
}

type WritableLine = { -readonly [Key in keyof JsonLine]: JsonLine[Key] };

const tokenPattern = /\s*(?:([{}[\],:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?\d[\d.eE+-]*)|(true|false|null))/y;

/** The lines of a JSON document, or null when it is none. */
export function jsonLines(source: string): readonly JsonLine[] | null {
  if (!isJson(source)) return null;
  const lines: WritableLine[] = [];
  const open: OpenLine[] = [];
  let name: string | null = null;
  let waiting: string | null = null;
  const add = (kind: JsonLine['kind'], text: string): void => {
    const parent = open.at(-1);
    if (parent && kind !== 'close') parent.size += 1;
    lines.push({ depth: open.length, name, kind, text, comma: false });
    name = null;
  };
  const pattern = new RegExp(tokenPattern);
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    const [, sign, string, number, word] = match;
    if (string !== undefined) {
      if (open.at(-1)?.isObject === true && name === null && waiting === null) waiting = string;
      else add('string', string);
    } else if (number !== undefined) add('number', number);
    else if (word !== undefined) add('word', word);
    else if (sign === ':') [name, waiting] = [waiting, null];
    else if (sign === ',') markComma(lines);
    else if (sign === '{' || sign === '[') {
      add('open', sign);
      open.push({ index: lines.length - 1, isObject: sign === '{', size: 0 });
    } else if (sign !== undefined) close(lines, open, sign);
  }
  return lines;
}

function markComma(lines: WritableLine[]): void {
  const last = lines.at(-1);
  if (last) last.comma = true;
}

function close(lines: WritableLine[], open: OpenLine[], sign: string): void {
  const opened = open.pop();
  const line = opened && lines[opened.index];
  if (!opened || !line) return;
  if (opened.size === 0) {
    line.kind = 'empty';
    line.text += sign;
    return;
  }
  lines.push({ depth: open.length, name: null, kind: 'close', text: sign, comma: false });
  line.end = lines.length - 1;
  line.size = opened.size;
}

function isJson(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch (error) {
    return !(error instanceof SyntaxError);
  }
}

/** The indexes of the lines to draw, at most `limit`, leaving out what is within the folded lines, and how many there are in all. */
export function visibleLines(
  lines: readonly JsonLine[],
  isFolded: (index: number) => boolean,
  limit: number,
): { readonly indexes: readonly number[]; readonly total: number } {
  const indexes: number[] = [];
  let total = 0;
  for (let index = 0; index < lines.length; index += 1) {
    total += 1;
    if (indexes.length < limit) indexes.push(index);
    const end = lines[index]?.end;
    if (end !== undefined && isFolded(index)) index = end;
  }
  return { indexes, total };
}
