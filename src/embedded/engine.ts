/**
 * The engine: databases, sessions and the path of a command through them.
 *
 * Commands run one at a time and to their end. The engine knows neither sockets nor promises: replies are values, and what comes
 * later (a blocked read) goes to the session's output. Time comes from the injected clock and stands still within a command, so
 * equal inputs give equal outputs. Nothing is ever written to disk. Tests: test/embedded.
 */
import type { Clock } from '../base/clock';
import type { Args } from './args';
import { Blocking } from './blocking';
import { replyLater } from './commands/command';
import type { CommandSpec } from './commands/command';
import type { CommandTable } from './commands/table';
import { commandTable } from './commands/table';
import type { Reply } from './reply';
import { nullArray, ReplyError, replyError, Status } from './reply';
import type { ScriptTwins } from './scripts/twin';
import type { SessionOutput } from './session';
import { Session } from './session';
import { Store } from './store';

/** What an engine is made with. */
export interface EngineOptions {
  readonly clock: Clock;
  /** Asked of every client with AUTH or HELLO; none when undefined. */
  readonly password?: string;
  /** The scripts that EVAL and EVALSHA can run. */
  readonly scripts: ScriptTwins;
  /** What INFO says of the server. */
  readonly identity: EngineIdentity;
}

/** How the engine names itself in INFO. */
export interface EngineIdentity {
  /** The version of the engine itself. */
  readonly version: string;
  /** The port that INFO tells; 0 without a server. */
  port: number;
}

const sweepEveryMs = 100;
const sweepLimit = 200;

export class Engine {
  readonly store: Store;
  readonly blocking: Blocking;
  readonly sessions = new Map<number, Session>();
  readonly startedMs: number;
  readonly clock: Clock;
  readonly commands: CommandTable = commandTable;
  readonly stats = { commands: 0, connections: 0, rejected: 0, errors: 0 };
  private nextSessionId = 1;
  private lastSweepMs = 0;
  private readonly watchers = new Map<string, Set<Session>>();

  constructor(readonly options: EngineOptions) {
    this.clock = options.clock;
    this.startedMs = this.clock.now();
    this.store = new Store({
      touched: (database, key) => {
        for (const session of this.watchers.get(`${database}:${key}`) ?? []) session.isWatchBroken = true;
      },
      ready: (database, key) => {
        this.blocking.markReady(database, key);
      },
    });
    this.blocking = new Blocking(this.store, this.clock);
  }

  /** Opens a session for a client. */
  openSession(output: SessionOutput, address = '127.0.0.1:0', localAddress = '127.0.0.1:0'): Session {
    const now = this.clock.now();
    const session = new Session(this.nextSessionId, address, localAddress, now, now, output);
    this.nextSessionId += 1;
    session.isAuthenticated = this.options.password === undefined;
    this.sessions.set(session.id, session);
    this.stats.connections += 1;
    return session;
  }

  /** Forgets a session; its blocked read gets no reply. */
  closeSession(session: Session): void {
    this.blocking.release(session);
    this.unwatch(session);
    this.sessions.delete(session.id);
  }

  /** Carries out one command of a session. The arguments are not kept. */
  execute(session: Session, args: Args): Reply | typeof replyLater {
    const now = this.clock.now();
    this.store.nowMs = now;
    session.lastActiveMs = now;
    this.stats.commands += 1;
    const reply = this.process(session, args);
    if (reply instanceof ReplyError) this.stats.errors += 1;
    this.blocking.serve();
    if (now - this.lastSweepMs >= sweepEveryMs) {
      this.lastSweepMs = now;
      this.store.sweepExpired(sweepLimit);
    }
    return reply;
  }

  /** Runs one command whose time and place are settled: of a transaction or of a script. */
  call(spec: CommandSpec, session: Session, args: Args): Reply | typeof replyLater {
    if (!spec.run) return commandTable.missingSubcommand(spec, args);
    try {
      return spec.run(this, session, args);
    } catch (error) {
      if (error instanceof ReplyError) return error;
      throw error;
    }
  }

  /** Runs the queued commands of a transaction. */
  executeTransaction(session: Session): Reply {
    const { transaction } = session;
    if (!transaction) return replyError('EXEC without MULTI');
    const isDirty = session.isWatchBroken || this.hasExpiredWatch(session);
    this.discardTransaction(session);
    if (transaction.isBroken) return replyError('-EXECABORT Transaction discarded because of previous errors.');
    if (isDirty) return nullArray;
    session.denyBlocking = true;
    try {
      return transaction.queue.map(({ spec, args }) => {
        const reply = this.call(spec, session, args);
        return reply === replyLater ? nullArray : reply;
      });
    } finally {
      session.denyBlocking = false;
    }
  }

  /** Ends a transaction and forgets what was watched. */
  discardTransaction(session: Session): void {
    session.transaction = undefined;
    this.unwatch(session);
  }

  watch(session: Session, key: string): void {
    const { database } = session;
    const name = `${database}:${key}`;
    if (session.watched.has(name)) return;
    const entry = this.store.database(database).get(key);
    session.watched.set(name, { database, key, wasExpired: entry !== undefined && this.store.isExpired(entry) });
    const sessions = this.watchers.get(name) ?? new Set();
    sessions.add(session);
    this.watchers.set(name, sessions);
  }

  unwatch(session: Session): void {
    session.isWatchBroken = false;
    for (const name of session.watched.keys()) {
      const sessions = this.watchers.get(name);
      sessions?.delete(session);
      if (sessions?.size === 0) this.watchers.delete(name);
    }
    session.watched.clear();
  }

  private process(session: Session, args: Args): Reply | typeof replyLater {
    const spec = commandTable.find(args);
    if (spec instanceof ReplyError) return reject(session, spec);
    if (spec.arity > 0 ? args.count !== spec.arity : args.count < -spec.arity)
      return reject(session, replyError(`wrong number of arguments for '${spec.name}' command`));
    session.lastCommand = spec.name;
    if (!session.isAuthenticated && !spec.isAllowedUnauthenticated)
      return reject(session, replyError('-NOAUTH Authentication required.'));
    if (session.transaction && !runsInsideTransaction.has(spec.name)) {
      session.transaction.queue.push({ spec, args: args.copy() });
      return queued;
    }
    return this.call(spec, session, args);
  }

  private hasExpiredWatch(session: Session): boolean {
    for (const { database, key, wasExpired } of session.watched.values()) {
      const entry = this.store.database(database).get(key);
      if (!wasExpired && entry && this.store.isExpired(entry)) return true;
    }
    return false;
  }
}

const runsInsideTransaction = new Set(['exec', 'discard', 'multi', 'watch', 'quit', 'reset']);
const queued = new Status('QUEUED');

function reject(session: Session, error: ReplyError): ReplyError {
  if (session.transaction) session.transaction.isBroken = true;
  return error;
}
