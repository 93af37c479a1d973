/**
 * Profiles from the setting `redisStreams.connections`. Only the user's own value is trusted; what a workspace says names a server
 * and nothing more: no secret, no environment variable, no claim to be local when it is not.
 */
import type { Localizer } from '../base/localize';
import { addressOf, isLoopbackUrl, splitSecrets } from './connectionUrl';
import { connectionId, isEnvironment } from './profiles';
import type { ConnectionProfile, Environment, ProfileSource } from './profiles';

/** An entry that cannot be used, and why; shown in the tree. */
export interface ProfileProblem {
  readonly id: string;
  readonly source: ProfileSource;
  readonly message: string;
  /** Set when the entry holds a password that can be moved to the secret storage. */
  readonly movable?: { readonly index: number };
}

/** What a setting says. */
export interface SettingProfiles {
  readonly profiles: readonly ConnectionProfile[];
  readonly problems: readonly ProfileProblem[];
}

/** The value of the setting at each level that counts, as `inspect` gives it. */
export interface SettingLevels {
  readonly user: unknown;
  readonly workspace: unknown;
}

/** Reads both levels; entries that cannot be used become problems. */
export function readSettingProfiles(levels: SettingLevels, l10n: Localizer): SettingProfiles {
  const user = readLevel(levels.user, 'user setting', l10n);
  const workspace = readLevel(levels.workspace, 'workspace', l10n);
  return {
    profiles: [...user.profiles, ...workspace.profiles],
    problems: [...user.problems, ...workspace.problems],
  };
}

/** A URL with its `${env:NAME}` put in, or the name that is not set. */
export type SubstitutedUrl = { readonly url: string } | { readonly missing: string };

/** Puts environment variables into a URL, percent-encoded, so that a password may hold any character. */
export function substituteVariables(
  url: string,
  variables: Readonly<Record<string, string | undefined>>,
): SubstitutedUrl {
  let missing: string | undefined;
  const result = url.replace(variable, (_whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) missing ??= name;
    // A variable that is the whole URL is taken as it is.
    return url === `\${env:${name}}` ? (value ?? '') : encodeURIComponent(value ?? '');
  });
  return missing === undefined ? { url: result } : { missing };
}

const variable = /\$\{env:([^}]*)\}/g;

function readLevel(value: unknown, source: ProfileSource, l10n: Localizer): SettingProfiles {
  if (value === undefined || value === null) return { profiles: [], problems: [] };
  if (!Array.isArray(value)) {
    const message = l10n.t('redisStreams.connections must be a list of connections.');
    return { profiles: [], problems: [{ id: `${source}/setting`, source, message }] };
  }
  const profiles: ConnectionProfile[] = [];
  const problems: ProfileProblem[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const outcome = readEntry(entry, index, source, profiles, l10n);
    if ('url' in outcome) profiles.push(outcome);
    else problems.push(outcome);
  }
  return { profiles, problems };
}

function readEntry(
  entry: unknown,
  index: number,
  source: ProfileSource,
  earlier: readonly ConnectionProfile[],
  l10n: Localizer,
): ConnectionProfile | ProfileProblem {
  const problem = (message: string): ProfileProblem => ({ id: `${source}/${index}`, source, message });
  const { name, url, environment } = propertiesOf(entry);
  if (typeof name !== 'string' || name.trim() === '') {
    return problem(l10n.t('Connection {0} of redisStreams.connections has no name.', index + 1));
  }
  if (typeof url !== 'string' || url.trim() === '') {
    return problem(l10n.t('Connection "{0}" of redisStreams.connections has no URL.', name));
  }
  if (earlier.some((profile) => profile.name === name)) {
    return problem(l10n.t('Connection "{0}" is twice in redisStreams.connections: rename one.', name));
  }
  if (environment !== undefined && !isEnvironment(environment)) {
    return problem(
      l10n.t('The environment of connection "{0}" must be local, development, staging or production.', name),
    );
  }
  const secrets: readonly string[] = Object.values({ ...splitSecrets(url).secrets });
  if (secrets.some((secret) => !/^(?:\$\{env:[^}]*\})+$/.test(secret)))
    return { ...problem(secretMessage(name, source, l10n)), ...moving(source, index) };
  if (source === 'workspace' && url.includes('${env:')) {
    return problem(
      l10n.t('Connection "{0}" of the workspace uses an environment variable: only your user settings may.', name),
    );
  }
  return {
    id: connectionId(`${source === 'workspace' ? 'workspace' : 'user'}/${name}`),
    name,
    url: url.trim(),
    environment: environmentOf(environment, url, source),
    source,
  };
}

/** A workspace cannot make a remote server look local, because what is local is not guarded. */
function environmentOf(named: Environment | undefined, url: string, source: ProfileSource): Environment {
  if (named === undefined) return isLoopbackUrl(url) ? 'local' : 'production';
  return source === 'workspace' && named === 'local' && !isLoopbackUrl(url) ? 'production' : named;
}

function secretMessage(name: string, source: ProfileSource, l10n: Localizer): string {
  return source === 'workspace'
    ? l10n.t(
        'The workspace holds a password in the URL of connection "{0}": remove it; you are asked for it when you connect.',
        name,
      )
    : l10n.t('The URL of connection "{0}" in your settings holds a password: move it to the secret storage.', name);
}

function moving(source: ProfileSource, index: number): Pick<ProfileProblem, 'movable'> {
  return source === 'user setting' ? { movable: { index } } : {};
}

function propertiesOf(entry: unknown): { name?: unknown; url?: unknown; environment?: unknown } {
  return typeof entry === 'object' && entry !== null ? entry : {};
}

/** A profile's URL as it may be shown: no password, not even the name of the variable that holds it. */
export function shownUrl(profile: ConnectionProfile): string {
  return splitSecrets(profile.url).url;
}

/** Where a profile leads, for sentences. */
export function shownAddress(profile: ConnectionProfile): string {
  return addressOf(shownUrl(profile));
}
