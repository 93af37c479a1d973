/**
 * What this room must know of connection URLs before the bus may read them: where the password is, to take it out, and whether the
 * server is on this machine. It reads leniently: an ill-formed URL must not leak a password either.
 */
import { parseRedisUrl } from '../bus';

/** The passwords that a URL may hold. */
export interface Secrets {
  readonly password?: string;
  /** What Sentinel itself asks for. */
  readonly sentinelPassword?: string;
}

/** A URL and the passwords that were in it. */
export interface SplitUrl {
  /** Without passwords; fit for settings, logs and the screen. */
  readonly url: string;
  /** Decoded; undefined when there were none. */
  readonly secrets: Secrets | undefined;
}

/** Takes the passwords out of a URL: what stands after the colon before the last `@`, and query parameters named for one. */
export function splitSecrets(text: string): SplitUrl {
  const { scheme, body, tail } = partsOf(text.trim());
  const query = takeQuerySecrets(tail);
  const { rest, password } = takeUserInfoPassword(body);
  const secrets: Secrets = { ...query.secrets, ...(password === undefined ? {} : { password }) };
  return {
    url: scheme + rest + query.tail,
    secrets: Object.keys(secrets).length === 0 ? undefined : secrets,
  };
}

/** The opposite of `splitSecrets`: the URL to connect with. Kept in memory only while connecting. */
export function joinSecrets(url: string, secrets: Secrets): string {
  const { scheme, body, tail } = partsOf(url);
  const at = body.lastIndexOf('@');
  const user = at < 0 ? '' : body.slice(0, at);
  const hosts = body.slice(at + 1);
  const userInfo = secrets.password === undefined ? user : `${user}:${encodeURIComponent(secrets.password)}`;
  const joined = scheme + (userInfo === '' ? '' : `${userInfo}@`) + hosts;
  if (secrets.sentinelPassword === undefined) return joined + tail;
  const parameter = `sentinelPassword=${encodeURIComponent(secrets.sentinelPassword)}`;
  return joined + (tail.startsWith('?') ? `${tail}&` : `?${tail}`) + parameter;
}

/** The user name in a URL, decoded, or undefined. */
export function userOf(url: string): string | undefined {
  const { body } = partsOf(url);
  const at = body.lastIndexOf('@');
  const user = at < 0 ? '' : (body.slice(0, at).split(':')[0] ?? '');
  return user === '' ? undefined : decoded(user);
}

/** Tells whether every host of a URL is this machine. */
export function isLoopbackUrl(url: string): boolean {
  const hosts = [...hostsOf(url), ...connectedHostsOf(url)];
  return hosts.length > 0 && hosts.every((host) => loopbackHost.test(host.toLowerCase()));
}

/** The hosts of a URL, without ports, lower case; several for Sentinel and Cluster. */
export function hostsOf(url: string): readonly string[] {
  const { scheme, body } = partsOf(url);
  if (!scheme.endsWith('://')) return [];
  const authority = body.slice(body.lastIndexOf('@') + 1).split('/')[0] ?? '';
  return authority
    .split(',')
    .map((part) => (/^\[([^\]]*)\]/.exec(part)?.[1] ?? part.replace(/:\d*$/, '')).toLowerCase())
    .filter((host) => host !== '');
}

/** Where a URL leads, for sentences: hosts and ports, without user, database and options. */
export function addressOf(url: string): string {
  const { body } = partsOf(url);
  return body.slice(body.lastIndexOf('@') + 1).split('/')[0] ?? '';
}

const loopbackHost = /^(?:localhost|.*\.localhost|127(?:\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1|::ffff:127(?:\.\d{1,3}){3})$/;

/**
 * Where a URL falls apart: scheme, what is before `?` or `#`, and the rest. An `@` behind these, unless it is in a query that we
 * know, says that they belong to a password that nobody percent-encoded. A missing scheme hides no password either.
 */
function partsOf(text: string): { readonly scheme: string; readonly body: string; readonly tail: string } {
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/{1,2}/i.exec(text) ?? [];
  const rest = text.slice(scheme.length);
  const end = rest.search(/[?#]/);
  const tail = end < 0 ? '' : rest.slice(end);
  const from = tail.includes('@') && !knownQuery.test(tail) ? rest.lastIndexOf('@') + 1 : 0;
  const cut = rest.slice(from).search(/[?#]/);
  const length = cut < 0 ? rest.length : from + cut;
  return { scheme, body: rest.slice(0, length), tail: rest.slice(length) };
}

const knownQuery = /^\?(?:db|[a-z]*(?:username|password|passwd|pass|secret|token))=/i;

/** The hosts that the bus would connect to; none when it does not take the URL. */
function connectedHostsOf(url: string): readonly string[] {
  try {
    return parseRedisUrl(url).nodes.map(({ host }) => host);
  } catch {
    return [];
  }
}

const secretParameter = /pass(?:word|wd)?$|secret|token/i;

function takeUserInfoPassword(body: string): { readonly rest: string; readonly password: string | undefined } {
  const at = body.lastIndexOf('@');
  const colon = at < 0 ? -1 : body.slice(0, at).indexOf(':');
  if (colon < 0) return { rest: body, password: undefined };
  const user = body.slice(0, colon);
  const written = body.slice(colon + 1, at);
  const rest = (user === '' ? '' : `${user}@`) + body.slice(at + 1);
  return { rest, password: written === '' ? undefined : decoded(written) };
}

function takeQuerySecrets(tail: string): { readonly tail: string; readonly secrets: Secrets } {
  const query = /^\?([^#]*)(.*)$/s.exec(tail);
  if (!query) return { tail, secrets: {} };
  const parameters = (query[1] ?? '').split('&').map((parameter) => {
    const equals = parameter.indexOf('=');
    const name = equals < 0 ? parameter : parameter.slice(0, equals);
    return { parameter, name, value: equals < 0 ? '' : parameter.slice(equals + 1) };
  });
  const isSecret = ({ name }: { readonly name: string }): boolean => secretParameter.test(name);
  const kept = parameters.filter((parameter) => !isSecret(parameter)).map(({ parameter }) => parameter);
  const secrets: { password?: string; sentinelPassword?: string } = {};
  for (const { name, value } of parameters.filter(isSecret)) {
    if (value !== '') secrets[/^sentinel/i.test(name) ? 'sentinelPassword' : 'password'] = decoded(value);
  }
  return { tail: (kept.length > 0 ? `?${kept.join('&')}` : '') + (query[2] ?? ''), secrets };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
