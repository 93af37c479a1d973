import { maxErrorMessageBytes } from '../deadLetters';

/** The name and the message of whatever a handler threw, as a dead letter keeps them. */
export interface FailureText {
  readonly type: string;
  readonly message: string;
}

/** Removes what must not be kept from an error's message. */
export type Redact = (message: string) => string;

/** Removes passwords from URLs. */
export const redactUrlSecrets: Redact = (message) => message.replace(/(\/\/[^\s/:@]*:)[^\s/@]+@/g, '$1***@');

/** Reads any thrown value; the message is redacted and at most 1 KiB of UTF-8. Nothing is kept of what cannot be read or redacted. */
export function failureText(error: unknown, redact: Redact): FailureText {
  try {
    return { type: nameOf(error), message: bounded(redact(messageOf(error))) };
  } catch {
    return notRecorded;
  }
}

/** What stands in the place of an error that cannot be read or redacted. */
export const notRecorded: FailureText = {
  type: 'Error',
  message: 'Not recorded: reading or redacting the error failed itself',
};

/**
 * What a handler threw, or an error in its place when it is a proxy or has getters that throw: whoever looks at it later could not settle the
 * message.
 */
export function readable(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null) return thrown;
  try {
    const { name, message, stack, delayMs } = thrown as Readonly<Record<string, unknown>>;
    return [name, message, stack, delayMs, thrown instanceof Error].length > 0 ? thrown : undefined;
  } catch {
    return new Error('The handler threw something that fails itself when it is read');
  }
}

/** Whether a handler threw `RetryLater` or `Reject`: by name, because a user's handler may not be able to import our classes. */
export function isNamed(error: unknown, name: string): error is { readonly name: string } {
  return typeof error === 'object' && error !== null && (error as { name?: unknown }).name === name;
}

function nameOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  const { name } = error as { name?: unknown };
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'Error';
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return String(error);
  const { message } = error as { message?: unknown };
  return typeof message === 'string' ? message : '';
}

function bounded(message: string): string {
  const bytes = Buffer.from(message, 'utf8');
  if (bytes.length <= maxErrorMessageBytes) return message;
  let end = maxErrorMessageBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
