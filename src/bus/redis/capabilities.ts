import { BusError } from '../errors';
import type { Capabilities } from '../port';
import type { Call } from './link';
import { ReplyReader } from './replies';

type Send = (call: Call) => Promise<unknown>;

/** Commands that came with the features; in the order in which they are asked for. */
const probes = ['XAUTOCLAIM', 'ACL', 'EVALSHA', 'XACKDEL'] as const;

/**
 * Finds out what a server can do, in one round trip: by COMMAND INFO and COMMAND DOCS, not by its version. Whether the user may
 * use it is not probed, since a denied probe would alarm whoever watches ACL LOG; a denied INFO or COMMAND leaves `unknown` and
 * false. A command that was renamed counts as missing.
 */
export async function detectCapabilities(send: Send): Promise<Capabilities> {
  const ask = (command: string, ...args: string[]): Promise<unknown> => orUndefined(send({ command, args }));
  const [server, replication, commands, readDocs] = await Promise.all([
    ask('INFO', 'server'),
    ask('INFO', 'replication'),
    ask('COMMAND INFO', ...probes),
    ask('COMMAND DOCS', 'XREADGROUP'),
  ]);
  const info = new Map([...infoFields(server), ...infoFields(replication)]);
  const exists = (name: (typeof probes)[number]): boolean =>
    Array.isArray(commands) && Array.isArray(commands[probes.indexOf(name)]);
  return {
    ...serverOf(info),
    role: roleOf(info.get('role')),
    isCluster: (info.get('server_mode') ?? info.get('redis_mode')) === 'cluster',
    hasExclusiveRanges: exists('XAUTOCLAIM'),
    hasAutoClaim: exists('XAUTOCLAIM'),
    hasScanType: exists('ACL'),
    hasScripts: exists('EVALSHA'),
    hasReadClaim: mentions(readDocs, 'CLAIM'),
    hasAckDelete: exists('XACKDEL'),
  };
}

/** The server's clock in milliseconds by INFO, for users who may not call TIME; undefined before 6.2. */
export async function timeByInfo(send: Send): Promise<number | undefined> {
  const micros = infoFields(await send({ command: 'INFO', args: ['server'] })).get('server_time_usec');
  return micros === undefined ? undefined : Math.floor(Number(micros) / 1000);
}

/** Which server this is, by its own version and not by the Redis version that it claims to be compatible with. */
function serverOf(info: ReadonlyMap<string, string>): Pick<Capabilities, 'server' | 'version'> {
  const redisVersion = info.get('redis_version');
  const own = (['valkey', 'dragonfly', 'embedded'] as const).find((name) => info.has(`${name}_version`));
  if (own !== undefined) return { server: own, version: (info.get(`${own}_version`) ?? '').replace(/^df-v?/, '') };
  if (redisVersion === undefined || info.has('kvrocks_version'))
    return { server: 'unknown', version: redisVersion ?? '' };
  return { server: info.has('mvcc_depth') ? 'keydb' : 'redis', version: redisVersion };
}

function roleOf(role: string | undefined): Capabilities['role'] {
  if (role === 'master') return 'master';
  return role === 'slave' || role === 'replica' ? 'replica' : 'unknown';
}

function infoFields(reply: unknown): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (!Buffer.isBuffer(reply)) return fields;
  for (const line of new ReplyReader({ command: 'INFO' }).text(reply).split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

/** Tells whether a word stands anywhere in a reply. */
function mentions(reply: unknown, word: string): boolean {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1') === word;
  return Array.isArray(reply) && reply.some((part) => mentions(part, word));
}

/** Refusals are an answer too; a broken link is not. */
async function orUndefined(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    const isRefusal = ['no-permission', 'unknown-command', 'server'].some(
      (reason) => error instanceof BusError && error.reason === reason,
    );
    if (isRefusal) return undefined;
    throw error;
  }
}
