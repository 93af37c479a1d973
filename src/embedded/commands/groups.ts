/** XGROUP and XACK. */
import type { Args } from '../args';
import { Group } from '../data/group';
import type { Int } from '../data/int64';
import type { Stream } from '../data/stream';
import type { StreamId } from '../data/streamId';
import { minStreamId } from '../data/streamId';
import type { Engine } from '../engine';
import type { Reply, ReplyError } from '../reply';
import { ok, replyError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { helpReply } from './help';
import { requireId, requireIdOrEdge, requireInt } from './parse';

const dollar = 0x24;

export const groupCommands: CommandHandlers = {
  'xgroup|create': create,
  'xgroup|setid'(engine, session, args) {
    const options = parseOptions(args, false);
    const { stream, group } = requireGroup(engine, session, args);
    if (args.count !== 5 && args.count !== 7) throw subcommandSyntaxError(args);
    group.lastId = args.isChar(4, dollar) ? stream.lastId : requireIdOrEdge(args, 4);
    group.entriesRead = options.entriesRead;
    return ok;
  },
  'xgroup|destroy'(engine, session, args) {
    const stream = requireStream(engine, session, args);
    if (!stream.groups.delete(args.text(3))) return 0;
    engine.store.markReady(session, args.text(2));
    return 1;
  },
  'xgroup|createconsumer'(engine, session, args) {
    const { group } = requireGroup(engine, session, args);
    const name = args.text(4);
    if (group.consumers.has(name)) return 0;
    group.createConsumer(name, engine.store.nowMs);
    return 1;
  },
  'xgroup|delconsumer'(engine, session, args) {
    const { group } = requireGroup(engine, session, args);
    const consumer = group.consumers.get(args.text(4));
    return consumer ? group.deleteConsumer(consumer) : 0;
  },
  'xgroup|help': () =>
    helpReply('XGROUP', [
      'CREATE <key> <groupname> <id|$> [option]',
      '    Create a new consumer group. Options are:',
      '    * MKSTREAM',
      '      Create the empty stream if it does not exist.',
      '    * ENTRIESREAD entries_read',
      "      Set the group's entries_read counter (internal use).",
      'CREATECONSUMER <key> <groupname> <consumer>',
      '    Create a new consumer in the specified group.',
      'DELCONSUMER <key> <groupname> <consumer>',
      '    Remove the specified consumer.',
      'DESTROY <key> <groupname>',
      '    Remove the specified group.',
      'SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]',
      '    Set the current group ID and entries_read counter.',
    ]),
  xack(engine, session, args) {
    const group = engine.store.stream(session, args.text(1))?.groups.get(args.text(2));
    if (!group) return 0;
    const ids: StreamId[] = [];
    for (let i = 3; i < args.count; i++) ids.push(requireId(args, i));
    let acknowledged = 0;
    for (const id of ids) if (group.release(id)) acknowledged += 1;
    return acknowledged;
  },
};

function create(engine: Engine, session: Session, args: Args): Reply {
  const options = parseOptions(args, true);
  const key = args.text(2);
  const existing = options.makesStream ? engine.store.stream(session, key) : requireStream(engine, session, args);
  if (args.count > 8) throw subcommandSyntaxError(args);
  const start = args.isChar(4, dollar) ? (existing?.lastId ?? minStreamId) : requireId(args, 4);
  let stream = existing;
  if (!stream) {
    stream = engine.store.addStream(session, key);
    engine.store.touch(session, key);
  }
  const name = args.text(3);
  if (stream.groups.has(name)) throw replyError('-BUSYGROUP Consumer Group name already exists');
  stream.groups.set(name, new Group(name, start, options.entriesRead));
  return ok;
}

function parseOptions(
  args: Args,
  isCreate: boolean,
): { readonly makesStream: boolean; readonly entriesRead: Int | null } {
  let makesStream = false;
  let entriesRead: Int | null = null;
  for (let i = 5; i < args.count; i++) {
    if (isCreate && args.is(i, 'mkstream')) {
      makesStream = true;
    } else if (i + 1 < args.count && args.is(i, 'entriesread')) {
      i += 1;
      const value = requireInt(args, i);
      if (value < -1) throw replyError('value for ENTRIESREAD must be positive or -1');
      entriesRead = value === -1 ? null : value;
    } else {
      throw subcommandSyntaxError(args);
    }
  }
  return { makesStream, entriesRead };
}

function requireStream(engine: Engine, session: Session, args: Args): Stream {
  const stream = engine.store.stream(session, args.text(2));
  if (stream) return stream;
  throw replyError(
    'The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to ' +
      'create an empty stream automatically.',
  );
}

function requireGroup(
  engine: Engine,
  session: Session,
  args: Args,
): { readonly stream: Stream; readonly group: Group } {
  const stream = requireStream(engine, session, args);
  const group = stream.groups.get(args.text(3));
  if (group) return { stream, group };
  throw replyError(`-NOGROUP No such consumer group '${args.visibleText(3)}' for key name '${args.visibleText(2)}'`);
}

/** What Redis answers when a subcommand's arguments do not fit. */
export function subcommandSyntaxError(args: Args): ReplyError {
  const container = args.visibleText(0).toUpperCase();
  return replyError(
    `unknown subcommand or wrong number of arguments for '${args.visibleText(1).slice(0, 128)}'. Try ${container} HELP.`,
  );
}
