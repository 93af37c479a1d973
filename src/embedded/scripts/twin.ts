import type { Int } from '../data/int64';
import type { Reply } from '../reply';
import { EntryReply, formatFields, MapReply, NullArray, ReplyError, Status, VerbatimReply } from '../reply';
import { formatId } from '../data/streamId';

/** A value as Lua sees it: text is binary, nil is false, integers are doubles. */
export type LuaValue = false | number | string | Status | readonly LuaValue[];

/** What a twin works with: the script's KEYS and ARGV (from 0), and redis.call. */
export interface TwinWorld {
  readonly keys: readonly string[];
  readonly argv: readonly string[];
  /** redis.call: an error reply is thrown as a `ReplyError`. */
  readonly call: (...command: readonly (string | number)[]) => LuaValue;
}

/** A script of the bus, written natively: the same commands in the same order as its Lua text. */
export type Twin = (world: TwinWorld) => LuaValue;

/** A script that the engine can run. */
export interface ScriptTwin {
  readonly name: string;
  readonly readOnly: boolean;
  readonly run: Twin;
}

/** Scripts by the SHA-1 of their Lua text. */
export type ScriptTwins = ReadonlyMap<string, ScriptTwin>;

/** Turns a reply into what Lua gets of it. Maps are flat arrays, as without redis.setresp. */
export function toLua(reply: Reply): LuaValue {
  if (reply === null || reply instanceof NullArray) return false;
  if (typeof reply === 'number' || typeof reply === 'bigint') return Number(reply);
  if (typeof reply === 'string' || reply instanceof Status) return reply;
  if (Buffer.isBuffer(reply)) return reply.toString('latin1');
  if (reply instanceof VerbatimReply) return reply.text;
  if (reply instanceof EntryReply) return [formatId(reply.id), formatFields(reply.fields)];
  if (reply instanceof MapReply) return reply.pairs.map(toLua);
  if (reply instanceof ReplyError) throw reply;
  return reply.map(toLua);
}

/** Turns what a script returned into a reply: fractions are cut off, an array ends at its first nil. */
export function fromLua(value: LuaValue): Reply {
  if (value === false) return null;
  if (typeof value === 'number') return toInteger(value);
  if (typeof value === 'string' || value instanceof Status) return value;
  const end = value.indexOf(false);
  return (end < 0 ? value : value.slice(0, end)).map(fromLua);
}

/** A C cast of a double to a 64-bit integer, within the range. */
function toInteger(value: number): Int {
  return Number.isSafeInteger(Math.trunc(value)) ? Math.trunc(value) : BigInt(Math.trunc(value));
}
