import type { ConsumerName, GroupName, StreamKey } from '../../bus';
import type { Verb } from './verb';

/** What a launched worker may do; it is held to this by the worker itself. */
export interface LaunchGrant {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly mayCreateGroup: boolean;
  readonly mayReclaim: boolean;
  readonly mayDeadLetter: boolean;
  /** Write to the stream's delivery journal. */
  readonly mayJournal?: boolean;
  /** The worker reads a copy in a scratch stream, which it makes and removes. */
  readonly isScratch?: boolean;
}

/** Lets a worker run against a server. It writes nothing itself: the grant, logged, is what the launch is started with. */
export const launchWorker: Verb<LaunchGrant> = {
  name: 'launchWorker',
  risk: 'permanent',
  target: 'worker',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, { stream }) => {
    const [{ hasScripts }, type] = await Promise.all([port.capabilities(), port.typeOf(stream)]);
    const isOther = type !== 'none' && type !== 'stream';
    return {
      items: [{ id: 'new' }],
      skipped: [],
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts,
      ...(isOther ? { obstacle: { kind: 'wrong-type', stream, type } as const } : {}),
    };
  },
  run: () => Promise.resolve([{ id: 'new', outcome: 'done', status: 'granted' }]),
  cli: () => [],
  recheck: () => Promise.resolve(['not launched']),
  undo: () => undefined,
  logged: ({ consumer, mayCreateGroup, mayReclaim, mayDeadLetter, mayJournal = false, isScratch = false }) => ({
    consumer,
    mayCreateGroup,
    mayReclaim,
    mayDeadLetter,
    mayJournal,
    isScratch,
  }),
};
