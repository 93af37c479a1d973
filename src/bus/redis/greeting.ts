import { BusError } from '../errors';
import type { Call } from './link';
import { ReplyReader } from './replies';

/** What is said first on a connection. */
export interface GreetingOptions {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly db: number;
  /** Shown by CLIENT LIST; done without where naming is refused. */
  readonly clientName?: string | undefined;
  /** RESP3 is used only when the server has it. */
  readonly protocol: 2 | 3;
  /** Fails with `read-only-replica` when the server is no master, where that may be asked. */
  readonly mustBeMaster?: boolean;
  /** Asks for the id of the connection also where HELLO does not tell it. */
  readonly wantsId?: boolean;
}

type Send = (call: Call) => Promise<unknown>;

/**
 * AUTH, HELLO and SELECT in one round trip; resolves with the id of the connection, when that is known. HELLO names the
 * connection, which every user may do by it, and tells its id and the role of the server.
 */
export async function greet(send: Send, peer: string, options: GreetingOptions): Promise<string | undefined> {
  const { username, password, db, protocol } = options;
  const ask = (command: string, ...args: string[]): Promise<unknown> => send({ command, args });
  const mustAuthenticate = password !== undefined || username !== undefined;
  const credentials = username === undefined ? [password ?? ''] : [username, password ?? ''];
  const [auth, hello, select] = await Promise.allSettled([
    mustAuthenticate ? ask('AUTH', ...credentials) : undefined,
    ask('HELLO', String(protocol), 'SETNAME', nameOf(options)),
    db === 0 ? undefined : ask('SELECT', String(db)),
  ]);
  // A server without a password refuses AUTH in a sentence of its own; what follows shows that none was needed.
  if (auth.status === 'rejected' && !isRefusal(auth.reason)) throw auth.reason;
  if (hello.status === 'rejected' && !isRefusal(hello.reason)) throw hello.reason;
  if (select.status === 'rejected') throw select.reason;
  if (hello.status === 'rejected') return greetWithoutHello(ask, peer, options);
  if (!Array.isArray(hello.value))
    throw new BusError('not-redis', `Cannot connect to ${peer}: it answers HELLO as no Redis does. Check the port.`);
  const told = new ReplyReader({ command: 'HELLO' }).byName(hello.value);
  if (options.mustBeMaster) checkRole(told.get('role'), peer);
  const id = told.get('id');
  return typeof id === 'string' ? id : undefined;
}

/** Redis 5.0, and servers where HELLO was disabled. What is refused here is done without. */
async function greetWithoutHello(
  ask: (command: string, ...args: string[]) => Promise<unknown>,
  peer: string,
  options: GreetingOptions,
): Promise<string | undefined> {
  const replies = await Promise.allSettled([
    ask('CLIENT SETNAME', nameOf(options)),
    options.wantsId ? ask('CLIENT ID') : undefined,
    options.mustBeMaster ? ask('ROLE') : undefined,
  ]);
  for (const reply of replies) if (reply.status === 'rejected' && !isRefusal(reply.reason)) throw reply.reason;
  const [, id, role] = replies;
  if (role.status === 'fulfilled' && Array.isArray(role.value)) checkRole(role.value[0], peer);
  return id.status === 'fulfilled' && typeof id.value === 'string' ? id.value : undefined;
}

function checkRole(role: unknown, peer: string): void {
  if (Buffer.isBuffer(role) && role.toString() !== 'master')
    throw new BusError('read-only-replica', `${peer} is no master (any more), although it was named as one.`);
}

/** Names of connections may hold no spaces, line breaks or other special characters. */
function nameOf({ clientName = 'redis-streams' }: GreetingOptions): string {
  return clientName.replace(/[^!-~]/g, '-');
}

/** A command that is missing there or not for this user, as against one that needs a password or cannot be answered now. */
function isRefusal(error: unknown): boolean {
  return (['no-permission', 'unknown-command', 'server'] as const).some((reason) => BusError.is(error, reason));
}
