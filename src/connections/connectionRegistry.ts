import type { Disposable } from '../base/disposables';
import { Emitter } from '../base/emitter';
import type { Localizer } from '../base/localize';
import { joinSecrets, splitSecrets } from './connectionUrl';
import type { Secrets } from './connectionUrl';
import { ConnectionError } from './connectionFailure';
import type { Connections, LiveConnection } from './liveConnection';
import { ProfileConnection } from './profileConnection';
import type { ProfileConnectionDeps } from './profileConnection';
import type { ProfileStore } from './profileStore';
import type { ConnectionId, ConnectionProfile } from './profiles';
import { readSettingProfiles, substituteVariables } from './settingProfiles';
import type { ProfileProblem, SettingLevels } from './settingProfiles';

/** What the registry needs from outside. */
export interface ConnectionRegistryDeps extends Omit<ProfileConnectionDeps, 'resolveUrl'> {
  readonly store: ProfileStore;
  /** The setting `redisStreams.connections` as it is now. */
  readonly readSetting: () => SettingLevels;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly l10n: Localizer;
}

/**
 * All connections: the running sandbox, the saved ones, then those of the user's settings, then those that the workspace names. A connection stays the
 * same object while its profile's id is there, whatever else of it changes.
 */
export class ConnectionRegistry implements Connections, Disposable {
  private entries: readonly { readonly connection: ProfileConnection; readonly listener: Disposable }[] = [];
  private settingProblems: readonly ProfileProblem[] = [];
  private sandbox: ConnectionProfile | undefined;
  private readonly changed = new Emitter<LiveConnection | undefined>();

  constructor(private readonly deps: ConnectionRegistryDeps) {
    this.reload();
  }

  readonly onDidChange = (listener: (changed: LiveConnection | undefined) => void): Disposable =>
    this.changed.event(listener);

  list(): readonly LiveConnection[] {
    return this.entries.map(({ connection }) => connection);
  }

  find(id: ConnectionId): LiveConnection | undefined {
    return this.list().find(({ profile }) => profile.id === id);
  }

  /** Entries of the setting that cannot be used. */
  problems(): readonly ProfileProblem[] {
    return this.settingProblems;
  }

  /** Reads profiles and settings again; called when either changed. */
  reload(): void {
    const { profiles, problems } = readSettingProfiles(this.deps.readSetting(), this.deps.l10n);
    this.settingProblems = problems;
    const wanted = [...(this.sandbox ? [this.sandbox] : []), ...this.deps.store.saved(), ...profiles];
    const kept = new Set<ProfileConnection>();
    const next = wanted.map((profile) => {
      const known = this.entries.find(({ connection }) => connection.profile.id === profile.id);
      if (!known) return this.added(profile);
      kept.add(known.connection);
      if (!isSameProfile(known.connection.profile, profile)) known.connection.replaceProfile(profile);
      return known;
    });
    const gone = this.entries.filter(({ connection }) => !kept.has(connection));
    this.entries = next;
    for (const { connection, listener } of gone) {
      listener.dispose();
      connection.dispose();
    }
    this.changed.fire(undefined);
  }

  /** Lists the sandbox first while it runs; undefined takes it away. */
  setSandbox(profile: ConnectionProfile | undefined): void {
    this.sandbox = profile;
    this.reload();
  }

  /** Saves a profile with its secrets, or replaces the saved one with its id. */
  async save(profile: ConnectionProfile, secrets: Secrets | undefined): Promise<LiveConnection | undefined> {
    await this.deps.store.save(profile, secrets);
    this.reload();
    return this.find(profile.id);
  }

  /** Forgets a saved profile and its secrets. */
  async remove(id: ConnectionId): Promise<void> {
    await this.deps.store.remove(id);
    this.reload();
  }

  /** The secrets kept for a profile. */
  secretsOf(profile: ConnectionProfile): Promise<Secrets | undefined> {
    return this.deps.store.secretsOf(profile);
  }

  /** The URL with its secrets, for a worker that is launched there; it never goes into a log, a setting or an environment. */
  urlWithSecrets(profile: ConnectionProfile): Promise<string> {
    return this.resolveUrl(profile);
  }

  /** Keeps other secrets for a profile; its connection starts afresh. */
  async setSecrets(profile: ConnectionProfile, secrets: Secrets | undefined): Promise<void> {
    await this.deps.store.setSecrets(profile, secrets);
    this.entries.find(({ connection }) => connection.profile.id === profile.id)?.connection.reset();
  }

  dispose(): void {
    for (const { connection, listener } of this.entries) {
      listener.dispose();
      connection.dispose();
    }
    this.entries = [];
    this.changed.dispose();
  }

  private added(profile: ConnectionProfile): (typeof this.entries)[number] {
    const connection = new ProfileConnection(profile, {
      ...this.deps,
      resolveUrl: (current) => this.resolveUrl(current),
    });
    const listener = connection.onDidChange(() => {
      this.changed.fire(connection);
    });
    return { connection, listener };
  }

  /** The URL to connect with. Only the user's own settings may use environment variables. */
  private async resolveUrl(profile: ConnectionProfile): Promise<string> {
    const kept = await this.deps.store.secretsOf(profile);
    const written = profile.source === 'user setting' ? this.substituted(profile) : profile.url;
    const { url, secrets } = splitSecrets(written);
    return joinSecrets(url, { ...kept, ...secrets });
  }

  private substituted(profile: ConnectionProfile): string {
    const outcome = substituteVariables(profile.url, this.deps.variables);
    if ('url' in outcome) return outcome.url;
    throw new ConnectionError({
      reason: 'missing-variable',
      message: this.deps.l10n.t(
        'Cannot connect to {0}: the environment variable {1} is not set where VS Code runs.',
        profile.name,
        outcome.missing,
      ),
      retriable: true,
      nextStep: { title: this.deps.l10n.t('Open Connection Settings'), command: 'redisStreams.openSettings' },
    });
  }
}

function isSameProfile(a: ConnectionProfile, b: ConnectionProfile): boolean {
  return a.name === b.name && a.url === b.url && a.environment === b.environment && a.source === b.source;
}
