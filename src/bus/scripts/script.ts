import { createHash } from 'node:crypto';
import type { StreamKey } from '../ids';

/** What a script or any command may answer, as the wire carries it: integers are doubles, strings are bytes. */
export type RawReply = null | number | Buffer | readonly RawReply[];

/** An argument of a script: text is sent as the bytes that it stands for (`base/byteText`), numbers in decimal. */
export type ScriptArgument = string | number | Buffer;

/**
 * A Lua script of the bus: its text, how typed arguments become KEYS and ARGV, and how the raw reply is read.
 *
 * Every change that touches more than one key or needs a check first is one of these. Each has a twin in the embedded engine,
 * found by `sha1`.
 */
export interface Script<Arguments, Reply> {
  readonly name: string;
  /** Lua 5.1 as Redis 5.0 and later run it. */
  readonly text: string;
  /** Lower-case hexadecimal SHA-1 of the text, as EVALSHA wants it. */
  readonly sha1: string;
  /** True when the script never writes, so that replicas may run it. */
  readonly readOnly: boolean;
  keys(args: Arguments): readonly StreamKey[];
  argv(args: Arguments): readonly ScriptArgument[];
  /** Throws a BusError of reason `protocol` when the reply has not the expected shape. */
  reply(raw: RawReply): Reply;
}

/** What a script is made of; the hash is computed. */
export type ScriptDefinition<Arguments, Reply> = Omit<Script<Arguments, Reply>, 'sha1'>;

/** Makes a script from its definition; the text is trimmed, so that its indentation in the source does not change its hash. */
export function defineScript<Arguments, Reply>(
  definition: ScriptDefinition<Arguments, Reply>,
): Script<Arguments, Reply> {
  const text = definition.text.trim();
  return { ...definition, text, sha1: createHash('sha1').update(text).digest('hex') };
}
