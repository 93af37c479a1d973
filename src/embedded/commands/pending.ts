/** XPENDING. */
import type { Args } from '../args';
import type { Group } from '../data/group';
import type { Int } from '../data/int64';
import { compareIds, formatId } from '../data/streamId';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { nullArray, replyError, syntaxError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { requireCount, requireIntervalEnd, requireIntervalStart, requireInt } from './parse';

export const pendingCommands: CommandHandlers = {
  xpending(engine, session, args) {
    if (args.count === 3) return summary(requireReadGroup(engine, session, args));
    if (args.count < 6 || args.count > 9) throw syntaxError();
    return extended(engine, session, args);
  },
};

/** The group that XPENDING, XCLAIM and XAUTOCLAIM work on. */
export function requireReadGroup(engine: Engine, session: Session, args: Args): Group {
  const group = engine.store.stream(session, args.text(1))?.groups.get(args.text(2));
  if (group) return group;
  throw replyError(`-NOGROUP No such key '${args.visibleText(1)}' or consumer group '${args.visibleText(2)}'`);
}

function summary(group: Group): Reply {
  const first = group.pending.first();
  const last = group.pending.last();
  if (!first || !last) return [0, null, null, nullArray];
  const consumers = group
    .sortedConsumers()
    .filter(({ pending }) => pending.size > 0)
    .map(({ name, pending }) => [name, String(pending.size)]);
  return [group.pending.size, formatId(first), formatId(last), consumers];
}

function extended(engine: Engine, session: Session, args: Args): Reply {
  let at = 3;
  let minIdleMs: Int = 0;
  if (args.is(3, 'idle')) {
    minIdleMs = requireInt(args, 4);
    if (args.count < 8) throw syntaxError();
    at += 2;
  }
  const count = requireCount(args, at + 2);
  const from = requireIntervalStart(args, at);
  const to = requireIntervalEnd(args, at + 1);
  const group = requireReadGroup(engine, session, args);
  const consumer = at + 3 < args.count ? group.consumers.get(args.text(at + 3)) : undefined;
  if (at + 3 < args.count && !consumer) return [];
  const rows: Reply[] = [];
  if (count === 0) return rows;
  const { nowMs } = engine.store;
  for (const pending of (consumer ?? group).pending.from(from)) {
    if (compareIds(pending, to) > 0) break;
    const idleMs = nowMs - pending.deliveredMs;
    if (minIdleMs !== 0 && idleMs < minIdleMs) continue;
    rows.push([formatId(pending), pending.consumer.name, Math.max(0, idleMs), pending.deliveryCount]);
    if (rows.length >= count) break;
  }
  return rows;
}
