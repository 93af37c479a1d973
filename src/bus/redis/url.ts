/** Reading connection URLs, and showing them without their secrets. */
import { BusError } from '../errors';

/** Where a server listens. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** What a connection URL says. */
export interface RedisUrl {
  /** One server, the master that Sentinel names, or a cluster. */
  readonly mode: 'standalone' | 'sentinel' | 'cluster';
  /** At least one: the server, the Sentinels, or some nodes of the cluster. */
  readonly nodes: readonly NodeAddress[];
  /** The name under which Sentinel watches the master. */
  readonly masterName?: string;
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly db: number;
}

/**
 * Reads `redis://`, `rediss://` (TLS), `redis+sentinel://host,host/master-name/db`, `redis+cluster://host,host` and the TLS forms
 * `rediss+sentinel://` and `rediss+cluster://`, each with `user:password@` before the hosts, percent-encoded. Sentinel's own
 * credentials are `?sentinelUsername=…&sentinelPassword=…`. Throws a BusError of reason `invalid-argument` that holds no part of
 * the URL but its scheme.
 */
export function parseRedisUrl(text: string): RedisUrl {
  const match = /^([a-z+]+):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(text.trim());
  if (!match) throw invalid('it is not of the form redis://user:password@host:port/db, percent-encoded');
  const scheme = (match[1] ?? '').toLowerCase();
  const form = /^(redis|rediss|valkey|valkeys)(?:\+(sentinel|cluster))?$/.exec(scheme);
  if (!form)
    throw invalid(`the scheme ${scheme}:// is unknown; use redis://, rediss://, redis+sentinel:// or redis+cluster://`);
  const mode = form[2] === 'sentinel' || form[2] === 'cluster' ? form[2] : 'standalone';
  if (hasStrayAt(match[3] ?? '', match[4] ?? ''))
    throw invalid(
      'it has an @ behind the hosts; write ?, # and / of a password as %3F, %23 and %2F, and an @ there as %40',
    );
  const authority = match[2] ?? '';
  const at = authority.lastIndexOf('@');
  const nodes = authority
    .slice(at + 1)
    .split(',')
    .map((host) => parseAddress(host, mode === 'sentinel' ? 26379 : 6379));
  if (mode === 'standalone' && nodes.length > 1)
    throw invalid('several hosts need redis+sentinel:// or redis+cluster://');
  const path = (match[3] ?? '').split('/').map(decode);
  const query = new Map((match[4] ?? '').split('&').map((pair) => splitPair(pair)));
  const masterName = mode === 'sentinel' ? path.shift() : undefined;
  if (mode === 'sentinel' && !masterName)
    throw invalid('the path must be the name of the master, redis+sentinel://host/name');
  const db = parseDb(firstFilled(path.shift(), query.get('db'), '0'));
  if (path.some((part) => part !== '')) throw invalid('the path has too many parts');
  if (mode === 'cluster' && db !== 0) throw invalid('a cluster has only database 0');
  return {
    mode,
    nodes,
    tls: form[1] === 'rediss' || form[1] === 'valkeys',
    db,
    ...(masterName === undefined ? {} : { masterName }),
    ...optional('username', 'password', at < 0 ? [] : splitCredentials(authority.slice(0, at))),
    ...optional('sentinelUsername', 'sentinelPassword', [query.get('sentinelUsername'), query.get('sentinelPassword')]),
  };
}

/** The URL with its passwords replaced by `***`; safe for text that is no URL at all. */
export function redactRedisUrl(text: string): string {
  return text
    .trim()
    .replace(/^([a-z+]*:?\/\/)?(.*)@/is, (_, scheme: string | undefined, credentials: string) => {
      const colon = credentials.indexOf(':');
      const user = scheme !== undefined && colon >= 0 ? credentials.slice(0, colon) : '';
      return `${scheme ?? ''}${user}${colon >= 0 ? ':' : ''}***@`;
    })
    .replace(/(password=)[^&#]*/gi, '$1***');
}

/** `host:port`, with brackets around an IPv6 host. */
export function formatAddress({ host, port }: NodeAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Reads `host`, `host:port` or `[ipv6]:port`. */
export function parseAddress(text: string, defaultPort: number): NodeAddress {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[3] ?? defaultPort);
  if (!match || port < 1 || port > 65535) throw invalid('a host must be of the form host, host:port or [ipv6]:port');
  return { host: match[1] ?? (decode(match[2] ?? '') || '127.0.0.1'), port };
}

/** An `@` behind the hosts is nearly always the end of a password that was not encoded: it must not make another host of a user. */
function hasStrayAt(path: string, query: string): boolean {
  const isStray = (pair: string): boolean => pair.includes('@') && !/^sentinel(?:Username|Password)=/.test(pair);
  return path.includes('@') || query.split('&').some(isStray);
}

function parseDb(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw invalid('the database must be a number');
  return Number(text);
}

function firstFilled(...texts: (string | undefined)[]): string {
  return texts.find((text) => text !== undefined && text !== '') ?? '';
}

function splitCredentials(text: string): (string | undefined)[] {
  const colon = text.indexOf(':');
  return colon < 0 ? [decode(text)] : [decode(text.slice(0, colon)), decode(text.slice(colon + 1))];
}

function splitPair(pair: string): [string, string] {
  const equals = pair.indexOf('=');
  return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
}

/** Leaves out what is missing or empty. */
function optional<User extends string, Password extends string>(
  user: User,
  password: Password,
  [userValue, passwordValue]: (string | undefined)[],
): Partial<Record<User | Password, string>> {
  const found: Partial<Record<User | Password, string>> = {};
  if (userValue) Object.assign(found, { [user]: userValue });
  if (passwordValue) Object.assign(found, { [password]: passwordValue });
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('it has a % that is no percent-encoding; write % as %25');
  }
}

function invalid(why: string): BusError {
  return new BusError('invalid-argument', `The connection URL cannot be used: ${why}.`);
}
