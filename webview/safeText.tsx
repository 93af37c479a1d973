/** Text of unknown origin, drawn so that it can neither hide nor reorder anything: by text nodes, with visible escapes. */
import type { ComponentChildren, JSX } from 'preact';

/** Control characters, and characters that reorder, hide or break text; with `keepLines` newline and tab stay themselves. */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
const unsafeButLines =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;

/** Draws text with its unsafe characters as marked escapes such as `\x1b` and `\u202e`. */
export function SafeText({ text, keepLines = false }: { text: string; keepLines?: boolean }): JSX.Element {
  return <>{safePieces(text, keepLines)}</>;
}

/** The escape of one unsafe character; bytes that are not UTF-8 arrive as lone surrogates U+DC80 to U+DCFF. */
export function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0a) return '\\n';
  if (code === 0x0d) return '\\r';
  if (code === 0x09) return '\\t';
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Splits text at its unsafe characters: `text` as it is, `escape` to be marked. */
export function splitUnsafe(
  text: string,
  keepLines: boolean,
): readonly { readonly kind: 'text' | 'escape'; readonly text: string }[] {
  const pieces: { kind: 'text' | 'escape'; text: string }[] = [];
  let end = 0;
  for (const match of text.matchAll(keepLines ? unsafeButLines : unsafe)) {
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) });
    pieces.push({ kind: 'escape', text: escapeCharacter(match[0]) });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

/** Beyond this many marked escapes the rest are drawn unmarked: each mark is an element. */
const maxMarks = 2000;

function safePieces(text: string, keepLines: boolean): ComponentChildren {
  const pieces = splitUnsafe(text, keepLines);
  if (pieces.length > maxMarks) return pieces.map((piece) => piece.text).join('');
  return pieces.map((piece, index) =>
    piece.kind === 'text' ? (
      piece.text
    ) : (
      <span key={index} class="escape">
        {piece.text}
      </span>
    ),
  );
}
