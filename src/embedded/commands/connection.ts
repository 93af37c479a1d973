/** Commands about the connection itself. */
import { timingSafeEqual, createHash } from 'node:crypto';
import type { Args } from '../args';
import type { Engine } from '../engine';
import { redisVersion } from '../identity';
import type { Reply } from '../reply';
import { MapReply, ok, replyError, Status } from '../reply';
import type { Session } from '../session';
import { databaseCount } from '../store';
import { setClientName } from './clients';
import type { CommandHandlers } from './command';
import { requireInt } from './parse';

const wrongPassword = '-WRONGPASS invalid username-password pair or user is disabled.';

export const connectionCommands: CommandHandlers = {
  ping(_engine, _session, args) {
    if (args.count > 2) throw replyError("wrong number of arguments for 'ping' command");
    return args.count === 2 ? args.bytes(1) : new Status('PONG');
  },
  echo: (_engine, _session, args) => args.bytes(1),
  select(_engine, session, args) {
    const index = requireInt(args, 1);
    if (index < 0 || index >= databaseCount) throw replyError('DB index is out of range');
    session.database = Number(index);
    return ok;
  },
  quit(_engine, session) {
    session.isClosing = true;
    return ok;
  },
  reset(engine, session) {
    engine.discardTransaction(session);
    session.database = 0;
    session.protocol = 2;
    session.name = '';
    session.replies = 'on';
    session.isAuthenticated = engine.options.password === undefined;
    return new Status('RESET');
  },
  auth(engine, session, args) {
    if (args.count > 3) throw replyError('syntax error');
    if (args.count === 2 && engine.options.password === undefined) {
      throw replyError(
        'AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
      );
    }
    if (!isRightPassword(engine, args.count === 3 ? args.text(1) : 'default', args.bytes(args.count - 1)))
      throw replyError(wrongPassword);
    session.isAuthenticated = true;
    return ok;
  },
  hello,
};

function hello(engine: Engine, session: Session, args: Args): Reply {
  let protocol: 2 | 3 | undefined;
  if (args.count >= 2) {
    const asked = requireInt(args, 1, 'Protocol version is not an integer or out of range');
    if (asked !== 2 && asked !== 3) throw replyError('-NOPROTO unsupported protocol version');
    protocol = asked;
  }
  for (let i = 2; i < args.count; i++) {
    const more = args.count - 1 - i;
    if (more >= 2 && args.is(i, 'auth')) {
      if (!isRightPassword(engine, args.text(i + 1), args.bytes(i + 2))) throw replyError(wrongPassword);
      session.isAuthenticated = true;
      i += 2;
    } else if (more >= 1 && args.is(i, 'setname')) {
      setClientName(session, args, i + 1);
      i += 1;
    } else {
      throw replyError(`Syntax error in HELLO option '${args.visibleText(i)}'`);
    }
  }
  if (!session.isAuthenticated) {
    throw replyError(
      '-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can ' +
        'be used to authenticate the client and select the RESP protocol version at the same time',
    );
  }
  if (protocol !== undefined) session.protocol = protocol;
  return new MapReply([
    ...['server', 'redis', 'version', redisVersion, 'proto', session.protocol, 'id', session.id],
    ...['mode', 'standalone', 'role', 'master', 'modules', []],
  ]);
}

function isRightPassword(engine: Engine, user: string, password: Buffer): boolean {
  if (user !== 'default') return false;
  const { password: expected } = engine.options;
  if (expected === undefined) return true;
  const digest = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
  return timingSafeEqual(digest(password), digest(expected));
}
