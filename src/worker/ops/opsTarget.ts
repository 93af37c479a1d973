import { groupName, parseEntryId } from '../../bus';
import type { Bus, EntryId, GroupName, StreamKey } from '../../bus';
import { isEmbedded, openServer, readUrl } from '../app/openServer';
import { Settings } from '../app/settings';
import { defaultGroup, runsTopic } from '../runs/runsStream';
import { UsageError } from '../usageError';

/** The flags of every command that operates a stream. */
export const opsFlags = ['url', 'env', 'stream', 'group'] as const;

/** What a command works on. */
export interface OpsTarget {
  readonly bus: Bus;
  readonly stream: { readonly exact: StreamKey };
  readonly group: GroupName;
  readonly isJson: boolean;
  readonly settings: Settings;
}

/** Runs a command on the stream that its arguments name, and closes the connection after it. */
export async function withTarget(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  flags: { readonly valued?: readonly string[]; readonly plain?: readonly string[]; readonly words?: boolean },
  run: (target: OpsTarget) => Promise<number>,
  check: (settings: Settings) => void = () => undefined,
): Promise<number> {
  const settings = new Settings(args, env, {
    valued: [...opsFlags, ...(flags.valued ?? [])],
    plain: ['json', ...(flags.plain ?? [])],
    words: flags.words ?? false,
  });
  const url = readUrl(settings, args);
  if (isEmbedded(url))
    throw new UsageError('--url embedded:// is an engine of this process, and it is empty: name a server');
  check(settings);
  const server = openServer(url, settings.text('env') ?? 'dev', 'redis-streams-ops');
  try {
    const exact = (settings.text('stream') ?? server.bus.keyOf(runsTopic)) as StreamKey;
    return await run({
      bus: server.bus,
      stream: { exact },
      group: groupName(settings.text('group') ?? defaultGroup),
      isJson: settings.has('json'),
      settings,
    });
  } finally {
    await server.close();
  }
}

/** Reads an entry id that was given on the command line. */
export function readEntryId(text: string | undefined, what: string): EntryId {
  const id = text === undefined ? undefined : parseEntryId(text);
  if (id === undefined) throw new UsageError(`${what}: expected an entry id such as 1700000000000-0`);
  return id;
}
