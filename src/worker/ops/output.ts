/** Writes one object as a line for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
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

/** Text on one line: what would move the cursor or end the line is escaped as in JSON. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => JSON.stringify(character).slice(1, -1));
}
