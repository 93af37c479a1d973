import type { Args } from './args';
import type { CommandSpec } from './commands/command';
import type { StreamId } from './data/streamId';
import type { Reply } from './reply';

/** What a blocked XREAD or XREADGROUP waits for. */
export interface BlockedRead {
  readonly keys: readonly string[];
  /** For each key the id that an entry must exceed; unused when a group is read. */
  readonly after: readonly StreamId[];
  readonly group: string | undefined;
  readonly consumer: string;
  readonly noAck: boolean;
  readonly count: number;
  readonly stopTimer: () => void;
}

/** A command that waits for EXEC. */
export interface QueuedCommand {
  readonly spec: CommandSpec;
  readonly args: Args;
}

/** A transaction that has begun. */
export interface Transaction {
  readonly queue: QueuedCommand[];
  /** Set when a command could not be queued; EXEC then refuses. */
  isBroken: boolean;
}

/** Where a session's replies and its end go to. */
export interface SessionOutput {
  /** A reply that comes later than its command: a blocked read was served, timed out or was ended. */
  late(reply: Reply): void;
  /** The engine ends the session (CLIENT KILL, QUIT after its reply). */
  close(): void;
}

/** One client of the engine: its database, protocol, transaction and blocked read. */
export class Session {
  database = 0;
  protocol: 2 | 3 = 2;
  name = '';
  isAuthenticated = false;
  transaction: Transaction | undefined;
  /** Keys that are watched, each as database and key. */
  readonly watched = new Map<
    string,
    { readonly database: number; readonly key: string; readonly wasExpired: boolean }
  >();
  isWatchBroken = false;
  blocked: BlockedRead | undefined;
  replies: 'on' | 'off' | 'skip' | 'skip-next' = 'on';
  lastCommand = 'NULL';
  isClosing = false;
  /** True while EXEC or a script runs: nothing may block. */
  denyBlocking = false;
  /** True for the session in which a script's commands run. */
  isScript = false;

  constructor(
    readonly id: number,
    readonly address: string,
    readonly localAddress: string,
    readonly createdMs: number,
    public lastActiveMs: number,
    readonly output: SessionOutput,
  ) {}
}
