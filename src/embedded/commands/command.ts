import type { Args } from '../args';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import type { Session } from '../session';

/** Answered by a command whose reply comes later through the session's output. */
export const replyLater = Symbol('reply later');

/** Carries a command out. Throws a `ReplyError` to answer an error. */
export type CommandHandler = (engine: Engine, session: Session, args: Args) => Reply | typeof replyLater;

/** Handlers by full name, such as `xadd` or `xgroup|create`. */
export type CommandHandlers = Readonly<Record<string, CommandHandler>>;

/** What Redis 7.0's COMMAND INFO says of a command. */
export interface CommandFacts {
  /** In lower case; a subcommand's is `container|name`. */
  readonly name: string;
  /** Number of arguments, name included; negative: at least so many. */
  readonly arity: number;
  readonly flags: readonly string[];
  readonly firstKey: number;
  readonly lastKey: number;
  readonly keyStep: number;
  /** ACL categories without `@`. */
  readonly categories: readonly string[];
}

/** A command that the engine carries out. */
export interface CommandSpec extends CommandFacts {
  /** Absent for a container of subcommands only. */
  readonly run: CommandHandler | undefined;
  readonly subcommands: ReadonlyMap<string, CommandSpec>;
  readonly isAllowedUnauthenticated: boolean;
}
