/** Indents valid JSON without reading its values: digits, escapes, order and repeated names stay as they are. */
export function prettyJson(source: string): string {
  const out: string[] = [];
  let depth = 0;
  const newLine = (): void => {
    out.push('\n', '  '.repeat(Math.min(depth, maxIndent)));
  };
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s"{}[\],:]+/g;
  for (const [token] of source.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      out.push(token);
      depth += 1;
      newLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      newLine();
      out.push(token);
    } else if (token === ',') {
      out.push(token);
      newLine();
    } else if (token === ':') out.push(': ');
    else out.push(/^[{[]\s+/.test(token) ? token.replace(/\s+/, '') : token);
  }
  return out.join('');
}

/** Deeper lines are not indented further, so that deep nesting does not grow as its square. */
const maxIndent = 100;
