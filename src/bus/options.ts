/** What was wrong with an option. */
export type ConfigErrorReason = 'invalid-option' | 'unknown-option' | 'conflicting-options' | 'unsupported';

/** An option that the bus cannot work with; the message names it, what was given and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly reason: ConfigErrorReason,
    /** The path of the option, such as `ownership.minIdleMs`. */
    readonly option: string,
    message: string,
  ) {
    super(message);
  }

  static is(error: unknown, reason?: ConfigErrorReason): error is ConfigError {
    return error instanceof ConfigError && (reason === undefined || error.reason === reason);
  }
}

/** Tells what is expected of an option when the value is not that, else undefined. */
export type Check = (value: unknown) => string | undefined;

/**
 * Checks an options object: every given option is known and passes its check. Options given as undefined count as left out. Throws
 * a `ConfigError` for the first that is wrong.
 */
export function checkOptions(path: string, given: unknown, checks: Readonly<Record<string, Check>>): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new ConfigError('invalid-option', path, `${path}: expected an object of options, got ${describe(given)}`);
  for (const [name, value] of Object.entries(given)) {
    const option = `${path}.${name}`;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) {
      const known = Object.keys(checks).join(', ');
      throw new ConfigError('unknown-option', option, `${option} is no option; known are ${known}`);
    }
    if (value === undefined) continue;
    const expected = check(value);
    if (expected !== undefined)
      throw new ConfigError('invalid-option', option, `${option}: expected ${expected}, got ${describe(value)}`);
  }
}

/** An integer within bounds. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
      ? undefined
      : `an integer ${bounds}`;
}

/** A number of milliseconds that timers and the server can take. */
export function milliseconds(min: number): Check {
  const check = integer(min, maxMs);
  return (value) => (check(value) === undefined ? undefined : `whole milliseconds from ${min} to ${maxMs}`);
}

/** Timers of Node overflow above this; about 24.8 days. */
export const maxMs = 2 ** 31 - 1;

/** True or false. */
export const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');

/** Text that is not empty. */
export const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'text that is not empty';

/** A function. */
export const callable: Check = (value) => (typeof value === 'function' ? undefined : 'a function');

/** A list of functions. */
export const functions: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'function') ? undefined : 'a list of functions';

/** One of some literal values. */
export function oneOf(...values: readonly (string | boolean)[]): Check {
  return (value) => (values.some((candidate) => candidate === value) ? undefined : values.map(quote).join(' or '));
}

/** An object that has methods of these names. */
export function withMethods(...names: readonly string[]): Check {
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
      ? undefined
      : `an object with ${names.join(', ')}`;
}

/** Anything; what is wrong is found out by a later check. */
export const anything: Check = () => undefined;

/** Either of two. */
export function either(first: Check, second: Check): Check {
  return (value) => {
    const expected = first(value);
    return expected === undefined || second(value) === undefined ? undefined : `${expected} or ${second(value) ?? ''}`;
  };
}

function quote(value: string | boolean): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Names a value without giving away long or secret text. */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value.length > 40 ? `a text of ${value.length} characters` : `'${value}'`;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;
}
