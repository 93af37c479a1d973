import { createHash } from 'node:crypto';
import type { Secrets } from './connectionUrl';
import { shownUrl } from './settingProfiles';
import { connectionId, isEnvironment } from './profiles';
import type { ConnectionId, ConnectionProfile } from './profiles';

/** The part of VS Code's memento that is used. */
export interface KeyValueStore {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The part of VS Code's secret storage that is used. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
}

const profilesKey = 'redisStreams.connections';

/** Keeps saved profiles in the global state and every password in the secret storage, and nowhere else. */
export class ProfileStore {
  constructor(
    private readonly state: KeyValueStore,
    private readonly secrets: SecretStore,
  ) {}

  /** The saved profiles; what is not one is left out. */
  saved(): readonly ConnectionProfile[] {
    const value = this.state.get(profilesKey);
    return Array.isArray(value) ? value.flatMap((item) => readSaved(item) ?? []) : [];
  }

  /** Adds a profile or replaces the one with its id; a password that was kept for the replaced one's other URL is deleted. */
  async save(profile: ConnectionProfile, secrets: Secrets | undefined): Promise<void> {
    const others = this.saved();
    const earlier = others.find(({ id }) => id === profile.id);
    if (earlier && secretKey(earlier) !== secretKey(profile)) await this.secrets.delete(secretKey(earlier));
    await this.setSecrets(profile, secrets);
    const next = earlier ? others.map((other) => (other === earlier ? profile : other)) : [...others, profile];
    await this.state.update(profilesKey, next.map(written));
  }

  /** Removes a saved profile with its password. */
  async remove(id: ConnectionId): Promise<void> {
    const saved = this.saved();
    const profile = saved.find((other) => other.id === id);
    if (!profile) return;
    await this.secrets.delete(secretKey(profile));
    await this.state.update(profilesKey, saved.filter((other) => other !== profile).map(written));
  }

  /** The passwords kept for a profile, if any. */
  async secretsOf(profile: ConnectionProfile): Promise<Secrets | undefined> {
    return readSecrets(await this.secrets.get(secretKey(profile)));
  }

  /** Keeps or, without any, deletes the passwords of a profile. */
  async setSecrets(profile: ConnectionProfile, secrets: Secrets | undefined): Promise<void> {
    if (secrets === undefined) await this.secrets.delete(secretKey(profile));
    else await this.secrets.store(secretKey(profile), JSON.stringify(secrets));
  }
}

/**
 * Where a password is kept: by profile and by URL, so that a password given for one server never goes to another because somebody
 * changed the URL behind a name.
 */
export function secretKey(profile: ConnectionProfile): string {
  const digest = createHash('sha256').update(shownUrl(profile)).digest('hex').slice(0, 24);
  return `redisStreams.password/${profile.id}/${digest}`;
}

function written({ id, name, url, environment }: ConnectionProfile): object {
  return { id, name, url, environment };
}

function readSecrets(text: string | undefined): Secrets | undefined {
  const value = text === undefined ? undefined : parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { password, sentinelPassword } = value as Record<string, unknown>;
  return {
    ...(typeof password === 'string' ? { password } : {}),
    ...(typeof sentinelPassword === 'string' ? { sentinelPassword } : {}),
  };
}

/** What is no JSON counts as nothing: the error of parsing it would quote the secret. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readSaved(value: unknown): ConnectionProfile | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, name, url, environment } = value as Record<string, unknown>;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof url !== 'string' || !isEnvironment(environment)) {
    return undefined;
  }
  return { id: connectionId(id), name, url, environment, source: 'saved' };
}
