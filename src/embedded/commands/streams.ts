/** Commands that write entries or read them without a group. */
import type { Args } from '../args';
import type { Int } from '../data/int64';
import type { Stream, TrimOptions } from '../data/stream';
import type { ParsedId, StreamId } from '../data/streamId';
import { compareIds, formatId, increment, isZeroId, maxHalf, minStreamId, nextId } from '../data/streamId';
import { readEntries } from '../delivery';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { noSuchKey, nullArray, ok, replyError, syntaxError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { requireCount, requireId, requireIntervalEnd, requireIntervalStart, requireInt, requireNewId } from './parse';

const star = 0x2a;
/** What an approximate trim removes at most unless LIMIT says otherwise: a hundred nodes of a hundred entries. */
const defaultTrimLimit = 10_000;

export const streamCommands: CommandHandlers = {
  xadd: add,
  xtrim(engine, session, args) {
    const { trim } = parseAddOrTrim(args, false);
    const key = args.text(1);
    const stream = engine.store.stream(session, key);
    if (!stream || !trim) return 0;
    const removed = stream.trim(trim);
    if (removed > 0) engine.store.touch(session, key);
    return removed;
  },
  xdel(engine, session, args) {
    const key = args.text(1);
    const stream = engine.store.stream(session, key);
    if (!stream) return 0;
    const ids: StreamId[] = [];
    for (let i = 2; i < args.count; i++) ids.push(requireId(args, i));
    let deleted = 0;
    let isFirst = false;
    for (const id of ids) {
      if (!stream.delete(id)) continue;
      deleted += 1;
      if (compareIds(id, stream.firstId) === 0) isFirst = true;
      if (compareIds(id, stream.maxDeletedId) > 0) stream.maxDeletedId = id;
    }
    if (isFirst || (deleted > 0 && stream.length === 0)) stream.settleFirstId();
    if (deleted > 0) engine.store.touch(session, key);
    return deleted;
  },
  xlen: (engine, session, args) => engine.store.stream(session, args.text(1))?.length ?? 0,
  xrange: (engine, session, args) => range(engine, session, args, false),
  xrevrange: (engine, session, args) => range(engine, session, args, true),
  xsetid: setId,
};

function add(engine: Engine, session: Session, args: Args): Reply {
  const parsed = parseAddOrTrim(args, true);
  const firstField = parsed.position + 1;
  const fieldArguments = args.count - firstField;
  if (fieldArguments < 2 || fieldArguments % 2 === 1) throw replyError("wrong number of arguments for 'xadd' command");
  if (parsed.id?.hasSeq === true && isZeroId(parsed.id))
    throw replyError('The ID specified in XADD must be greater than 0-0');
  const key = args.text(1);
  let stream = engine.store.stream(session, key);
  if (!stream) {
    if (!parsed.makesStream) return null;
    stream = engine.store.addStream(session, key);
  }
  const { lastId } = stream;
  if (lastId.ms === maxHalf && lastId.seq === maxHalf)
    throw replyError('The stream has exhausted the last possible ID, unable to add more items');
  const id = newId(stream, parsed.id, engine.store.nowMs);
  if (!id || compareIds(id, lastId) <= 0)
    throw replyError('The ID specified in XADD is equal or smaller than the target stream top item');
  stream.append(id, args, firstField);
  engine.store.touch(session, key);
  if (parsed.trim) stream.trim(parsed.trim);
  engine.store.markReady(session, key);
  return formatId(id);
}

function newId(stream: Stream, given: ParsedId | undefined, nowMs: number): StreamId | undefined {
  const { lastId } = stream;
  if (!given) return nowMs > lastId.ms ? { ms: nowMs, seq: 0 } : nextId(lastId);
  if (given.hasSeq || lastId.ms !== given.ms) return { ms: given.ms, seq: given.seq };
  return lastId.seq === maxHalf ? undefined : { ms: lastId.ms, seq: increment(lastId.seq) };
}

interface AddOrTrim {
  readonly id: ParsedId | undefined;
  readonly makesStream: boolean;
  readonly trim: TrimOptions | undefined;
  /** Where the id is. */
  readonly position: number;
}

function parseAddOrTrim(args: Args, isAdd: boolean): AddOrTrim {
  const trim: TrimArguments = { strategy: undefined, approximate: false, limit: undefined };
  let makesStream = true;
  let id: ParsedId | undefined;
  let position = 2;
  for (; position < args.count; position++) {
    if (isAdd && args.isChar(position, star)) break;
    const taken = takeTrimOption(args, position, trim);
    if (taken > 0) {
      position += taken - 1;
    } else if (isAdd && args.is(position, 'nomkstream')) {
      makesStream = false;
    } else if (isAdd) {
      id = requireNewId(args, position);
      break;
    } else {
      throw syntaxError();
    }
  }
  return { id, makesStream, trim: completeTrim(trim, isAdd), position };
}

interface TrimArguments {
  strategy: TrimOptions['strategy'] | undefined;
  approximate: boolean;
  limit: Int | undefined;
}

/** Reads MAXLEN, MINID or LIMIT; answers how many arguments it took, 0 when there is none of them. */
function takeTrimOption(args: Args, position: number, trim: TrimArguments): number {
  const more = args.count - 1 - position;
  if (more === 0) return 0;
  const isMaxLength = args.is(position, 'maxlen');
  if (isMaxLength || args.is(position, 'minid')) {
    if (trim.strategy) throw replyError('syntax error, MAXLEN and MINID options at the same time are not compatible');
    trim.approximate = more >= 2 && args.is(position + 1, '~');
    const hasMark = trim.approximate || (more >= 2 && args.is(position + 1, '='));
    const at = position + (hasMark ? 2 : 1);
    trim.strategy = isMaxLength ? { maxLength: requireInt(args, at) } : { minId: requireId(args, at) };
    if ('maxLength' in trim.strategy && trim.strategy.maxLength < 0)
      throw replyError('The MAXLEN argument must be >= 0.');
    return at + 1 - position;
  }
  if (!args.is(position, 'limit')) return 0;
  trim.limit = requireInt(args, position + 1);
  if (trim.limit < 0) throw replyError('The LIMIT argument must be >= 0.');
  return 2;
}

function completeTrim({ strategy, approximate, limit }: TrimArguments, isAdd: boolean): TrimOptions | undefined {
  if (limit !== undefined && limit !== 0 && !strategy)
    throw replyError('syntax error, LIMIT cannot be used without specifying a trimming strategy');
  if (!isAdd && !strategy) throw replyError('syntax error, XTRIM must be called with a trimming strategy');
  if (limit !== undefined && !approximate)
    throw replyError('syntax error, LIMIT cannot be used without the special ~ option');
  return strategy && { strategy, approximate, limit: limit ?? (approximate ? defaultTrimLimit : 0) };
}

function range(engine: Engine, session: Session, args: Args, reverse: boolean): Reply {
  const from = requireIntervalStart(args, reverse ? 3 : 2);
  const to = requireIntervalEnd(args, reverse ? 2 : 3);
  let count: number | undefined;
  for (let i = 4; i < args.count; i += 2) {
    if (!args.is(i, 'count') || i + 1 >= args.count) throw syntaxError();
    count = requireCount(args, i + 1);
  }
  const stream = engine.store.stream(session, args.text(1));
  if (!stream) return [];
  return count === 0 ? nullArray : readEntries(stream, from, to, count ?? 0, reverse);
}

function setId(engine: Engine, session: Session, args: Args): Reply {
  const id = requireId(args, 2);
  let entriesAdded: Int | undefined;
  let maxDeletedId = minStreamId;
  for (let i = 3; i < args.count; i += 2) {
    const hasMore = i < args.count - 1;
    if (hasMore && args.is(i, 'entriesadded')) {
      entriesAdded = requireInt(args, i + 1);
      if (entriesAdded < 0) throw replyError('entries_added must be positive');
    } else if (hasMore && args.is(i, 'maxdeletedid')) {
      maxDeletedId = requireId(args, i + 1);
      if (compareIds(id, maxDeletedId) < 0)
        throw replyError('The ID specified in XSETID is smaller than the provided max_deleted_entry_id');
    } else {
      throw syntaxError();
    }
  }
  const stream = engine.store.stream(session, args.text(1));
  if (!stream) throw noSuchKey();
  const last = stream.last();
  if (last) {
    if (compareIds(id, last.id) < 0)
      throw replyError('The ID specified in XSETID is smaller than the target stream top item');
    if (entriesAdded !== undefined && stream.length > entriesAdded)
      throw replyError('The entries_added specified in XSETID is smaller than the target stream length');
  }
  stream.lastId = id;
  if (entriesAdded !== undefined) stream.entriesAdded = entriesAdded;
  if (!isZeroId(maxDeletedId)) stream.maxDeletedId = maxDeletedId;
  return ok;
}
