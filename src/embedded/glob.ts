/** Tells whether text matches a pattern of Redis's KEYS and SCAN: `*`, `?`, `[a-z]`, `[^a]` and `\` before a literal character. */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let starPattern = -1;
  let starText = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      starPattern = p;
      starText = t;
      p += 1;
      continue;
    }
    const after = p < pattern.length ? matchOne(pattern, p, text[t] ?? '') : -1;
    if (after >= 0) {
      p = after;
      t += 1;
    } else if (starPattern >= 0) {
      p = starPattern + 1;
      starText += 1;
      t = starText;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p += 1;
  return p >= pattern.length;
}

/** Where the pattern goes on after matching one character, -1 when it does not match. */
function matchOne(pattern: string, at: number, character: string): number {
  const token = pattern[at];
  if (token === '?') return at + 1;
  if (token === '[') return matchClass(pattern, at + 1, character);
  const isEscaped = token === '\\' && at + 1 < pattern.length;
  const literal = isEscaped ? pattern[at + 1] : token;
  return literal === character ? at + (isEscaped ? 2 : 1) : -1;
}

function matchClass(pattern: string, from: number, character: string): number {
  let at = from;
  const isNegated = pattern[at] === '^';
  if (isNegated) at += 1;
  let isMatch = false;
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    if (pattern[at] === '\\' && at + 1 < pattern.length) {
      at += 1;
      isMatch ||= pattern[at] === character;
    } else if (at + 2 < pattern.length && pattern[at + 1] === '-') {
      const [low = '', high = ''] = [pattern[at] ?? '', pattern[at + 2] ?? ''].sort();
      isMatch ||= character >= low && character <= high;
      at += 2;
    } else {
      isMatch ||= pattern[at] === character;
    }
  }
  const isMatched = isNegated ? !isMatch : isMatch;
  return isMatched ? Math.min(at + 1, pattern.length) : -1;
}
