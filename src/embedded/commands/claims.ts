/** XCLAIM and XAUTOCLAIM. */
import type { Args } from '../args';
import type { Consumer, Group, Pending } from '../data/group';
import type { Int } from '../data/int64';
import { addInt64 } from '../data/int64';
import type { StreamId } from '../data/streamId';
import { compareIds, formatId, minStreamId } from '../data/streamId';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { EntryReply, replyError, syntaxError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { optionalId, requireId, requireIntervalStart, requireInt } from './parse';
import { requireReadGroup } from './pending';

const maxAutoClaimCount = 576460752303423487n;
/** How many pending entries XAUTOCLAIM looks at for each that it may claim. */
const attemptsFactor = 10;

export const claimCommands: CommandHandlers = { xclaim: claim, xautoclaim: autoClaim };

interface ClaimOptions {
  deliveredMs: number;
  retryCount: Int;
  force: boolean;
  justId: boolean;
  lastId: StreamId;
}

function claim(engine: Engine, session: Session, args: Args): Reply {
  const group = requireReadGroup(engine, session, args);
  const minIdleMs = requireInt(args, 4, 'Invalid min-idle-time argument for XCLAIM');
  const ids: StreamId[] = [];
  let position = 5;
  for (; position < args.count; position++) {
    const id = optionalId(args, position);
    if (!id) break;
    ids.push(id);
  }
  const { nowMs } = engine.store;
  const options = parseClaimOptions(args, position, nowMs);
  if (compareIds(options.lastId, group.lastId) > 0) group.lastId = options.lastId;
  const stream = engine.store.stream(session, args.text(1));
  const claimed: Reply[] = [];
  const target = lazyConsumer(group, args.text(3), nowMs);
  for (const id of ids) {
    const entry = stream?.get(id);
    if (!entry) {
      group.release(id);
      continue;
    }
    let pending = group.pending.get(id);
    if (pending) {
      if (minIdleMs > 0 && nowMs - pending.deliveredMs < minIdleMs) continue;
      group.moveTo(pending, target());
    } else if (options.force) {
      pending = { ms: id.ms, seq: id.seq, consumer: target(), deliveredMs: nowMs, deliveryCount: 1 };
      group.addPending(pending);
    } else {
      continue;
    }
    pending.deliveredMs = options.deliveredMs;
    if (options.retryCount >= 0) pending.deliveryCount = options.retryCount;
    else if (!options.justId) pending.deliveryCount = addInt64(pending.deliveryCount, 1);
    claimed.push(options.justId ? formatId(id) : new EntryReply(entry.id, entry.fields));
  }
  return claimed;
}

function parseClaimOptions(args: Args, from: number, nowMs: number): ClaimOptions {
  const options: ClaimOptions = {
    deliveredMs: nowMs,
    retryCount: -1,
    force: false,
    justId: false,
    lastId: minStreamId,
  };
  for (let i = from; i < args.count; i++) {
    const hasMore = i < args.count - 1;
    if (args.is(i, 'force')) options.force = true;
    else if (args.is(i, 'justid')) options.justId = true;
    else if (hasMore && args.is(i, 'idle')) {
      i += 1;
      options.deliveredMs = nowMs - Number(requireInt(args, i, 'Invalid IDLE option argument for XCLAIM'));
    } else if (hasMore && args.is(i, 'time')) {
      i += 1;
      options.deliveredMs = Number(requireInt(args, i, 'Invalid TIME option argument for XCLAIM'));
    } else if (hasMore && args.is(i, 'retrycount')) {
      i += 1;
      options.retryCount = requireInt(args, i, 'Invalid RETRYCOUNT option argument for XCLAIM');
    } else if (hasMore && args.is(i, 'lastid')) {
      i += 1;
      options.lastId = requireId(args, i);
    } else {
      throw replyError(`Unrecognized XCLAIM option '${args.visibleText(i)}'`);
    }
  }
  if (options.deliveredMs < 0 || options.deliveredMs > nowMs) options.deliveredMs = nowMs;
  return options;
}

function autoClaim(engine: Engine, session: Session, args: Args): Reply {
  const minIdleMs = requireInt(args, 4, 'Invalid min-idle-time argument for XAUTOCLAIM');
  const start = requireIntervalStart(args, 5);
  let count = 100;
  let justId = false;
  for (let i = 6; i < args.count; i++) {
    if (i < args.count - 1 && args.is(i, 'count')) {
      i += 1;
      count = requireAutoClaimCount(args, i);
    } else if (args.is(i, 'justid')) {
      justId = true;
    } else {
      throw syntaxError();
    }
  }
  const group = requireReadGroup(engine, session, args);
  const stream = engine.store.stream(session, args.text(1));
  const { nowMs } = engine.store;
  const target = lazyConsumer(group, args.text(3), nowMs);
  const claimed: Reply[] = [];
  const deletedIds: StreamId[] = [];
  let attempts = count * attemptsFactor;
  let cursor: StreamId = minStreamId;
  const moves: Pending[] = [];
  for (const pending of group.pending.from(start)) {
    if (attempts === 0 || count === 0) {
      cursor = { ms: pending.ms, seq: pending.seq };
      break;
    }
    attempts -= 1;
    const entry = stream?.get(pending);
    if (!entry) {
      deletedIds.push(pending);
      count -= 1;
      continue;
    }
    if (minIdleMs > 0 && nowMs - pending.deliveredMs < minIdleMs) continue;
    moves.push(pending);
    pending.deliveredMs = nowMs;
    if (!justId) pending.deliveryCount = addInt64(pending.deliveryCount, 1);
    claimed.push(justId ? formatId(entry.id) : new EntryReply(entry.id, entry.fields));
    count -= 1;
  }
  for (const pending of moves) group.moveTo(pending, target());
  for (const id of deletedIds) group.release(id);
  return [formatId(cursor), claimed, deletedIds.map(formatId)];
}

function requireAutoClaimCount(args: Args, index: number): number {
  const count = requireInt(args, index, 'COUNT must be > 0');
  if (count < 1 || count > maxAutoClaimCount) throw replyError('COUNT must be > 0');
  return Number(count);
}

/** The claiming consumer, made or seen only when something is claimed. */
function lazyConsumer(group: Group, name: string, nowMs: number): () => Consumer {
  let consumer: Consumer | undefined;
  return () => (consumer ??= group.seenConsumer(name, nowMs));
}
