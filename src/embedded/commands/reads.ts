/** XREAD and XREADGROUP. */
import type { Args } from '../args';
import { streamsReply } from '../blocking';
import type { Group } from '../data/group';
import type { StreamId } from '../data/streamId';
import { compareIds, maxHalf, maxStreamId, minStreamId, nextId } from '../data/streamId';
import { deliverHistory, deliverNew, readEntries } from '../delivery';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { nullArray, replyError, syntaxError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { replyLater } from './command';
import { requireCount, requireId, requireInt } from './parse';

const dollar = 0x24;
const greater = 0x3e;
/** What a blocked read without COUNT takes at most. */
const blockedCount = 1000;

export const readCommands: CommandHandlers = {
  xread: (engine, session, args) => read(engine, session, args, false),
  xreadgroup: (engine, session, args) => read(engine, session, args, true),
};

interface ReadArguments {
  readonly blockMs: number | undefined;
  readonly count: number;
  readonly group: string | undefined;
  readonly consumer: string;
  readonly noAck: boolean;
  readonly firstKey: number;
  readonly keyCount: number;
}

interface ReadPlace {
  readonly key: string;
  /** What was asked for: the largest id stands for `>`. */
  readonly after: StreamId;
  readonly group: Group | undefined;
}

function read(engine: Engine, session: Session, args: Args, isGroupRead: boolean): Reply | typeof replyLater {
  const parsed = parse(session, args, isGroupRead);
  const places = readPlaces(engine, session, args, parsed);
  const served: Reply[] = [];
  for (const place of places) {
    const entries = serve(engine, session, place, parsed);
    if (entries) served.push(place.key, entries);
  }
  if (served.length > 0) return streamsReply(session, served);
  if (parsed.blockMs === undefined || session.denyBlocking) return nullArray;
  const { group, consumer, noAck } = parsed;
  engine.blocking.block(
    session,
    {
      keys: places.map(({ key }) => key),
      after: places.map(({ after }) => after),
      group,
      consumer,
      noAck,
      count: parsed.count === 0 ? blockedCount : parsed.count,
    },
    parsed.blockMs,
  );
  return replyLater;
}

function parse(session: Session, args: Args, isGroupRead: boolean): ReadArguments {
  let blockMs: number | undefined;
  let count = 0;
  let group: string | undefined;
  let consumer = '';
  let noAck = false;
  const onlyForGroups = (option: string): void => {
    if (isGroupRead) return;
    throw replyError(`The ${option} option is only supported by XREADGROUP. You called XREAD instead.`);
  };
  for (let i = 1; i < args.count; i++) {
    const more = args.count - i - 1;
    if (more > 0 && args.is(i, 'block')) {
      if (session.isScript)
        throw replyError(`${args.visibleText(0)} command is not allowed with BLOCK option from scripts`);
      i += 1;
      const timeout = requireInt(args, i, 'timeout is not an integer or out of range');
      if (timeout < 0) throw replyError('timeout is negative');
      blockMs = Number(timeout);
    } else if (more > 0 && args.is(i, 'count')) {
      i += 1;
      count = requireCount(args, i);
    } else if (more > 0 && args.is(i, 'streams')) {
      if (more % 2 !== 0)
        throw replyError("Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.");
      if (isGroupRead && group === undefined) throw replyError('Missing GROUP option for XREADGROUP');
      return { blockMs, count, group, consumer, noAck, firstKey: i + 1, keyCount: more / 2 };
    } else if (more >= 2 && args.is(i, 'group')) {
      onlyForGroups('GROUP');
      group = args.text(i + 1);
      consumer = args.text(i + 2);
      i += 2;
    } else if (args.is(i, 'noack')) {
      onlyForGroups('NOACK');
      noAck = true;
    } else {
      throw syntaxError();
    }
  }
  throw syntaxError();
}

function readPlaces(engine: Engine, session: Session, args: Args, parsed: ReadArguments): ReadPlace[] {
  const places: ReadPlace[] = [];
  for (let i = 0; i < parsed.keyCount; i++) {
    const keyIndex = parsed.firstKey + i;
    const idIndex = keyIndex + parsed.keyCount;
    const key = args.text(keyIndex);
    const stream = engine.store.stream(session, key);
    let group: Group | undefined;
    if (parsed.group !== undefined) {
      group = stream?.groups.get(parsed.group);
      if (!group) {
        const name = cString(parsed.group);
        throw replyError(
          `-NOGROUP No such key '${args.visibleText(keyIndex)}' or consumer group '${name}' in XREADGROUP with GROUP option`,
        );
      }
    }
    places.push({ key, after: readAfter(args, idIndex, group, stream?.lastId), group });
  }
  return places;
}

function readAfter(args: Args, index: number, group: Group | undefined, lastId: StreamId | undefined): StreamId {
  if (args.isChar(index, dollar)) {
    if (!group) return lastId ?? minStreamId;
    throw replyError(
      'The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by ' +
        'specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.',
    );
  }
  if (args.isChar(index, greater)) {
    if (group) return maxStreamId;
    throw replyError(
      'The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.',
    );
  }
  return requireId(args, index);
}

/** The entries of one place, undefined when there is nothing to serve at once. */
function serve(engine: Engine, session: Session, place: ReadPlace, parsed: ReadArguments): Reply[] | undefined {
  const { group, after } = place;
  const stream = engine.store.stream(session, place.key);
  if (!stream) return undefined;
  const { nowMs } = engine.store;
  const isHistory = group !== undefined && !(after.ms === maxHalf && after.seq === maxHalf);
  const position = group && !isHistory ? group.lastId : after;
  if (!isHistory) {
    const last = stream.last();
    if (!last || compareIds(last.id, position) <= 0) return undefined;
  }
  const from = nextId(position) ?? minStreamId;
  if (!group) return readEntries(stream, from, maxStreamId, parsed.count);
  const consumer = group.seenConsumer(parsed.consumer, nowMs);
  if (isHistory) return deliverHistory(stream, consumer, from, parsed.count, nowMs);
  return deliverNew(stream, group, consumer, from, parsed.count, parsed.noAck, nowMs);
}

function cString(text: string): string {
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}
