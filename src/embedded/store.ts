import { Stream } from './data/stream';
import type { KeyEntry, Value } from './data/keyspace';
import { Keyspace } from './data/keyspace';
import type { Session } from './session';
import { wrongType } from './reply';

/** How many databases there are, as in Redis by default. */
export const databaseCount = 16;

/** Who wants to know what happens to keys. */
export interface StoreWatcher {
  /** A key was changed in the way that WATCH notices. */
  touched(database: number, key: string): void;
  /** A blocked read may be served, or must end, at this key. */
  ready(database: number, key: string): void;
}

/** All databases, looked at with the time of the running command: what is expired then is removed when it is met. */
export class Store {
  readonly databases: readonly Keyspace[] = Array.from({ length: databaseCount }, () => new Keyspace());
  nowMs = 0;

  constructor(private readonly watcher: StoreWatcher) {}

  keyspace(session: Session): Keyspace {
    return this.database(session.database);
  }

  database(index: number): Keyspace {
    const keyspace = this.databases[index];
    if (!keyspace) throw new RangeError(`There is no database ${index}`);
    return keyspace;
  }

  lookup(session: Session, key: string): KeyEntry | undefined {
    return this.lookupIn(session.database, key);
  }

  lookupIn(database: number, key: string): KeyEntry | undefined {
    const entry = this.database(database).get(key);
    if (entry && this.isExpired(entry)) {
      this.remove(database, entry);
      return undefined;
    }
    return entry;
  }

  isExpired(entry: KeyEntry): boolean {
    return entry.expiresMs !== undefined && this.nowMs > entry.expiresMs;
  }

  /** The stream at the key, undefined when there is no key; throws WRONGTYPE for another type. */
  stream(session: Session, key: string): Stream | undefined {
    const value = this.lookup(session, key)?.value;
    if (value === undefined || value.type === 'stream') return value;
    throw wrongType();
  }

  /** Makes a key that is not there. */
  add(database: number, key: string, value: Value): KeyEntry {
    const entry = this.database(database).add(key, value);
    if (value.type === 'stream') this.watcher.ready(database, key);
    return entry;
  }

  addStream(session: Session, key: string): Stream {
    const stream = new Stream();
    this.add(session.database, key, stream);
    return stream;
  }

  /** Replaces what a key holds, or makes the key. */
  set(session: Session, key: string, value: Value): KeyEntry {
    const existing = this.lookup(session, key);
    if (!existing) return this.add(session.database, key, value);
    const previous = existing.value;
    existing.value = value;
    if (previous.type === 'stream') this.watcher.ready(session.database, key);
    return existing;
  }

  /** Removes a key without a word to WATCH, as expiry does. */
  remove(database: number, entry: KeyEntry): void {
    this.database(database).delete(entry);
    if (entry.value.type === 'stream') this.watcher.ready(database, entry.key);
  }

  delete(session: Session, key: string): boolean {
    const entry = this.lookup(session, key);
    if (!entry) return false;
    this.remove(session.database, entry);
    this.touch(session, key);
    return true;
  }

  /** Removes every key of a database. */
  flush(database: number): void {
    const keyspace = this.database(database);
    const gone = [...keyspace.keys()].map((key) => ({ key, isStream: keyspace.get(key)?.value.type === 'stream' }));
    keyspace.clear();
    for (const { key, isStream } of gone) {
      this.watcher.touched(database, key);
      if (isStream) this.watcher.ready(database, key);
    }
  }

  touch(session: Session, key: string): void {
    this.watcher.touched(session.database, key);
  }

  markReady(session: Session, key: string): void {
    this.watcher.ready(session.database, key);
  }

  /** A bounded sweep of expired keys. */
  sweepExpired(limit: number): void {
    for (const [database, keyspace] of this.databases.entries())
      for (const entry of keyspace.expired(this.nowMs, limit)) this.remove(database, entry);
  }
}
