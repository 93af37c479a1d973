import { parseRedisUrl } from '../bus';
import type { RedisUrl } from '../bus';
import { splitSecrets } from './connectionUrl';
import type { ConnectionProfile } from './profiles';
import { shownUrl } from './settingProfiles';

/**
 * The options by which redis-cli reaches a server. Passwords are never in them: redis-cli asks when there is one. Sentinel's master
 * has to be asked for first; its name stands in the place.
 */
export function cliConnection(profile: ConnectionProfile, hasKeptPassword: boolean): readonly string[] {
  const url = shownUrl(profile);
  const asksPassword = hasKeptPassword || splitSecrets(profile.url).secrets?.password !== undefined;
  const read = readUrl(url);
  const password = asksPassword ? ['--askpass'] : [];
  if (read?.mode === 'standalone' || read?.mode === 'cluster') {
    const mode = read.mode === 'cluster' ? ['-c'] : [];
    return [...address(read), ...mode, ...user(read, asksPassword), ...password];
  }
  return ['-u', url.replace(/^(redis|valkey)(s?)\+sentinel:/i, 'redis$2:').replace(/,[^/?]*/, ''), ...password];
}

/** redis-cli knows neither our schemes nor our queries, and no brackets around a host. */
function address({ nodes, tls, db }: RedisUrl): readonly string[] {
  const [{ host, port } = { host: '127.0.0.1', port: 6379 }] = nodes;
  if (host.includes(':'))
    return ['-h', host, '-p', String(port), ...(db === 0 ? [] : ['-n', String(db)]), ...(tls ? ['--tls'] : [])];
  return ['-u', `${tls ? 'rediss' : 'redis'}://${host}:${port}${db === 0 ? '' : `/${db}`}`];
}

/** A user in redis-cli's URL without a password would be taken for the password of the default user. */
function user({ username }: RedisUrl, asksPassword: boolean): readonly string[] {
  if (username === undefined) return [];
  return ['--user', username, ...(asksPassword ? [] : ['--pass', '', '--no-auth-warning'])];
}

function readUrl(url: string): RedisUrl | undefined {
  try {
    return parseRedisUrl(url);
  } catch {
    return undefined;
  }
}
