/** CLIENT. */
import type { Args } from '../args';
import type { Int } from '../data/int64';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { nullArray, ok, replyError, syntaxError, VerbatimReply } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { subcommandSyntaxError } from './groups';
import { requireInt } from './parse';

const clientTypes = new Set(['normal', 'master', 'replica', 'slave', 'pubsub']);

export const clientCommands: CommandHandlers = {
  'client|id': (_engine, session) => session.id,
  'client|getname': (_engine, session) => (session.name === '' ? null : session.name),
  'client|setname'(_engine, session, args) {
    setClientName(session, args, 2);
    return ok;
  },
  'client|info': (engine, session) => new VerbatimReply(`${describe(engine, session)}\n`),
  'client|list': list,
  'client|no-evict'(_engine, _session, args) {
    if (!args.is(2, 'on') && !args.is(2, 'off')) throw syntaxError();
    return ok;
  },
  'client|reply'(_engine, session, args) {
    if (args.is(2, 'on')) session.replies = 'on';
    else if (args.is(2, 'off')) session.replies = 'off';
    else if (!args.is(2, 'skip')) throw syntaxError();
    else if (session.replies !== 'off') session.replies = 'skip-next';
    return ok;
  },
  'client|kill': kill,
  'client|unblock'(engine, _session, args) {
    if (args.count > 4) throw subcommandSyntaxError(args);
    const isError = args.count === 4 && args.is(3, 'error');
    if (args.count === 4 && !isError && !args.is(3, 'timeout'))
      throw replyError('CLIENT UNBLOCK reason should be TIMEOUT or ERROR');
    const target = engine.sessions.get(Number(requireInt(args, 2)));
    if (!target?.blocked) return 0;
    engine.blocking.finish(target, isError ? replyError('-UNBLOCKED client unblocked via CLIENT UNBLOCK') : nullArray);
    return 1;
  },
};

/** Names a client; the name may have neither blanks nor line ends. */
export function setClientName(session: Session, args: Args, index: number): void {
  const name = args.text(index);
  if (/[^!-~]/.test(name)) throw replyError('Client names cannot contain spaces, newlines or special characters.');
  session.name = name;
}

function list(engine: Engine, _session: Session, args: Args): Reply {
  let sessions = [...engine.sessions.values()];
  if (args.count === 4 && args.is(2, 'type')) {
    const type = args.visibleText(3).toLowerCase();
    if (!clientTypes.has(type)) throw replyError(`Unknown client type '${args.visibleText(3)}'`);
    if (type !== 'normal') sessions = [];
  } else if (args.count > 3 && args.is(2, 'id')) {
    const ids: Int[] = [];
    for (let i = 3; i < args.count; i++) ids.push(requireInt(args, i, 'Invalid client ID'));
    sessions = ids.flatMap((id) => engine.sessions.get(Number(id)) ?? []);
  } else if (args.count !== 2) {
    throw syntaxError();
  }
  return new VerbatimReply(sessions.map((session) => `${describe(engine, session)}\n`).join(''));
}

function kill(engine: Engine, session: Session, args: Args): Reply {
  if (args.count === 3) {
    const address = args.text(2);
    const found = [...engine.sessions.values()].find((candidate) => candidate.address === address);
    if (!found) throw replyError('No such client');
    found.isClosing = true;
    if (found !== session) found.output.close();
    return ok;
  }
  let skipsMe = true;
  const filters: ((candidate: Session) => boolean)[] = [];
  for (let i = 2; i < args.count; i += 2) {
    if (i + 1 >= args.count) throw syntaxError();
    const value = args.visibleText(i + 1);
    if (args.is(i, 'id')) {
      const id = requireInt(args, i + 1, 'client-id should be greater than 0');
      if (id < 1) throw replyError('client-id should be greater than 0');
      filters.push((candidate) => candidate.id === id);
    } else if (args.is(i, 'type')) {
      if (!clientTypes.has(value.toLowerCase())) throw replyError(`Unknown client type '${value}'`);
      filters.push(() => value.toLowerCase() === 'normal');
    } else if (args.is(i, 'addr')) {
      filters.push(({ address }) => address === value);
    } else if (args.is(i, 'laddr')) {
      filters.push(({ localAddress }) => localAddress === value);
    } else if (args.is(i, 'user')) {
      if (value !== 'default') throw replyError(`No such user '${value}'`);
    } else if (args.is(i, 'skipme') && (args.is(i + 1, 'yes') || args.is(i + 1, 'no'))) {
      skipsMe = args.is(i + 1, 'yes');
    } else {
      throw syntaxError();
    }
  }
  const victims = [...engine.sessions.values()]
    .filter((candidate) => !skipsMe || candidate !== session)
    .filter((candidate) => filters.every((matches) => matches(candidate)));
  for (const victim of victims) {
    victim.isClosing = true;
    if (victim !== session) victim.output.close();
  }
  return victims.length;
}

function describe(engine: Engine, session: Session): string {
  const now = engine.store.nowMs;
  const seconds = (fromMs: number): number => Math.max(0, Math.floor((now - fromMs) / 1000));
  const flags = session.blocked ? 'b' : session.transaction ? 'x' : 'N';
  const multi = session.transaction ? session.transaction.queue.length : -1;
  return [
    `id=${session.id} addr=${session.address} laddr=${session.localAddress} fd=${session.id + 7} name=${session.name}`,
    `age=${seconds(session.createdMs)} idle=${seconds(session.lastActiveMs)} flags=${flags} db=${session.database}`,
    `sub=0 psub=0 ssub=0 multi=${multi} qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0`,
    `tot-mem=0 events=r cmd=${session.lastCommand} user=default redir=-1 resp=${session.protocol}`,
  ].join(' ');
}
