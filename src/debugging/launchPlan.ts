import { randomBytes } from 'node:crypto';
import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { ConsumerName, EntryId, GroupInfo, GroupName, StreamKey } from '../bus';
import type { LiveConnection } from '../connections/liveConnection';
import type { LaunchGrant } from '../connections/verbs/launchWorker';
import { debugGroupName, userName } from './debugGroups';
import type { DebugGroups } from './debugGroups';
import type { WorkerConfiguration } from './workerConfiguration';

/** A launch that was checked against the server: what the worker will do, and to what. */
export interface LaunchPlan {
  readonly grant: LaunchGrant;
  /** Where a group that the worker makes starts. */
  readonly from: EntryId | '0' | '$';
  /** Set when the group is the session's own: consumers of earlier sessions in it. */
  readonly formerConsumers: readonly ConsumerName[] | undefined;
}

/** A launch that cannot be; the message starts with the attribute that must change. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';

  constructor(
    readonly attribute: string,
    message: string,
  ) {
    super(message);
  }

  static is(error: unknown): error is LaunchError {
    return error instanceof LaunchError;
  }
}

/** How many names are tried for a session's own group: as many sessions of one user beside one group. */
const maxNames = 9;

/** A session that is paused beats every second; a consumer that was not seen for this long is gone. */
const goneAfterMs = 10_000;

/** Reads what a launch needs to know and decides; writes nothing. */
export async function planLaunch(
  connection: LiveConnection,
  configuration: WorkerConfiguration,
  {
    groups,
    isInUse,
    l10n,
  }: {
    readonly groups: DebugGroups;
    /** Whether a running session of this window has the group. */
    readonly isInUse: (stream: StreamKey, group: GroupName) => boolean;
    readonly l10n: Localizer;
  },
): Promise<LaunchPlan> {
  const stream = configuration.stream as StreamKey;
  const { id } = connection.profile;
  const { type, infos } = await connection.read(async (inspect) => {
    const found = await inspect.typeOf(stream);
    return { type: found, infos: found === 'stream' ? await inspect.groupInfos(stream) : [] };
  });
  if (type !== 'stream') {
    const name = displayText(connection.profile.name);
    const message =
      type === 'none'
        ? l10n.t('stream: {0} has no stream {1}.', name, displayText(stream))
        : l10n.t('stream: {1} on {0} is of type {2}, not a stream.', name, displayText(stream), type);
    throw new LaunchError('stream', message);
  }
  const consumer = (configuration.consumer ?? newConsumer()) as ConsumerName;
  const base = infos.find(({ name }) => name === configuration.group);
  if (configuration.mode === 'join') return join(configuration, { stream, consumer, base, l10n });
  const group = await freeName(configuration.group, async (name) => {
    if (isInUse(stream, name)) return false;
    if (!infos.some((info) => info.name === name)) return true;
    const former = groups.consumersOf({ connection: id, stream, group: name });
    if (!former) return false;
    const consumers = await connection.read((inspect) => inspect.consumerInfos(stream, name));
    return consumers.every(({ name: other, idleMs }) => former.includes(other) && idleMs >= goneAfterMs);
  });
  if (group === undefined)
    throw new LaunchError('group', l10n.t('group: too many debug groups of yours are in use beside it.'));
  return {
    grant: { stream, group, consumer, mayCreateGroup: true, mayReclaim: false, mayDeadLetter: false },
    from: startOf(configuration, base),
    formerConsumers: groups.consumersOf({ connection: id, stream, group }) ?? [],
  };
}

function join(
  { group = '', allow }: WorkerConfiguration,
  {
    stream,
    consumer,
    base,
    l10n,
  }: {
    readonly stream: StreamKey;
    readonly consumer: ConsumerName;
    readonly base: GroupInfo | undefined;
    readonly l10n: Localizer;
  },
): LaunchPlan {
  if (!base && !allow.createGroup)
    throw new LaunchError(
      'group',
      l10n.t(
        'group: {0} has no group {1}. Name one that is there, or let "allow" hold createGroup.',
        displayText(stream),
        displayText(group),
      ),
    );
  const { createGroup, reclaim, deadLetter, journal } = allow;
  return {
    grant: {
      stream,
      group: group as GroupName,
      consumer,
      mayCreateGroup: createGroup,
      mayReclaim: reclaim,
      mayDeadLetter: deadLetter,
      mayJournal: journal,
    },
    from: '$',
    formerConsumers: undefined,
  };
}

async function freeName(
  group: string | undefined,
  isFree: (name: GroupName) => Promise<boolean>,
): Promise<GroupName | undefined> {
  const first = debugGroupName(group);
  for (let number = 1; number <= maxNames; number += 1) {
    const name = (number === 1 ? first : `${first}-${number}`) as GroupName;
    if (await isFree(name)) return name;
  }
  return undefined;
}

function startOf({ from = 'group' }: WorkerConfiguration, base: GroupInfo | undefined): LaunchPlan['from'] {
  if (from === 'group') return base?.lastDeliveredId ?? '$';
  return from === '0' || from === '$' ? from : (from as EntryId);
}

function newConsumer(): string {
  return `vscode-${userName()}-${randomBytes(3).toString('hex')}`;
}
