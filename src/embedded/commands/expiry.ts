/** Expiry: EXPIRE and its relatives, TTL and its relatives, PERSIST. */
import type { Args } from '../args';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { replyError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { requireInt } from './parse';

const maxInt64 = 0x7fff_ffff_ffff_ffffn;

export const expiryCommands: CommandHandlers = {
  expire: (engine, session, args) => expire(engine, session, args, 1000, engine.store.nowMs),
  pexpire: (engine, session, args) => expire(engine, session, args, 1, engine.store.nowMs),
  expireat: (engine, session, args) => expire(engine, session, args, 1000, 0),
  pexpireat: (engine, session, args) => expire(engine, session, args, 1, 0),
  persist(engine, session, args) {
    const entry = engine.store.lookup(session, args.text(1));
    if (entry?.expiresMs === undefined) return 0;
    engine.store.keyspace(session).setExpiry(entry, undefined);
    engine.store.touch(session, args.text(1));
    return 1;
  },
  ttl: (engine, session, args) => remaining(engine, session, args, (ms) => Math.floor((ms + 500) / 1000)),
  pttl: (engine, session, args) => remaining(engine, session, args, (ms) => ms),
  expiretime: (engine, session, args) => when(engine, session, args, (ms) => Math.floor((ms + 500) / 1000)),
  pexpiretime: (engine, session, args) => when(engine, session, args, (ms) => ms),
};

/** An expiry time that the running command cannot accept. */
export function invalidExpireTime(args: Args): Error {
  return replyError(`invalid expire time in '${args.text(0).toLowerCase()}' command`);
}

function expire(engine: Engine, session: Session, args: Args, unitMs: number, baseMs: number): Reply {
  const conditions = parseConditions(args);
  const amount = BigInt(requireInt(args, 2)) * BigInt(unitMs);
  const at = amount + BigInt(baseMs);
  if (amount > maxInt64 || amount < -maxInt64 - 1n || at > maxInt64) throw invalidExpireTime(args);
  const atMs = Number(at);
  const { store } = engine;
  const key = args.text(1);
  const entry = store.lookup(session, key);
  if (!entry) return 0;
  const current = entry.expiresMs;
  if (conditions.has('nx') && current !== undefined) return 0;
  if (conditions.has('xx') && current === undefined) return 0;
  if (conditions.has('gt') && (current === undefined || atMs <= current)) return 0;
  if (conditions.has('lt') && current !== undefined && atMs >= current) return 0;
  if (atMs <= store.nowMs) store.remove(session.database, entry);
  else store.keyspace(session).setExpiry(entry, atMs);
  store.touch(session, key);
  return 1;
}

function parseConditions(args: Args): ReadonlySet<string> {
  const found = new Set<string>();
  for (let i = 3; i < args.count; i++) {
    const option = args.visibleText(i);
    if (!['nx', 'xx', 'gt', 'lt'].includes(option.toLowerCase())) throw replyError(`Unsupported option ${option}`);
    found.add(option.toLowerCase());
  }
  if (found.has('nx') && found.size > 1)
    throw replyError('NX and XX, GT or LT options at the same time are not compatible');
  if (found.has('gt') && found.has('lt')) throw replyError('GT and LT options at the same time are not compatible');
  return found;
}

function remaining(engine: Engine, session: Session, args: Args, unit: (ms: number) => number): Reply {
  return when(engine, session, args, (atMs) => unit(Math.max(0, atMs - engine.store.nowMs)));
}

function when(engine: Engine, session: Session, args: Args, answer: (atMs: number) => number): Reply {
  const entry = engine.store.lookup(session, args.text(1));
  if (!entry) return -2;
  return entry.expiresMs === undefined ? -1 : answer(entry.expiresMs);
}
