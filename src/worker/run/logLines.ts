import { BusError, ConfigError, errorKind } from '../../bus';
import type { HandlerLog } from '../../bus';

/** How much of an error's stack goes into a line's details. */
const maxStackLength = 4000;

/** A log that also takes what happened as an event, which it writes as a sentence for people or as details for programs. */
export interface RunLog extends HandlerLog {
  /** Whether events are written by their details. */
  readonly isStructured: boolean;
  /**
   * Tells an event. Its details never hold payload, nor an error's message, which may quote some; its sentence may hold the message of a
   * handler's error, because whoever reads lines of text is at work on that handler.
   */
  tell(
    level: 'info' | 'warn' | 'error',
    event: string,
    details: Readonly<Record<string, unknown>>,
    sentence: string | (() => string),
  ): void;
}

/** Makes a log of lines for people (`text`) or for programs (`json`, one object a line). */
export async function createLogLines(format: 'text' | 'json'): Promise<RunLog> {
  return format === 'json' ? (await import('../telemetry/jsonLog')).jsonLog() : textLog();
}

/** Writes lines for people, through `console`: debuggers show that and not what is written to stdout. */
export function textLog(): RunLog {
  const line = (level: string, message: string, details: Readonly<Record<string, unknown>> = {}): string =>
    `${new Date().toISOString().slice(11, 23)} ${level.padEnd(5)} ${message}${detailsText(details)}`;
  return {
    isStructured: false,
    info: (message, details) => {
      console.info(line('info', message, details));
    },
    warn: (message, details) => {
      console.warn(line('warn', message, details));
    },
    error: (message, details) => {
      console.error(line('error', message, details));
    },
    tell: (level, _event, _details, sentence) => {
      console[level](line(level, typeof sentence === 'string' ? sentence : sentence()));
    },
  };
}

/** Whatever was thrown, as a person needs it to find the place; says so when it is no Error, and then does not repeat the value. */
export function thrownText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return withoutUrlSecrets(stackOf(thrown).slice(0, maxStackLength));
  } catch {
    return 'something that fails itself when it is read';
  }
  const kind = thrown === null ? 'null' : Array.isArray(thrown) ? 'a list' : `a value of type ${typeof thrown}`;
  return `${kind}, which is not an Error: throw an Error to see where it comes from`;
}

/** Programs that change how stacks are made leave lists in place of texts. */
function stackOf(error: Error): string {
  const stack: unknown = error.stack;
  return typeof stack === 'string' ? stack : String(error);
}

/** A failure as the details of an event tell it: its kind, and the message only of our own errors, which hold no payload. */
export function failureDetails(error: unknown): Readonly<Record<string, unknown>> {
  const kind = { error_kind: errorKind(error) };
  try {
    return BusError.is(error) || ConfigError.is(error) ? { ...kind, error_message: error.message } : kind;
  } catch {
    return kind;
  }
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' && /^[\w.:-]+$/.test(value) ? value : jsonOf(value)}`)
    .join('');
}

/** A handler must not fail because of what it logs. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
  } catch {
    return '(not to be written as JSON)';
  }
}

function withoutUrlSecrets(text: string): string {
  return text.replace(/(\/\/[^\s/:@]*:)[^\s/@]+@/g, '$1***@');
}
