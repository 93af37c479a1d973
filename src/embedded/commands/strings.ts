/** The string commands that idempotency keys, latches and markers need. */
import type { Args } from '../args';
import type { Int } from '../data/int64';
import { addInt64, parseInt64 } from '../data/int64';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { notAnInteger, ok, replyError, syntaxError, wrongType } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { invalidExpireTime } from './expiry';
import { requireInt } from './parse';

const maxInt64 = 0x7fff_ffff_ffff_ffffn;

export const stringCommands: CommandHandlers = {
  get: (engine, session, args) => read(engine, session, args.text(1)),
  mget(engine, session, args) {
    const values: Reply[] = [];
    for (let i = 1; i < args.count; i++) {
      const value = engine.store.lookup(session, args.text(i))?.value;
      values.push(value?.type === 'string' ? value.bytes : null);
    }
    return values;
  },
  strlen: (engine, session, args) => read(engine, session, args.text(1))?.length ?? 0,
  set,
  setnx(engine, session, args) {
    if (engine.store.lookup(session, args.text(1))) return 0;
    write(engine, session, args.text(1), args.bytes(2), undefined);
    return 1;
  },
  setex: (engine, session, args) => setWithExpiry(engine, session, args, 1000),
  psetex: (engine, session, args) => setWithExpiry(engine, session, args, 1),
  getdel(engine, session, args) {
    const value = read(engine, session, args.text(1));
    if (value) engine.store.delete(session, args.text(1));
    return value;
  },
  incr: (engine, session, args) => increase(engine, session, args, 1),
  incrby: (engine, session, args) => increase(engine, session, args, requireInt(args, 2)),
};

/** The bytes at the key, null without a key. */
function read(engine: Engine, session: Session, key: string): Buffer | null {
  const value = engine.store.lookup(session, key)?.value;
  if (value === undefined) return null;
  if (value.type !== 'string') throw wrongType();
  return value.bytes;
}

/** Sets a key; `expiresMs` undefined takes its expiry away, `keep` keeps it. */
function write(
  engine: Engine,
  session: Session,
  key: string,
  bytes: Buffer,
  expiresMs: number | undefined | 'keep',
): void {
  const entry = engine.store.set(session, key, { type: 'string', bytes });
  if (expiresMs !== 'keep') engine.store.keyspace(session).setExpiry(entry, expiresMs);
  engine.store.touch(session, key);
}

type Condition = 'nx' | 'xx' | undefined;

function set(engine: Engine, session: Session, args: Args): Reply {
  let condition: Condition;
  let answersOld = false;
  let keepsTtl = false;
  let expiry: { readonly option: string; readonly index: number; readonly kind: ExpiryKind } | undefined;
  for (let i = 3; i < args.count; i++) {
    const option = args.text(i).toLowerCase();
    const kind = expiryKinds.get(option);
    if ((option === 'nx' && condition !== 'xx') || (option === 'xx' && condition !== 'nx')) condition = option;
    else if (option === 'get') answersOld = true;
    else if (option === 'keepttl' && !expiry) keepsTtl = true;
    else if (kind && !keepsTtl && i + 1 < args.count && (!expiry || expiry.option === option)) {
      expiry = { option, index: i + 1, kind };
      i += 1;
    } else throw syntaxError();
  }
  const expiresMs = expiry && requireExpiry(engine, args, expiry.index, expiry.kind);
  const key = args.text(1);
  const old = answersOld ? read(engine, session, key) : null;
  const exists = engine.store.lookup(session, key) !== undefined;
  if ((condition === 'nx' && exists) || (condition === 'xx' && !exists)) return old;
  write(engine, session, key, args.bytes(2), keepsTtl ? 'keep' : expiresMs);
  return answersOld ? old : ok;
}

interface ExpiryKind {
  readonly unitMs: number;
  readonly isAbsolute: boolean;
}

const expiryKinds: ReadonlyMap<string, ExpiryKind> = new Map([
  ['ex', { unitMs: 1000, isAbsolute: false }],
  ['px', { unitMs: 1, isAbsolute: false }],
  ['exat', { unitMs: 1000, isAbsolute: true }],
  ['pxat', { unitMs: 1, isAbsolute: true }],
]);

function setWithExpiry(engine: Engine, session: Session, args: Args, unitMs: number): Reply {
  write(engine, session, args.text(1), args.bytes(3), requireExpiry(engine, args, 2, { unitMs, isAbsolute: false }));
  return ok;
}

function requireExpiry(engine: Engine, args: Args, index: number, { unitMs, isAbsolute }: ExpiryKind): number {
  const amount = BigInt(requireInt(args, index));
  const at = amount * BigInt(unitMs) + (isAbsolute ? 0n : BigInt(engine.store.nowMs));
  if (amount <= 0n || at > maxInt64) throw invalidExpireTime(args);
  return Number(at);
}

function increase(engine: Engine, session: Session, args: Args, by: Int): Reply {
  const key = args.text(1);
  const bytes = read(engine, session, key);
  const value = bytes ? parseInt64(bytes.toString('latin1')) : 0;
  if (value === undefined) throw notAnInteger();
  const sum = BigInt(value) + BigInt(by);
  if (sum > maxInt64 || sum < -maxInt64 - 1n) throw replyError('increment or decrement would overflow');
  const result = addInt64(value, by);
  write(engine, session, key, Buffer.from(String(result)), 'keep');
  return result;
}
