// What a fault proxy is to do to one command, and when it has done it. Tested by test/bus/faultProxy.test.ts.

/**
 * - `cut-before-forwarding`: the server never sees the command. `reset-before-forwarding`: the same with a TCP reset.
 * - `cut-before-reply`: the server gets the command, the client is cut at once, also when the command blocks.
 * - `swallow-reply`: the server has executed it and its reply has reached the proxy; the client is cut without it.
 * - `cut-mid-reply`: the client gets half of the reply's bytes and is cut.
 * - `hold-reply`: the reply waits until `release`; those behind it wait too.
 * - `black-hole`: neither this command nor anything after it on this connection reaches the server or is answered.
 *
 * A cut waits until the commands before it on its connection have been answered, so that nothing else is lost by luck.
 */
export type Fault =
  | 'cut-before-forwarding'
  | 'reset-before-forwarding'
  | 'cut-before-reply'
  | 'swallow-reply'
  | 'cut-mid-reply'
  | 'hold-reply'
  | 'black-hole';

/** The name of a command, with its subcommand if wished (`XACK`, `xgroup create`), or a look at all of its words. */
export type CommandMatch = string | ((words: readonly Buffer[]) => boolean);

/** A fault that waits for its command. */
export class CommandFault {
  /** Resolves with the words of the command when the fault has happened to it. */
  readonly fired: Promise<readonly Buffer[]>;
  /** Resolves when a held reply may go. */
  readonly released: Promise<void>;
  /** Whether the fault has happened. */
  hasFired = false;
  private readonly settle: { fired: (words: readonly Buffer[]) => void; released: () => void };

  constructor(
    private readonly match: CommandMatch,
    readonly fault: Fault,
  ) {
    const settle = { fired: (_words: readonly Buffer[]): void => undefined, released: (): void => undefined };
    this.fired = new Promise((resolve) => {
      settle.fired = resolve;
    });
    this.released = new Promise((resolve) => {
      settle.released = resolve;
    });
    this.settle = settle;
  }

  matches(words: readonly Buffer[]): boolean {
    if (typeof this.match !== 'string') return this.match(words);
    const wanted = this.match.toUpperCase().split(' ');
    return wanted.every((word, i) => String(words[i] ?? '').toUpperCase() === word);
  }

  fire(words: readonly Buffer[]): void {
    this.hasFired = true;
    this.settle.fired(words);
  }

  /** Lets a held reply go. */
  release(): void {
    this.settle.released();
  }
}

/** The faults that wait for their commands; each happens once, in the order in which they were added. */
export class CommandFaults {
  private readonly waiting: CommandFault[] = [];

  add(match: CommandMatch, fault: Fault): CommandFault {
    const added = new CommandFault(match, fault);
    this.waiting.push(added);
    return added;
  }

  /** The fault for this command, which waits no longer. */
  take(words: readonly Buffer[]): CommandFault | undefined {
    const index = this.waiting.findIndex((fault) => fault.matches(words));
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }
}
