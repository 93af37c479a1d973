import type { Localizer } from '../base/localize';
import { joinSecrets } from './connectionUrl';
import type { Secrets } from './connectionUrl';
import type { ConnectionFailure } from './connectionFailure';
import { describeConnectFailure } from './describeFailure';
import type { OpenPort } from './inspectPort';
import type { ServerDescription } from './liveConnection';
import type { ConnectionProfile } from './profiles';

/** What a test of a profile found. */
export type ConnectionTest =
  | { readonly ok: true; readonly server: ServerDescription }
  | { readonly ok: false; readonly failure: ConnectionFailure };

/** Connects once, asks what answers, and closes again. */
export async function testConnection(
  profile: ConnectionProfile,
  secrets: Secrets | undefined,
  openPort: OpenPort,
  l10n: Localizer,
): Promise<ConnectionTest> {
  try {
    const port = await openPort(joinSecrets(profile.url, secrets ?? {}), { onClosed: () => {} });
    try {
      const { server, version, role, isCluster } = await port.capabilities();
      return { ok: true, server: { kind: server, version, role, isCluster } };
    } finally {
      await port.close();
    }
  } catch (error) {
    return { ok: false, failure: describeConnectFailure(error, profile, l10n) };
  }
}
