import {
  anything,
  checkOptions,
  ConfigError,
  either,
  integer,
  milliseconds,
  oneOf,
  text,
  withMethods,
} from '../options';
import type { Codec } from '../codecs';
import { streamKey } from '../ids';
import type { StreamKey } from '../ids';
import { middlewares } from './middleware';
import type { PublishMiddleware } from './middleware';

/**
 * How much of a stream is kept: about so many entries (XADD MAXLEN ~), about so old ones (XADD MINID ~, Redis 6.2), or all of it. It
 * is applied when messages are published to the topic, and by nothing else.
 */
export type Retention = 'none' | { readonly maxLength: number } | { readonly maxAgeMs: number };

/** A stream that is ours to publish to: its name, its retention, how its messages are written. */
export interface Topic<Body = unknown> {
  readonly name: string;
  /** True when the name is the key itself, never to be prefixed with the environment. */
  readonly exact: boolean;
  readonly retention: Retention;
  readonly codec: Codec<Body> | undefined;
  readonly use: readonly PublishMiddleware[];
}

/** The options of a topic. */
export interface TopicOptions<Body> {
  /** Required, so that no stream is trimmed, and none grows for ever, by somebody's default. */
  readonly retention: Retention;
  readonly exact?: boolean;
  /** How bodies become fields and back. Default: `fields()` for text. */
  readonly codec?: Codec<Body>;
  /** Around every publication to this topic, the first outermost, inside of the bus's own. */
  readonly use?: readonly PublishMiddleware[];
}

/** What names a stream: a topic, a name that gets the environment's prefix, or a key that is meant exactly. */
export type StreamRef<Body = unknown> = Topic<Body> | string | { readonly exact: string };

/** Declares a topic. */
export function topic<Body = unknown>(name: string, options: TopicOptions<Body>): Topic<Body> {
  checkName('topic', name);
  checkOptions('topic', options, {
    retention: either(oneOf('none'), anything),
    exact: oneOf(true, false),
    codec: withMethods('encode', 'decode'),
    use: middlewares,
  });
  const retention: unknown = options.retention;
  if (retention === undefined)
    throw new ConfigError(
      'invalid-option',
      'topic.retention',
      "topic.retention: expected { maxLength }, { maxAgeMs } or 'none', got none",
    );
  if (retention !== 'none') checkRetention(retention);
  const { exact = false, codec, use = [] } = options;
  return { name, exact, retention: options.retention, codec, use };
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
export function topicOf<Body>(ref: StreamRef<Body>): Topic<Body> | undefined {
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
