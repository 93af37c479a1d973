import type { HandlerLog } from '../../bus';

/** How much of an error's stack goes into a line's details. */
const maxStackLength = 4000;

/**
 * Writes lines for people (`text`, what the debug console shows) or for programs (`json`, one object a line). Through `console`, because
 * debuggers show that and not what is written to stdout. Neither ids nor error texts are payload; fields of messages never get here.
 */
export function createLogLines(format: 'text' | 'json'): HandlerLog {
  const line = (level: string, message: string, details: Readonly<Record<string, unknown>> = {}): string =>
    format === 'json'
      ? JSON.stringify({ time: new Date().toISOString(), level, message, ...details })
      : `${new Date().toISOString().slice(11, 23)} ${level.padEnd(5)} ${message}${detailsText(details)}`;
  return {
    info: (message, details) => {
      console.info(line('info', message, details));
    },
    warn: (message, details) => {
      console.warn(line('warn', message, details));
    },
    error: (message, details) => {
      console.error(line('error', message, details));
    },
  };
}

/** Whatever was thrown, as a person needs it to find the place; says so when it is no Error, and then does not repeat the value. */
export function thrownText(thrown: unknown): string {
  if (thrown instanceof Error) return withoutUrlSecrets((thrown.stack ?? String(thrown)).slice(0, maxStackLength));
  const kind = thrown === null ? 'null' : Array.isArray(thrown) ? 'a list' : `a value of type ${typeof thrown}`;
  return `${kind}, which is not an Error: throw an Error to see where it comes from`;
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        ` ${name}=${typeof value === 'string' && /^[\w.:-]+$/.test(value) ? value : JSON.stringify(value)}`,
    )
    .join('');
}

function withoutUrlSecrets(text: string): string {
  return text.replace(/(\/\/[^\s/:@]*:)[^\s/@]+@/g, '$1***@');
}
