/** Commands about the server. */
import type { Args } from '../args';
import type { Engine } from '../engine';
import { globMatches } from '../glob';
import { infoText } from '../info';
import type { Reply } from '../reply';
import { MapReply, Status, syntaxError, VerbatimReply } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers, CommandSpec } from './command';

export const serverCommands: CommandHandlers = {
  info(engine, _session, args) {
    const sections: string[] = [];
    for (let i = 1; i < args.count; i++) sections.push(args.visibleText(i).toLowerCase());
    return new VerbatimReply(infoText(engine, sections));
  },
  time: (engine) => [String(Math.floor(engine.store.nowMs / 1000)), String((engine.store.nowMs % 1000) * 1000)],
  role: () => ['master', 0, []],
  wait: () => 0,
  'acl|whoami': () => 'default',
  'config|get': configGet,
  command: (engine) => [...engine.commands.all()].map(describe),
  'command|count': (engine) => engine.commands.size,
  'command|info'(engine, _session, args) {
    if (args.count === 2) return [...engine.commands.all()].map(describe);
    const rows: Reply[] = [];
    for (let i = 2; i < args.count; i++) {
      const spec = engine.commands.named(args.text(i));
      rows.push(spec ? describe(spec) : null);
    }
    return rows;
  },
  'command|list'(engine, _session, args) {
    if (args.count !== 2) throw syntaxError();
    return [...engine.commands.all()].map(({ name }) => name);
  },
};

/** What CONFIG GET answers; the engine has no other settings and none can be changed. */
function settings(engine: Engine): readonly (readonly [name: string, value: string])[] {
  return [
    ['appendfsync', 'everysec'],
    ['appendonly', 'no'],
    ['bind', '127.0.0.1'],
    ['databases', '16'],
    ['maxclients', '1000'],
    ['maxmemory', '0'],
    ['maxmemory-policy', 'noeviction'],
    ['notify-keyspace-events', ''],
    ['port', String(engine.options.identity.port)],
    ['proto-max-bulk-len', '536870912'],
    ['save', ''],
    ['stream-node-max-bytes', '4096'],
    ['stream-node-max-entries', '100'],
    ['timeout', '0'],
  ];
}

function configGet(engine: Engine, _session: Session, args: Args): Reply {
  const patterns: string[] = [];
  for (let i = 2; i < args.count; i++) patterns.push(args.text(i).toLowerCase());
  const matches = settings(engine).filter(([name]) => patterns.some((pattern) => globMatches(pattern, name)));
  return new MapReply(matches.flat());
}

function describe(spec: CommandSpec): Reply {
  return [
    ...[spec.name, spec.arity, spec.flags.map((flag) => new Status(flag))],
    ...[spec.firstKey, spec.lastKey, spec.keyStep],
    spec.categories.map((category) => new Status(`@${category}`)),
    ...[[], []],
    [...spec.subcommands.values()].map(describe),
  ];
}
