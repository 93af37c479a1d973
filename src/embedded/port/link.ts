import type { BusError } from '../../bus/errors';
import type { Call } from '../../bus/redis/link';
import { linkError, replyError } from '../../bus/redis/replyErrors';
import { Args } from '../args';
import { replyLater } from '../commands/command';
import { formatId } from '../data/streamId';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { EntryReply, MapReply, NullArray, readFields, ReplyError, Status, VerbatimReply } from '../reply';
import type { Session } from '../session';
import type { Loss, NetworkMember, ProcessNetwork } from './network';

interface Waiting {
  readonly call: Call;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: BusError) => void;
}

/**
 * A connection inside of the process: calls of one tick are carried out together after it, in order. Replies have the shapes that
 * the bus reads: integers as decimal strings, strings as Buffers, maps flat.
 */
export class EmbeddedLink implements NetworkMember {
  private session: Session | undefined;
  private queue: Waiting[] = [];
  private blocked: Waiting | undefined;
  private isScheduled = false;
  private isClosed = false;
  private readonly leave: () => void;

  constructor(
    private readonly engine: Engine,
    private readonly network: ProcessNetwork,
  ) {
    this.leave = network.join(this);
  }

  /** Sends a command; several of them before the first is carried out keep their order. */
  call(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.network.state === 'gone') return;
      if (this.isClosed) reject(linkError('closed', 'the connection was closed here.', call, false));
      else if (this.network.state === 'cut') reject(linkError('connection-lost', unreachable, call, false));
      else {
        this.queue.push({ call, resolve, reject });
        this.schedule();
      }
    });
  }

  /** Ends a blocked read, which answers null. */
  interrupt(): void {
    this.flush();
    if (this.session?.blocked) this.engine.blocking.finish(this.session, null);
  }

  /** Closes the connection: what waits rejects with reason `closed`. */
  close(): void {
    this.isClosed = true;
    this.leave();
    this.drop();
    this.rejectAll(({ call }) => linkError('closed', 'the connection was closed here.', call, true));
  }

  cut(loss: Loss): void {
    if (loss === 'replies') this.flush();
    const { session } = this;
    this.session = undefined;
    // The server of a half-dead link goes on waiting for the client's entries and gives them to nobody.
    if (session && (loss === 'requests' || !session.blocked)) this.engine.closeSession(session);
    this.rejectAll(({ call }) => linkError('connection-lost', unreachable, call, true));
  }

  vanish(): void {
    this.drop();
    this.queue = [];
    this.blocked = undefined;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    while (!this.blocked) {
      const next = this.queue.shift();
      if (!next) return;
      const session = this.openSession();
      const reply = this.engine.execute(session, argsOf(next.call));
      if (reply === replyLater) this.blocked = next;
      else settle(next, reply);
    }
  }

  private openSession(): Session {
    if (this.session) return this.session;
    const session: Session = this.engine.openSession({
      late: (reply) => {
        if (this.session !== session) {
          this.engine.closeSession(session);
          return;
        }
        const { blocked } = this;
        this.blocked = undefined;
        if (blocked) settle(blocked, reply);
        this.schedule();
      },
      close: () => {
        if (this.session === session) this.cut('requests');
      },
    });
    session.isAuthenticated = true;
    this.session = session;
    return session;
  }

  private drop(): void {
    if (this.session) this.engine.closeSession(this.session);
    this.session = undefined;
  }

  private rejectAll(error: (waiting: Waiting) => BusError): void {
    const waiting = this.blocked ? [this.blocked, ...this.queue] : this.queue;
    this.blocked = undefined;
    this.queue = [];
    for (const one of waiting) one.reject(error(one));
  }
}

const unreachable = 'the connection to the embedded engine was lost.';

function settle({ call, resolve, reject }: Waiting, reply: Reply): void {
  if (reply instanceof ReplyError) reject(replyError(reply.message, call));
  else resolve(plainReply(reply));
}

function argsOf({ command, name, args }: Call): Args {
  const words = (name ?? command).split(' ');
  const values = args.map((value) => (typeof value === 'string' ? Buffer.from(value, 'utf8') : value));
  return Args.of([...words, ...values]);
}

function plainReply(reply: Reply): unknown {
  if (reply === null || reply instanceof NullArray) return null;
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply);
  if (typeof reply === 'string') return Buffer.from(reply, 'latin1');
  if (Buffer.isBuffer(reply) || reply instanceof ReplyError) return reply;
  if (reply instanceof Status || reply instanceof VerbatimReply) return Buffer.from(reply.text, 'latin1');
  if (reply instanceof EntryReply) return [Buffer.from(formatId(reply.id)), readFields(reply.fields)];
  if (reply instanceof MapReply) return reply.pairs.map(plainReply);
  return reply.map(plainReply);
}
