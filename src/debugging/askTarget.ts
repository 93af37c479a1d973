import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { StreamKey } from '../bus';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { LiveConnection } from '../connections/liveConnection';
import { environmentColor } from '../connections/profiles';
import { pickOne } from '../ui/pickers';

/** What to debug, as far as it is known already. */
export interface KnownTarget {
  readonly connection?: LiveConnection;
  readonly stream?: StreamKey;
  /** Null when it is known that there is none. */
  readonly group?: string | null;
}

/** What to debug. */
export interface DebugTarget {
  readonly connection: LiveConnection;
  readonly stream: StreamKey;
  readonly group: string | undefined;
}

/** How many streams are offered to choose from. */
const maxStreams = 1000;

/** Asks for what is not known of connection, stream and group; undefined when the person left. A lone choice is not asked. */
export async function askTarget(
  known: KnownTarget,
  { connections, l10n }: { readonly connections: ConnectionRegistry; readonly l10n: Localizer },
): Promise<DebugTarget | undefined> {
  const title = l10n.t('Debug Sample Worker');
  const connection = known.connection ?? (await askConnection(connections.list(), title, l10n));
  if (!connection) return undefined;
  await connection.connect();
  const stream = known.stream ?? (await askStream(connection, title, l10n));
  if (stream === undefined) return undefined;
  if (known.group !== undefined) return { connection, stream, group: known.group ?? undefined };
  const group = await askGroup(connection, stream, title, l10n);
  return group === undefined ? undefined : { connection, stream, group: group ?? undefined };
}

async function askConnection(
  all: readonly LiveConnection[],
  title: string,
  l10n: Localizer,
): Promise<LiveConnection | undefined> {
  const [only] = all;
  if (all.length < 2) return only;
  return pickOne(
    title,
    l10n.t('Choose a connection'),
    all.map((connection) => ({
      label: displayText(connection.profile.name),
      description: connection.profile.environment,
      icon: { id: 'server-environment', color: environmentColor(connection.profile.environment) },
      value: connection,
    })),
  );
}

async function askStream(connection: LiveConnection, title: string, l10n: Localizer): Promise<StreamKey | undefined> {
  const keys = await connection.read(
    async (inspect) => {
      const found = new Set<StreamKey>();
      let cursor = '0';
      do {
        const page = await inspect.scanStreams(cursor, { count: 1000 });
        for (const key of page.keys) found.add(key);
        cursor = page.cursor;
      } while (cursor !== '0' && found.size < maxStreams);
      return [...found].sort();
    },
    { lane: 'bulk' },
  );
  return pickOne(
    title,
    l10n.t('Choose a stream of {0}', displayText(connection.profile.name)),
    keys.map((key) => ({ label: displayText(key), icon: { id: 'layers' }, value: key })),
  );
}

async function askGroup(
  connection: LiveConnection,
  stream: StreamKey,
  title: string,
  l10n: Localizer,
): Promise<string | null | undefined> {
  const groups = await connection.read((inspect) => inspect.groupInfos(stream));
  const [only] = groups;
  if (groups.length < 2) return only?.name ?? null;
  return pickOne<string | null>(title, l10n.t('Beside which group? It is not touched.'), [
    ...groups.map(({ name }) => ({
      label: displayText(name),
      detail: l10n.t('Gets what this group has not been given yet, in a group of its own'),
      icon: { id: 'organization' },
      value: name,
    })),
    {
      label: l10n.t('No group'),
      detail: l10n.t('Gets new entries only'),
      icon: { id: 'circle-slash' },
      value: null,
    },
  ]);
}
