import type { Clock } from '../base/clock';
import type { Stream } from './data/stream';
import { compareIds, maxStreamId, nextId } from './data/streamId';
import { deliverNew, readEntries } from './delivery';
import type { Reply } from './reply';
import { MapReply, nullArray, replyError } from './reply';
import type { BlockedRead, Session } from './session';
import type { Store } from './store';

/** Blocked reads: who waits at which key, in the order in which they came, and how they are served, as Redis 7.0 does. */
export class Blocking {
  private readonly waiting = new Map<string, Set<Session>>();
  private ready: { readonly database: number; readonly key: string }[] = [];
  private readonly readyNames = new Set<string>();
  private blockedCount = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  get count(): number {
    return this.blockedCount;
  }

  /** Blocks a session until one of the keys can serve it; `timeoutMs` 0 waits for ever. */
  block(session: Session, read: Omit<BlockedRead, 'stopTimer'>, timeoutMs: number): void {
    const stopTimer = timeoutMs === 0 ? () => undefined : this.startTimer(session, timeoutMs);
    session.blocked = { ...read, stopTimer };
    this.blockedCount += 1;
    for (const key of new Set(read.keys)) {
      const name = place(session.database, key);
      const sessions = this.waiting.get(name) ?? new Set();
      sessions.add(session);
      this.waiting.set(name, sessions);
    }
  }

  /** Takes a session out of waiting without a reply. */
  release(session: Session): void {
    const { blocked } = session;
    if (!blocked) return;
    blocked.stopTimer();
    session.blocked = undefined;
    this.blockedCount -= 1;
    for (const key of blocked.keys) {
      const name = place(session.database, key);
      const sessions = this.waiting.get(name);
      sessions?.delete(session);
      if (sessions?.size === 0) this.waiting.delete(name);
    }
  }

  /** Ends a blocked read with this reply. */
  finish(session: Session, reply: Reply): void {
    this.release(session);
    session.output.late(reply);
  }

  /** Notes that sessions which wait at the key should be looked at after the running command. */
  markReady(database: number, key: string): void {
    const name = place(database, key);
    if (!this.waiting.has(name) || this.readyNames.has(name)) return;
    this.readyNames.add(name);
    this.ready.push({ database, key });
  }

  /** Serves who waits at keys that became ready; serving may make more keys ready. */
  serve(): void {
    while (this.ready.length > 0) {
      const batch = this.ready;
      this.ready = [];
      for (const { database, key } of batch) {
        this.readyNames.delete(place(database, key));
        const value = this.store.lookupIn(database, key)?.value;
        const sessions = [...(this.waiting.get(place(database, key)) ?? [])];
        for (const session of sessions) {
          if (value?.type === 'stream') this.serveStream(session, key, value);
          else if (session.blocked?.group !== undefined)
            this.finish(session, replyError('-UNBLOCKED the stream key no longer exists'));
        }
      }
    }
  }

  private serveStream(session: Session, key: string, stream: Stream): void {
    const { blocked } = session;
    if (!blocked) return;
    const group = blocked.group === undefined ? undefined : stream.groups.get(blocked.group);
    if (blocked.group !== undefined && !group) {
      this.finish(session, replyError('-NOGROUP the consumer group this client was blocked on no longer exists'));
      return;
    }
    const after = group?.lastId ?? blocked.after[blocked.keys.indexOf(key)] ?? maxStreamId;
    if (compareIds(stream.lastId, after) <= 0) return;
    const from = nextId(after) ?? maxStreamId;
    const { nowMs } = this.store;
    const entries = group
      ? deliverNew(
          stream,
          group,
          group.seenConsumer(blocked.consumer, nowMs),
          from,
          blocked.count,
          blocked.noAck,
          nowMs,
        )
      : readEntries(stream, from, maxStreamId, blocked.count);
    this.finish(session, streamsReply(session, [key, entries]));
  }

  private startTimer(session: Session, timeoutMs: number): () => void {
    return this.clock.after(Math.min(timeoutMs, maxTimerMs), () => {
      if (timeoutMs > maxTimerMs) return;
      this.finish(session, nullArray);
    });
  }
}

/** The longest delay of a timer here, about 24 days; longer blocks wait for ever. */
const maxTimerMs = 0x7fff_ffff;

/** The reply of XREAD and XREADGROUP: a map of keys to entries in RESP3, an array of pairs in RESP2. */
export function streamsReply(session: Session, pairs: readonly Reply[]): Reply {
  if (session.protocol === 3) return new MapReply(pairs);
  const rows: Reply[] = [];
  for (let i = 0; i < pairs.length; i += 2) rows.push([pairs[i] ?? null, pairs[i + 1] ?? null]);
  return rows;
}

function place(database: number, key: string): string {
  return `${database}:${key}`;
}
