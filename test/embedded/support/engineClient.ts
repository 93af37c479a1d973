// A client of the engine without a network: one command, one reply. Tested by the tests that use it.
import assert from 'node:assert/strict';
import { Args } from '../../../src/embedded/args';
import { replyLater } from '../../../src/embedded/commands/command';
import type { Engine } from '../../../src/embedded/engine';
import type { Reply } from '../../../src/embedded/reply';
import { ReplyError } from '../../../src/embedded/reply';
import type { Session } from '../../../src/embedded/session';

/** One session of an engine. */
export class EngineClient {
  readonly session: Session;
  /** Replies of blocked reads, as they came. */
  readonly late: Reply[] = [];

  constructor(private readonly engine: Engine) {
    this.session = engine.openSession({ late: (reply) => this.late.push(reply), close: () => undefined });
    this.session.isAuthenticated = true;
  }

  /** The reply; undefined when the command blocks. */
  send(...command: readonly (string | Buffer)[]): Reply | undefined {
    const reply = this.engine.execute(this.session, Args.of(command));
    return reply === replyLater ? undefined : reply;
  }

  /** Sends a command that must not fail. */
  done(...command: readonly (string | Buffer)[]): Promise<void> {
    const reply = this.send(...command);
    assert.ok(!(reply instanceof ReplyError), reply instanceof Error ? reply.message : '');
    return Promise.resolve();
  }
}
