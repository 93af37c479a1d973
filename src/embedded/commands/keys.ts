/** Commands on keys of any type. */
import type { Args } from '../args';
import type { KeyEntry } from '../data/keyspace';
import { parseUint64 } from '../data/int64';
import type { Engine } from '../engine';
import { globMatches } from '../glob';
import type { Reply } from '../reply';
import { noSuchKey, ok, replyError, Status, syntaxError } from '../reply';
import type { Session } from '../session';
import { databaseCount } from '../store';
import type { CommandHandlers } from './command';
import { requireInt } from './parse';

/** What a key costs besides its value, in the estimate of MEMORY USAGE. */
const keyOverheadBytes = 96;

export const keyCommands: CommandHandlers = {
  del: deleteKeys,
  unlink: deleteKeys,
  exists: countKeys,
  touch: countKeys,
  type: (engine, session, args) => new Status(engine.store.lookup(session, args.text(1))?.value.type ?? 'none'),
  rename(engine, session, args) {
    rename(engine, session, args, true);
    return ok;
  },
  renamenx: (engine, session, args) => (rename(engine, session, args, false) ? 1 : 0),
  keys(engine, session, args) {
    const pattern = args.text(1);
    return liveEntries(engine, session)
      .map(({ key }) => key)
      .filter((key) => pattern === '*' || globMatches(pattern, key));
  },
  scan,
  dbsize: (engine, session) => engine.store.keyspace(session).size,
  flushdb(engine, session, args) {
    checkFlushMode(args);
    engine.store.flush(session.database);
    return ok;
  },
  flushall(engine, _session, args) {
    checkFlushMode(args);
    for (let i = 0; i < databaseCount; i++) engine.store.flush(i);
    return ok;
  },
  'memory|usage'(engine, session, args) {
    if (args.count !== 3 && !(args.count === 5 && args.is(3, 'samples'))) throw syntaxError();
    if (args.count === 5 && requireInt(args, 4) < 0) throw syntaxError();
    const entry = engine.store.lookup(session, args.text(2));
    return entry ? keyOverheadBytes + entry.key.length + valueBytes(entry) : null;
  },
};

function deleteKeys(engine: Engine, session: Session, args: Args): Reply {
  let deleted = 0;
  for (let i = 1; i < args.count; i++) if (engine.store.delete(session, args.text(i))) deleted += 1;
  return deleted;
}

function countKeys(engine: Engine, session: Session, args: Args): Reply {
  let found = 0;
  for (let i = 1; i < args.count; i++) if (engine.store.lookup(session, args.text(i))) found += 1;
  return found;
}

/** Renames a key; false when the new name is taken and may not be replaced. */
function rename(engine: Engine, session: Session, args: Args, replaces: boolean): boolean {
  const { store } = engine;
  const from = args.text(1);
  const to = args.text(2);
  const entry = store.lookup(session, from);
  if (!entry) throw noSuchKey();
  if (from === to) return replaces;
  const target = store.lookup(session, to);
  if (target && !replaces) return false;
  if (target) store.remove(session.database, target);
  store.remove(session.database, entry);
  const renamed = store.add(session.database, to, entry.value);
  if (entry.expiresMs !== undefined) store.keyspace(session).setExpiry(renamed, entry.expiresMs);
  store.touch(session, from);
  store.touch(session, to);
  return true;
}

function scan(engine: Engine, session: Session, args: Args): Reply {
  const cursor = /^[0-9]+$/.test(args.visibleText(1)) ? parseUint64(args.visibleText(1)) : undefined;
  if (cursor === undefined) throw replyError('invalid cursor');
  let count = 10;
  let pattern = '*';
  let type: string | undefined;
  for (let i = 2; i < args.count; i += 2) {
    const hasMore = i < args.count - 1;
    if (hasMore && args.is(i, 'count')) {
      count = Number(requireInt(args, i + 1));
      if (count < 1) throw syntaxError();
    } else if (hasMore && args.is(i, 'match')) {
      pattern = args.text(i + 1);
    } else if (hasMore && args.is(i, 'type')) {
      type = args.visibleText(i + 1).toLowerCase();
    } else {
      throw syntaxError();
    }
  }
  const { next, entries } = engine.store.keyspace(session).scan(Number(cursor), count);
  const keys = entries
    .filter((entry) => engine.store.lookup(session, entry.key) !== undefined)
    .filter(({ value }) => type === undefined || value.type === type)
    .map(({ key }) => key)
    .filter((key) => pattern === '*' || globMatches(pattern, key));
  return [String(next), keys];
}

function liveEntries(engine: Engine, session: Session): KeyEntry[] {
  const keyspace = engine.store.keyspace(session);
  return [...keyspace.keys()].flatMap((key) => engine.store.lookup(session, key) ?? []);
}

function checkFlushMode(args: Args): void {
  if (args.count === 1) return;
  if (args.count > 2 || !(args.is(1, 'sync') || args.is(1, 'async'))) throw syntaxError();
}

function valueBytes({ value }: KeyEntry): number {
  if (value.type === 'string') return value.bytes.length;
  let bytes = 256 + value.storedBytes;
  for (const group of value.groups.values()) {
    bytes += 256 + group.name.length + group.pending.size * 128;
    for (const { name } of group.consumers.values()) bytes += 128 + name.length;
  }
  return bytes;
}
