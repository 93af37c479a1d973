import { BusError } from '../errors';
import type { StreamKey } from '../ids';
import type { RawReply, ScriptArgument } from '../scripts/script';
import { wire } from './commands';
import type { Link } from './link';
import { replyError } from './replyErrors';
import { ReplyReader } from './replies';

/** A command of a transaction: its name and its arguments, the key among them. */
export interface TransactionCall {
  readonly command: string;
  readonly args: readonly ScriptArgument[];
}

/**
 * MULTI and EXEC for servers that refuse scripts, over a connection of its own to the node that serves the keys: so that no other
 * command gets between, and that no redirection is followed out of the transaction.
 */
export class Transaction {
  constructor(private readonly link: Link) {}

  /** WATCH. Pending entries cannot be watched: no command on them counts as a change of the key. */
  async watch(keys: readonly StreamKey[]): Promise<void> {
    await this.link.call({ command: 'WATCH', args: keys.map(wire) });
  }

  /**
   * MULTI, the commands, EXEC, in one round trip; null when a watched key was changed. Rejects with the error of the command that
   * was refused, in which case nothing was done. A command that failed inside EXEC has its error in its place: the others were
   * done all the same.
   */
  async execute(calls: readonly TransactionCall[]): Promise<readonly (RawReply | BusError)[] | null> {
    const replies = await Promise.allSettled([
      this.link.call({ command: 'MULTI', args: [] }),
      ...calls.map(({ command, args }) => this.link.call({ command, args: args.map(argument) })),
      this.link.call({ command: 'EXEC', args: [] }),
    ]);
    const executed = replies.at(-1);
    if (executed?.status !== 'fulfilled') {
      const lost: unknown = executed?.reason;
      // A broken link fails them all; only whether EXEC was sent tells whether anything may have been done.
      if (BusError.is(lost) && lost.details.ambiguous !== undefined) throw lost;
      const refused = replies.find((reply) => reply.status === 'rejected');
      throw refused?.reason ?? lost;
    }
    if (executed.value === null) return null;
    return new ReplyReader({ command: 'EXEC' }).list(executed.value).map((reply, index) => {
      const command = calls[index]?.command ?? 'EXEC';
      return reply instanceof Error ? replyError(reply.message, { command }) : new ReplyReader({ command }).raw(reply);
    });
  }

  close(): void {
    this.link.close();
  }
}

function argument(value: ScriptArgument): string | Buffer {
  if (typeof value === 'string') return wire(value);
  return typeof value === 'number' ? String(value) : value;
}
