import { displayText } from '../../base/byteText';
import { EncodeError, fields } from '../codecs';
import type { Codec } from '../codecs';
import type { EntryFields } from '../entries';
import type { StreamKey } from '../ids';
import { anything, checkOptions, ConfigError, text } from '../options';
import { checkBody, schemaFor } from '../schemas';
import type { Checked } from '../schemas';
import type { OutgoingMessage } from './middleware';
import { PublishError } from './publishError';
import type { NewMessage } from './publisher';
import type { Topic } from './topic';

const defaultCodec: Codec = fields();

/** Checks the shape of a message as it is given; throws a `ConfigError`, which tells of a value only what kind it is. */
export function checkMessage(message: NewMessage): void {
  checkOptions('message', message, { body: anything, type: anything, key: anything, headers: anything });
  const given: Readonly<Record<string, unknown>> = { ...message };
  for (const name of ['type', 'key']) if (given[name] !== undefined) requireText(name, given[name]);
  const { headers } = given;
  if (headers !== undefined && (typeof headers !== 'object' || headers === null))
    throw misshapen('headers', 'an object of text', headers);
}

/** Checks a message against its topic's schemas; answers a promise when the schema needs one. */
export function checkOutgoing(
  topic: Topic | undefined,
  { stream, type, body }: OutgoingMessage,
): Promise<void> | undefined {
  const schemas = topic?.schemas;
  if (schemas === undefined) return undefined;
  const schema = schemaFor(schemas, type);
  if (schema === undefined) {
    const given = type === undefined ? 'none' : 'another';
    throw invalid(stream, `the type must be one of ${Object.keys(schemas).join(', ')}, got ${given}`);
  }
  const judge = (checked: Checked): void => {
    if ('problem' in checked)
      throw invalid(stream, type === undefined ? checked.problem : `${checked.problem} of ${displayText(type)}`);
  };
  const failed = (error: unknown): never => {
    throw invalid(stream, 'its schema failed instead of judging it', error);
  };
  let checked: Checked | Promise<Checked>;
  try {
    checked = checkBody(schema, body);
  } catch (error) {
    return failed(error);
  }
  if ('then' in checked) return checked.then(judge, failed);
  judge(checked);
  return undefined;
}

/** The body goes out as it was given: what a schema makes of it, such as defaults, the receiver's schema makes of it again. */
export function encodeOutgoing(
  topic: Topic | undefined,
  { stream, type, key, headers, body }: OutgoingMessage,
): EntryFields {
  for (const [name, value] of Object.entries<unknown>(headers))
    if (typeof value !== 'string') throw misshapen(`headers.${name}`, 'text', value);
  let entry: EntryFields;
  try {
    entry = (topic?.codec ?? defaultCodec).encode({ type, key, headers, body });
  } catch (error) {
    throw invalid(stream, error instanceof EncodeError ? error.message : 'its codec refused the message', error);
  }
  if (entry.length === 0 || entry.length % 2 !== 0)
    throw invalid(stream, `its codec made ${entry.length} names and values of it; expected pairs, at least one`);
  return entry;
}

function requireText(name: string, value: unknown): void {
  const expected = text(value);
  if (expected !== undefined) throw misshapen(name, expected, value);
}

function misshapen(name: string, expected: string, value: unknown): ConfigError {
  const given = value === '' ? 'empty text' : value === null ? 'null' : typeof value;
  return new ConfigError('invalid-option', `message.${name}`, `message.${name}: expected ${expected}, got ${given}`);
}

function invalid(stream: StreamKey, problem: string, cause?: unknown): PublishError {
  const message = `Cannot publish to ${displayText(stream)}: ${problem}`;
  return new PublishError('invalid', stream, false, message, cause === undefined ? {} : { cause });
}
