import type { Args } from '../args';
import type { ReplyError } from '../reply';
import { replyError } from '../reply';
import type { CommandHandlers, CommandSpec } from './command';
import { claimCommands } from './claims';
import { clientCommands } from './clients';
import { connectionCommands } from './connection';
import { expiryCommands } from './expiry';
import { commandFacts } from './facts';
import { groupCommands } from './groups';
import { keyCommands } from './keys';
import { pendingCommands } from './pending';
import { readCommands } from './reads';
import { scriptCommands } from './scripting';
import { serverCommands } from './server';
import { streamInfoCommands } from './streamInfo';
import { streamCommands } from './streams';
import { stringCommands } from './strings';
import { transactionCommands } from './transactions';

const handlers: CommandHandlers = {
  ...streamCommands,
  ...readCommands,
  ...groupCommands,
  ...pendingCommands,
  ...claimCommands,
  ...streamInfoCommands,
  ...keyCommands,
  ...expiryCommands,
  ...stringCommands,
  ...connectionCommands,
  ...clientCommands,
  ...transactionCommands,
  ...scriptCommands,
  ...serverCommands,
};

const unauthenticated = new Set(['auth', 'hello', 'quit', 'reset']);
/** Containers whose subcommands are all here, so that an unknown one is unknown to Redis too. */
const complete = new Set(['xgroup', 'xinfo']);
const where =
  'the sandbox (the embedded engine of Redis Streams Debugger) knows the commands listed in docs/sandbox.md';

/** Finds commands by name, and answers for those that are not there. */
export class CommandTable {
  private readonly commands = new Map<string, CommandSpec>();
  /** Keys are names as clients write them, lower and upper case. */
  private readonly byWrittenName = new Map<string, CommandSpec>();

  constructor() {
    const subcommands = new Map<string, Map<string, CommandSpec>>();
    for (const facts of commandFacts) {
      const [container = '', subcommand] = facts.name.split('|');
      const own = new Map<string, CommandSpec>();
      const spec: CommandSpec = {
        ...facts,
        run: handlers[facts.name],
        subcommands: own,
        isAllowedUnauthenticated: unauthenticated.has(facts.name),
      };
      if (subcommand !== undefined) {
        subcommands.get(container)?.set(subcommand, spec);
        continue;
      }
      subcommands.set(container, own);
      this.commands.set(facts.name, spec);
      this.byWrittenName.set(facts.name, spec);
      this.byWrittenName.set(facts.name.toUpperCase(), spec);
    }
  }

  /** All commands, subcommands aside. */
  all(): IterableIterator<CommandSpec> {
    return this.commands.values();
  }

  get size(): number {
    return this.commands.size;
  }

  /** The command with this name, `container|sub` for a subcommand. */
  named(name: string): CommandSpec | undefined {
    const [container = '', subcommand] = name.toLowerCase().split('|');
    const spec = this.commands.get(container);
    return subcommand === undefined ? spec : spec?.subcommands.get(subcommand);
  }

  /** What the arguments call for, or the error that says that there is no such command here. */
  find(args: Args): CommandSpec | ReplyError {
    const written = args.text(0);
    const spec = this.byWrittenName.get(written) ?? this.commands.get(written.toLowerCase());
    if (!spec) return replyError(`unknown command '${printable(args.visibleText(0))}': ${where}`);
    if (spec.subcommands.size === 0 || args.count < 2) return spec;
    return spec.subcommands.get(args.visibleText(1).toLowerCase()) ?? this.missingSubcommand(spec, args);
  }

  /** The error for a subcommand that is not there. */
  missingSubcommand(container: CommandSpec, args: Args): ReplyError {
    const subcommand = printable(args.visibleText(1));
    const name = container.name.toUpperCase();
    if (complete.has(container.name)) return replyError(`unknown subcommand '${subcommand}'. Try ${name} HELP.`);
    return replyError(`unknown subcommand '${subcommand}' of ${name}: ${where}`);
  }
}

/** The commands of this engine. */
export const commandTable = new CommandTable();

function printable(text: string): string {
  return text.slice(0, 128);
}
