import { displayText } from '../../base/byteText';

/** Writes one object as a line for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Writes a line for people. Names in it are other people's: what would move the cursor, end the line or disguise itself is escaped. */
export function printLine(line: string): void {
  process.stdout.write(`${oneLine(line)}\n`);
}

/** Ends the process without a word when whoever reads its output has seen enough, such as `head`: what it had to do is done by then. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Writes rows under their headings, every column as wide as its widest cell; control characters of names are shown as escapes. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const shown = [headings, ...rows.map((row) => row.map(oneLine))];
  const widths = headings.map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)));
  for (const row of shown)
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

/** Text on one line, with its control characters as escapes. */
export function oneLine(text: string): string {
  return text === '' ? '' : displayText(text);
}
