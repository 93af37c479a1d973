/** EVAL, EVALSHA and SCRIPT: not Lua, but the bus's scripts by their hash. */
import { createHash } from 'node:crypto';
import { Args } from '../args';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { ok, ReplyError, replyError } from '../reply';
import { fromLua, toLua } from '../scripts/twin';
import type { LuaValue, ScriptTwin } from '../scripts/twin';
import { Session } from '../session';
import type { CommandHandlers } from './command';
import { replyLater } from './command';
import { requireInt } from './parse';

const noScript = '-NOSCRIPT No matching script. Please use EVAL.';

export const scriptCommands: CommandHandlers = {
  eval: (engine, session, args) => evaluate(engine, session, args, sha1(args.bytes(1)), false),
  eval_ro: (engine, session, args) => evaluate(engine, session, args, sha1(args.bytes(1)), true),
  evalsha: (engine, session, args) => evaluate(engine, session, args, givenHash(engine, args), false),
  evalsha_ro: (engine, session, args) => evaluate(engine, session, args, givenHash(engine, args), true),
  'script|load'(engine, _session, args) {
    const hash = sha1(args.bytes(2));
    requireTwin(engine, hash);
    return hash;
  },
  'script|exists'(engine, _session, args) {
    const found: number[] = [];
    for (let i = 2; i < args.count; i++) found.push(engine.options.scripts.has(args.text(i).toLowerCase()) ? 1 : 0);
    return found;
  },
  'script|flush'(_engine, _session, args) {
    if (args.count > 3 || (args.count === 3 && !args.is(2, 'sync') && !args.is(2, 'async')))
      throw replyError('SCRIPT FLUSH only support SYNC|ASYNC option');
    return ok;
  },
};

function evaluate(engine: Engine, session: Session, args: Args, hash: string, isReadOnly: boolean): Reply {
  const keyCount = requireInt(args, 2);
  if (keyCount > args.count - 3) throw replyError("Number of keys can't be greater than number of args");
  if (keyCount < 0) throw replyError("Number of keys can't be negative");
  const twin = requireTwin(engine, hash);
  if (isReadOnly && !twin.readOnly) throw replyError('Write commands are not allowed from read-only scripts.');
  const keys: string[] = [];
  const argv: string[] = [];
  for (let i = 3; i < args.count; i++) (i - 3 < keyCount ? keys : argv).push(args.text(i));
  return run(engine, session, hash, twin, keys, argv);
}

function run(
  engine: Engine,
  session: Session,
  hash: string,
  twin: ScriptTwin,
  keys: readonly string[],
  argv: readonly string[],
): Reply {
  const inner = new Session(session.id, session.address, session.localAddress, 0, 0, session.output);
  inner.database = session.database;
  inner.denyBlocking = true;
  inner.isScript = true;
  const call = (...command: readonly (string | number)[]): LuaValue => {
    const args = Args.of(command.map(String));
    const spec = engine.commands.find(args);
    if (spec instanceof ReplyError || spec.flags.includes('noscript'))
      throw replyError('This Redis command is not allowed from script');
    const reply = engine.call(spec, inner, args);
    return reply === replyLater ? false : toLua(reply);
  };
  try {
    return fromLua(twin.run({ keys, argv, call }));
  } catch (error) {
    if (error instanceof ReplyError) return new ReplyError(`${error.message} script: ${hash}, on @user_script:1.`);
    throw error;
  }
}

function givenHash(engine: Engine, args: Args): string {
  const hash = args.text(1).toLowerCase();
  if (!engine.options.scripts.has(hash)) throw replyError(noScript);
  return hash;
}

function requireTwin(engine: Engine, hash: string): ScriptTwin {
  const twin = engine.options.scripts.get(hash);
  if (twin) return twin;
  throw replyError(
    `the sandbox runs no Lua, only the scripts of the bus by their hash, and ${hash} is none of them; run this script on a real Redis`,
  );
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}
