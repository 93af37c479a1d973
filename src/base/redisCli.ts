import { textToBytes } from './byteText';

/**
 * One redis-cli line that is safe to paste into a POSIX shell: words are quoted for the shell, and names with bytes that a shell
 * or a terminal would not keep are given in redis-cli's own quoting, which needs `--quoted-input`.
 */
export function redisCliLine(connection: readonly string[], command: readonly string[]): string {
  const needsQuotedInput = command.some((word) => !isPlain(word));
  const words = needsQuotedInput ? command.map(redisQuoted) : command;
  const options = needsQuotedInput ? ['--quoted-input'] : [];
  return ['redis-cli', ...connection, ...options, ...words].map(shellQuoted).join(' ');
}

/**
 * The line for EVAL: the script keeps its own lines, which a shell's single quotes hold, unless one of the other words needs
 * redis-cli's quoting.
 */
export function redisCliScriptLine(
  connection: readonly string[],
  [name = '', script = '', ...rest]: readonly string[],
): string {
  if (!rest.every(isPlain)) return redisCliLine(connection, [name, script, ...rest]);
  return ['redis-cli', ...connection, name, script, ...rest].map(shellQuoted).join(' ');
}

/** Text that survives shell and terminal as it is; a leading quote would be read by redis-cli only with `--quoted-input`. */
function isPlain(text: string): boolean {
  return /^[\u0020-\u007e\u00a1-\ud7ff\ue000-\ufffc\u{10000}-\u{10ffff}]*$/u.test(text) && !hasHiddenCharacter(text);
}

function hasHiddenCharacter(text: string): boolean {
  return /[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u.test(text);
}

/** A word in the double quotes of redis-cli, every byte that is not printable ASCII as `\xff`. */
function redisQuoted(text: string): string {
  if (/^[\w:.{}+*-]+$/.test(text)) return text;
  const bytes = [...textToBytes(text)].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  return `"${bytes.join('')}"`;
}

function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
