import type { Socket } from 'node:net';
import type { Args } from '../args';
import { replyLater } from '../commands/command';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { replyError } from '../reply';
import type { Session } from '../session';
import type { RequestLimits } from './parser';
import { ProtocolError, RespParser } from './parser';
import { RespWriter } from './writer';

/** What one connection may cost. */
export interface ConnectionLimits extends RequestLimits {
  /** The most bytes that may wait for a client that does not read; beyond it is disconnected. */
  readonly outputBytes: number;
}

/**
 * One client of the server: reads commands, runs them in order, writes the replies. A blocked read or a client that does not take
 * its replies stops the reading of commands. Whatever goes wrong here ends this connection only.
 */
export class RespConnection {
  private readonly parser: RespParser;
  private readonly writer = new RespWriter();
  private readonly session: Session;
  private isEnded = false;
  private isChoked = false;

  constructor(
    private readonly engine: Engine,
    private readonly socket: Socket,
    private readonly limits: ConnectionLimits,
    onEnd: () => void,
  ) {
    this.session = engine.openSession(
      {
        late: (reply) => {
          this.late(reply);
        },
        close: () => {
          this.end();
        },
      },
      `${socket.remoteAddress ?? '127.0.0.1'}:${socket.remotePort ?? 0}`,
      `${socket.localAddress ?? '127.0.0.1'}:${socket.localPort ?? 0}`,
    );
    this.parser = new RespParser(limits, () => this.session.isAuthenticated);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.parser.feed(chunk);
      this.drain();
    });
    socket.on('drain', () => {
      this.isChoked = false;
      this.drain();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.isEnded = true;
      engine.closeSession(this.session);
      onEnd();
    });
  }

  /** Drops the connection at once. */
  destroy(): void {
    this.isEnded = true;
    this.socket.destroy();
  }

  private drain(): void {
    try {
      while (!this.isEnded && !this.isChoked && !this.session.blocked) {
        const args = this.parser.next();
        if (!args) break;
        this.run(args);
      }
    } catch (error) {
      this.writer.write(errorReply(error), this.session.protocol);
      this.end();
      return;
    }
    this.flush();
    const isFull = this.parser.waitingBytes > this.limits.requestBytes;
    if ((this.isChoked || this.session.blocked !== undefined) && isFull) this.socket.pause();
    else if (this.socket.isPaused()) this.socket.resume();
  }

  private run(args: Args): void {
    if (args.is(0, 'post') || args.is(0, 'host:')) {
      this.end();
      return;
    }
    const reply = this.engine.execute(this.session, args);
    if (reply !== replyLater) this.reply(reply);
    if (this.session.isClosing) this.end();
  }

  private reply(reply: Reply): void {
    const { session } = this;
    if (session.replies === 'off') return;
    if (session.replies === 'skip-next') {
      session.replies = 'skip';
      return;
    }
    if (session.replies === 'skip') {
      session.replies = 'on';
      return;
    }
    this.writer.write(reply, session.protocol);
    if (this.writer.length > 1 << 20) this.flush();
  }

  /** A blocked read ended, while some other client's command runs: what this client sent meanwhile has to wait for that. */
  private late(reply: Reply): void {
    this.reply(reply);
    this.flush();
    setImmediate(() => {
      this.drain();
    });
  }

  private flush(): void {
    if (this.writer.length === 0 || this.isEnded) return;
    if (!this.socket.write(this.writer.take())) this.isChoked = true;
    if (this.socket.writableLength > this.limits.outputBytes) this.destroy();
  }

  /** Sends what is written and closes. */
  private end(): void {
    if (this.isEnded) return;
    this.flush();
    this.isEnded = true;
    this.socket.end();
    this.socket.destroySoon();
  }
}

/** What ended the connection; a mistake of the engine's own ends it too, and not the server. */
function errorReply(error: unknown): Reply {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProtocolError) return replyError(`Protocol error: ${message}`);
  return replyError(`internal error of the sandbox, please report it: ${message}`);
}
