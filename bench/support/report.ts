/** What every benchmark shares: its flags, medians of interleaved rounds, and one way to print figures beside their aims. */
import { parseArgs } from 'node:util';

/** The flags of a benchmark: `--quick` for fewer rounds, `--json` for machines. */
export interface BenchFlags {
  readonly quick: boolean;
  readonly json: boolean;
}

/** One measured figure; `aim` says in words what it should be, `met` whether it is. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly min?: number;
  readonly max?: number;
  readonly aim?: string;
  readonly met?: boolean;
}

/** Reads `--quick` and `--json`; other flags are the benchmark's own and are left alone. */
export function readBenchFlags(args: readonly string[] = process.argv.slice(2)): BenchFlags {
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: { quick: { type: 'boolean' }, json: { type: 'boolean' } },
  });
  return { quick: values.quick === true, json: values.json === true };
}

/** The middle value; of an even number of values the mean of the two in the middle. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Median, minimum and maximum of rounds as one figure. */
export function figureOf(
  name: string,
  unit: string,
  rounds: readonly number[],
  aim?: { text: string; met: (value: number) => boolean },
): Figure {
  const value = median(rounds);
  return {
    name,
    unit,
    value,
    min: Math.min(...rounds),
    max: Math.max(...rounds),
    ...(aim ? { aim: aim.text, met: aim.met(value) } : {}),
  };
}

/** Prints the figures, as a table or as one JSON document. */
export function report(title: string, figures: readonly Figure[], flags: BenchFlags): void {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ title, figures }, null, 2)}\n`);
    return;
  }
  const rows = figures.map((figure) => [
    figure.name,
    `${compact(figure.value)} ${figure.unit}`,
    figure.min === undefined || figure.max === undefined ? '' : `${compact(figure.min)} – ${compact(figure.max)}`,
    figure.aim ?? '',
    figure.met === undefined ? '' : figure.met ? 'met' : 'NOT MET',
  ]);
  const header = ['figure', 'median', 'min – max', 'aim', ''];
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)));
  process.stdout.write(`\n${title}\n`);
  for (const row of [header, ...rows]) {
    process.stdout.write(
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

function compact(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 2 : 4;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
