import { parseArgs } from 'node:util';
import { UsageError } from '../usageError';

/** The flags that a command takes: with a value, or without. */
export interface FlagNames {
  readonly valued: readonly string[];
  readonly plain?: readonly string[];
  /** Whether words without a flag are taken. */
  readonly words?: boolean;
}

/** Bounds and default of a number. */
export interface NumberRule {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The settings of a command: flags, and behind each flag an environment variable, `--sweep-ms` being `REDIS_STREAMS_SWEEP_MS`. What is
 * given is checked when it is asked for, before anything is started; what is wrong is told with the flag's name. Secrets have no flag.
 */
export class Settings {
  readonly words: readonly string[];
  private readonly values: ReturnType<typeof parseArgs>['values'];

  constructor(
    args: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
    { valued, plain = [], words = false }: FlagNames,
  ) {
    const options: Record<string, { type: 'string' | 'boolean' }> = {};
    for (const name of valued) options[name] = { type: 'string' };
    for (const name of plain) options[name] = { type: 'boolean' };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: words });
    this.values = values;
    this.words = positionals;
  }

  /** The text of a flag or its variable; undefined when neither is given. An empty variable counts as not given. */
  text(flag: string): string | undefined {
    const given = this.values[flag];
    if (given === '') throw new UsageError(`--${flag}: expected a text that is not empty`);
    if (typeof given === 'string') return given;
    const variable = this.env[variableOf(flag)];
    return variable === '' ? undefined : variable;
  }

  /** Whether a flag without a value is given; its variable says `1` or `true`. */
  has(flag: string): boolean {
    const variable = this.env[variableOf(flag)];
    return this.values[flag] === true || variable === '1' || variable === 'true';
  }

  whole(flag: string, { default: otherwise, min, max }: NumberRule): number {
    const text = this.text(flag);
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value;
    throw new UsageError(
      `--${flag} (or ${variableOf(flag)}): expected a whole number from ${min} to ${max}, got ${JSON.stringify(text.slice(0, 40))}`,
    );
  }

  /** A number that may be left out. */
  optionalWhole(flag: string, rule: Omit<NumberRule, 'default'>): number | undefined {
    return this.text(flag) === undefined ? undefined : this.whole(flag, { ...rule, default: rule.min });
  }

  choice<Choice extends string>(flag: string, choices: readonly Choice[], otherwise: Choice): Choice {
    const text = this.text(flag);
    if (text === undefined) return otherwise;
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw new UsageError(
      `--${flag} (or ${variableOf(flag)}): expected ${choices.join(' or ')}, got ${JSON.stringify(text.slice(0, 40))}`,
    );
  }

  /** A secret: from the environment only, because the arguments of a process are seen by everybody on its machine. */
  secret(variable: string): string | undefined {
    const value = this.env[variable];
    return value === '' ? undefined : value;
  }
}

function variableOf(flag: string): string {
  return `REDIS_STREAMS_${flag.replaceAll('-', '_').toUpperCase()}`;
}
