import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  anything,
  checkOptions,
  ConfigError,
  either,
  functions,
  integer,
  milliseconds,
  oneOf,
  text,
  withMethods,
} from '../options';
import { json } from '../codecs';
import type { Codec } from '../codecs';
import type { Message } from '../consume/handler';
import { streamKey } from '../ids';
import type { StreamKey } from '../ids';
import { checkSchemas } from '../schemas';
import type { Schemas, SchemasByType } from '../schemas';
import type { PublishMiddleware } from './middleware';
import type { NewMessage } from './publisher';

/**
 * How much of a stream is kept: about so many entries (XADD MAXLEN ~), about so old ones (XADD MINID ~, Redis 6.2), or all of it. It
 * is applied when messages are published to the topic, and by nothing else.
 */
export type Retention = 'none' | { readonly maxLength: number } | { readonly maxAgeMs: number };

/**
 * A stream that is ours to publish to: its name, its retention, how its messages are written and what their bodies must be. `Sent` is what
 * may be published to it, `Received` what its handlers get; both are unions told apart by `type` when there are schemas by type.
 */
export interface Topic<Sent = unknown, Received = unknown> {
  readonly name: string;
  /** True when the name is the key itself, never to be prefixed with the environment. */
  readonly exact: boolean;
  readonly retention: Retention;
  readonly codec: Codec | undefined;
  readonly schemas: Schemas | undefined;
  readonly use: readonly PublishMiddleware[];
  /** For the compiler only; never there. */
  readonly types?: { readonly sent: Sent; readonly received: Received };
}

/** The options of a topic. */
export interface TopicOptions<Body = unknown> {
  /** Required, so that no stream is trimmed, and none grows for ever, by somebody's default. */
  readonly retention: Retention;
  readonly exact?: boolean;
  /** How bodies become fields and back. Default: `json()` for a topic with schemas, else `fields()`, which is for text. */
  readonly codec?: Codec<Body> | Codec;
  /** Around every publication to this topic, the first outermost, inside of the bus's own. */
  readonly use?: readonly PublishMiddleware[];
}

/** What names a stream: a topic, a name that gets the environment's prefix, or a key that is meant exactly. */
export type StreamRef<Sent = unknown, Received = unknown> = Topic<Sent, Received> | string | { readonly exact: string };

/** What may be published to a topic with these schemas by type. */
export type SentByType<ByType extends SchemasByType> = {
  [Type in keyof ByType & string]: NewMessage<StandardSchemaV1.InferInput<ByType[Type]>> & { readonly type: Type };
}[keyof ByType & string];

/** What handlers of a topic with these schemas by type get. */
export type ReceivedByType<ByType extends SchemasByType> = {
  [Type in keyof ByType & string]: Message<StandardSchemaV1.InferOutput<ByType[Type]>, Type>;
}[keyof ByType & string];

/**
 * Declares a topic: with one schema for every body, with a schema for each message type, or with none. Bodies are checked before they are
 * published and before a handler gets them. Throws a `ConfigError`.
 */
export function topic<Schema extends StandardSchemaV1>(
  name: string,
  schema: Schema,
  options: TopicOptions,
): Topic<NewMessage<StandardSchemaV1.InferInput<Schema>>, Message<StandardSchemaV1.InferOutput<Schema>>>;
export function topic<const ByType extends SchemasByType>(
  name: string,
  schemas: ByType,
  options: TopicOptions,
): Topic<SentByType<ByType>, ReceivedByType<ByType>>;
export function topic<Body = unknown>(name: string, options: TopicOptions<Body>): Topic<NewMessage<Body>, Message>;
export function topic(name: string, ...rest: readonly [TopicOptions] | readonly [Schemas, TopicOptions]): Topic {
  const [schemas, options] = rest.length === 2 ? rest : [undefined, rest[0]];
  checkName('topic', name);
  if (rest.length === 2) checkSchemas('topic.schemas', schemas);
  checkOptions('topic', options, {
    retention: either(oneOf('none'), anything),
    exact: oneOf(true, false),
    codec: withMethods('encode', 'decode'),
    use: functions,
  });
  const retention: unknown = options.retention;
  if (retention === undefined)
    throw new ConfigError(
      'invalid-option',
      'topic.retention',
      "topic.retention: expected { maxLength }, { maxAgeMs } or 'none', got none",
    );
  if (retention !== 'none') checkRetention(retention);
  const { exact = false, codec = schemas === undefined ? undefined : json(), use = [] } = options;
  return { name, exact, retention: options.retention, codec, schemas, use };
}

/** The key of a stream in an environment: `dev:orders` for `orders` in `dev`; exact names as they are. */
export function keyOf(ref: StreamRef, env: string | undefined): StreamKey {
  if (typeof ref === 'string') {
    checkName('stream', ref);
    return streamKey(env === undefined ? ref : `${env}:${ref}`);
  }
  if ('name' in ref) return ref.exact || env === undefined ? streamKey(ref.name) : streamKey(`${env}:${ref.name}`);
  checkName('stream', ref.exact);
  return streamKey(ref.exact);
}

/** The topic that a reference is, if it is one. */
export function topicOf(ref: StreamRef): Topic | undefined {
  return typeof ref === 'object' && 'name' in ref ? ref : undefined;
}

function checkRetention(retention: unknown): void {
  checkOptions('topic.retention', retention, { maxLength: integer(1), maxAgeMs: milliseconds(1) });
  const given = Object.values(retention as object).filter((value) => value !== undefined);
  if (given.length !== 1)
    throw new ConfigError(
      'conflicting-options',
      'topic.retention',
      `topic.retention: expected one of maxLength and maxAgeMs, got ${given.length === 0 ? 'none' : 'both'}`,
    );
}

function checkName(what: string, name: unknown): void {
  const expected = text(name);
  if (expected !== undefined)
    throw new ConfigError('invalid-option', what, `${what}: expected a name, ${expected}, got ${typeof name}`);
}
