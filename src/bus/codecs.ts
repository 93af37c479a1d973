/**
 * Codecs: how a message becomes the fields of an entry and back.
 *
 * `fields()` is flat text, a field per property; `json()` carries the type, the key, headers and a JSON body in fields of its own.
 * Trace context (`traceparent`, `tracestate`, `baggage`) are plain fields in both. Unknown fields are left alone. What is decoded is
 * what was encoded; what a codec cannot carry unchanged it refuses. No error quotes a value.
 */
import { bytesToText, textToBytes } from '../base/byteText';
import type { EntryFields } from './entries';
import { isPlain, jsonObstacle, propertyPath } from './jsonBody';
import { checkOptions, ConfigError, text } from './options';

/** A message as its publisher gives it. */
export interface Outgoing<Body = unknown> {
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/**
 * Turns messages into fields, or throws an `EncodeError`; fields into messages, or throws a `DecodeError` when they are not such a message. The
 * text of these errors is kept, so it quotes no payload; the text of any other error is not.
 */
export interface Codec<Body = unknown> {
  encode(message: Outgoing<Body>): EntryFields;
  decode(fields: EntryFields): Outgoing<Body>;
}

/** A message cannot be carried by its codec without being changed; the text says what and never quotes a value. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
}

/** The fields of an entry were not what the codec or the schema expects. The dead letter's reason becomes `invalid`. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const traceFields: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage']);

/** The options of `fields`. */
export interface FieldsCodecOptions {
  /** The field that holds the message type. Without it messages have no type. */
  readonly typeField?: string;
  /** The field that holds the key. Without it messages have no key. */
  readonly keyField?: string;
}

/**
 * Flat text: each property of the body is a field. The body holds all fields that are not the type, the key or trace context; of fields
 * with the same name the last. Text may be any that `bytesToText` makes, so that bytes pass unchanged too.
 */
export function fields(options: FieldsCodecOptions = {}): Codec<Readonly<Record<string, string>>> {
  checkOptions('fields', options, { typeField: text, keyField: text });
  const { typeField, keyField } = options;
  for (const [option, name] of Object.entries({ typeField, keyField }))
    if (name !== undefined && (traceFields.has(name) || (option === 'keyField' && name === typeField)))
      throw new ConfigError('conflicting-options', `fields.${option}`, `fields.${option}: '${name}' is taken`);
  const reserved = new Map([...traceFields].map((name) => [name, 'headers']));
  if (keyField !== undefined) reserved.set(keyField, 'key');
  if (typeField !== undefined) reserved.set(typeField, 'type');
  return {
    encode({ type, key, headers, body }) {
      const writer = new FieldWriter();
      if (type !== undefined) {
        if (typeField === undefined) throw new EncodeError('The fields codec carries a type only with a typeField');
        writer.add(typeField, type, 'The type');
      }
      for (const [name, value] of plainEntries(body)) {
        const place = reserved.get(name);
        const path = propertyPath('body', name);
        if (place !== undefined)
          throw new EncodeError(`${path} would be read as the message's ${place}: give it there`);
        if (typeof value !== 'string')
          throw new EncodeError(`The fields codec carries text only; ${path} is ${typeof value}: use json()`);
        writer.add(name, value, path);
      }
      if (key !== undefined) {
        if (keyField === undefined) throw new EncodeError('The fields codec carries a key only with a keyField');
        writer.add(keyField, key, 'The key');
      }
      for (const [name, value] of Object.entries(headers)) {
        if (!traceFields.has(name)) throw new EncodeError(`The fields codec carries no header "${name}": use json()`);
        writer.add(name, value, `The header ${name}`);
      }
      if (writer.pairs.length === 0)
        throw new EncodeError('The body has no property: an entry needs at least one field');
      return writer.pairs;
    },
    decode(entry) {
      const body = emptyRecord();
      const headers = emptyRecord();
      let type: string | undefined;
      let key: string | undefined;
      for (const [name, value] of textPairs(entry)) {
        if (name === typeField) type = value;
        else if (name === keyField) key = value;
        else (traceFields.has(name) ? headers : body)[name] = value;
      }
      return { type, key, headers, body };
    },
  };
}

/**
 * JSON: fields `t` type, `v` version of the format, `b` body, `k` key, `h.<name>` headers. The body is what JSON can carry: a Date, a Map, a
 * bigint, NaN or a class instance is refused rather than changed. A property that is undefined counts as left out.
 */
export function json(): Codec {
  return {
    encode({ type, key, headers, body }) {
      const obstacle = jsonObstacle(body);
      if (obstacle !== undefined) throw new EncodeError(`JSON cannot carry the body: ${obstacle}`);
      const writer = new FieldWriter();
      if (type !== undefined) writer.add('t', type, 'The type');
      writer.add('v', '1', 'The version');
      writer.add('b', JSON.stringify(body), 'The body');
      if (key !== undefined) writer.add('k', key, 'The key');
      for (const [name, value] of Object.entries(headers))
        writer.add(traceFields.has(name) ? name : `h.${name}`, value, 'A header');
      return writer.pairs;
    },
    decode(entry) {
      const found = new Map(textPairs(entry));
      const body = found.get('b');
      if (body === undefined) throw new DecodeError('There is no field "b" with the JSON body');
      const version = found.get('v');
      if (version !== undefined && version !== '1') throw new DecodeError('The format version in field "v" is not 1');
      const headers = emptyRecord();
      for (const [name, value] of found) {
        if (traceFields.has(name)) headers[name] = value;
        else if (name.startsWith('h.')) headers[name.slice(2)] = value;
      }
      return { type: found.get('t'), key: found.get('k'), headers, body: parseJson(body) };
    },
  };
}

/** The fields as text by name, of fields with the same name the last; the record has no prototype. */
export function fieldRecord(entry: EntryFields): Record<string, string> {
  const record = emptyRecord();
  for (const [name, value] of textPairs(entry)) record[name] = value;
  return record;
}

function* textPairs(entry: EntryFields): Generator<[string, string]> {
  for (let index = 0; index + 1 < entry.length; index += 2) {
    const name = entry[index];
    const value = entry[index + 1];
    if (name && value) yield [bytesToText(name), bytesToText(value)];
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which is payload.
    throw new DecodeError('Field "b" is not JSON');
  }
}

/** Adds a field, unless its text could not be read back. */
class FieldWriter {
  readonly pairs: Buffer[] = [];

  add(name: string, value: string, what: string): void {
    if (!isCarried(name)) throw new EncodeError(`The name of ${what} holds half a character, which UTF-8 cannot carry`);
    if (!isCarried(value)) throw new EncodeError(`${what} holds half a character, which UTF-8 cannot carry`);
    this.pairs.push(textToBytes(name), textToBytes(value));
  }
}

function isCarried(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text) || bytesToText(textToBytes(text)) === text;
}

function plainEntries(body: unknown): [string, unknown][] {
  if (typeof body === 'object' && body !== null && isPlain(body)) return Object.entries(body);
  throw new EncodeError('The fields codec carries an object of text only, and the body is none: use json()');
}

function emptyRecord(): Record<string, string> {
  return Object.create(null) as Record<string, string>;
}
