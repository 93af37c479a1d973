/**
 * Codecs: how a message becomes the fields of an entry and back.
 *
 * `fields()` is flat text, a field per property; `json()` carries the type, the key, headers and a JSON body in fields of its own.
 * Trace context (`traceparent`, `tracestate`, `baggage`) are plain fields in both. Unknown fields are left alone.
 */
import { bytesToText, textToBytes } from '../base/byteText';
import type { EntryFields } from './entries';

/** A message as its publisher gives it. */
export interface Outgoing<Body = unknown> {
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** Turns messages into fields and fields into messages; `decode` throws when the fields are not such a message. */
export interface Codec<Body = unknown> {
  encode(message: Outgoing<Body>): EntryFields;
  decode(fields: EntryFields): Outgoing<Body>;
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
  /** The field that holds the key for ordering. */
  readonly keyField?: string;
}

/** Flat text: each property of the body is a field. The body holds all fields that are not the type, the key or trace context. */
export function fields(options: FieldsCodecOptions = {}): Codec<Readonly<Record<string, string>>> {
  const { typeField, keyField } = options;
  return {
    encode({ type, key, headers, body }) {
      const pairs: Buffer[] = [];
      const add = (name: string, value: string): void => void pairs.push(textToBytes(name), textToBytes(value));
      if (typeField !== undefined && type !== undefined) add(typeField, type);
      for (const [name, value] of Object.entries(body)) if (name !== typeField) add(name, textValue(name, value));
      if (keyField !== undefined && key !== undefined && !(keyField in body)) add(keyField, key);
      for (const [name, value] of Object.entries(headers)) {
        if (!traceFields.has(name)) throw new DecodeError(`The fields codec carries no header "${name}": use json()`);
        add(name, value);
      }
      return pairs;
    },
    decode(entry) {
      const body = emptyRecord();
      const headers = emptyRecord();
      let type: string | undefined;
      let key: string | undefined;
      for (const [name, value] of textPairs(entry)) {
        if (name === keyField) key = value;
        if (name === typeField) type = value;
        else (traceFields.has(name) ? headers : body)[name] = value;
      }
      return { type, key, headers, body };
    },
  };
}

/** JSON: fields `t` type, `v` version of the format, `b` body, `k` key, `h.<name>` headers. */
export function json(): Codec {
  return {
    encode({ type, key, headers, body }) {
      const text = JSON.stringify(body) as string | undefined;
      if (text === undefined) throw new DecodeError('The body cannot be written as JSON');
      const pairs: Buffer[] = [];
      const add = (name: string, value: string): void => void pairs.push(textToBytes(name), textToBytes(value));
      if (type !== undefined) add('t', type);
      add('v', '1');
      add('b', text);
      if (key !== undefined) add('k', key);
      for (const [name, value] of Object.entries(headers)) add(traceFields.has(name) ? name : `h.${name}`, value);
      return pairs;
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

function textValue(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new DecodeError(`The fields codec carries text only; property "${name}" is ${typeof value}: use json()`);
}

function emptyRecord(): Record<string, string> {
  return Object.create(null) as Record<string, string>;
}
