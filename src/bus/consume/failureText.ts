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

/** Reads any thrown value; the message is redacted and at most 1 KiB of UTF-8. */
export function failureText(error: unknown, redact: Redact): FailureText {
  const type = nameOf(error);
  return { type, message: bounded(redact(messageOf(error))) };
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
