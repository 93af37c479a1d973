import { removeGroup } from '../../bus';
import type { ConsumerName, GroupName, StreamKey } from '../../bus';
import type { Verb } from './verb';

/** A group that a debug session made for itself, and its consumers there. */
export interface RemoveDebugGroup {
  readonly stream: StreamKey;
  readonly group: GroupName;
  /** Of earlier and present sessions of this user; anybody else in the group keeps it. */
  readonly consumers: readonly ConsumerName[];
}

/** A session that is paused beats every second; a consumer that was not seen for this long is gone. */
const goneAfterMs = 10_000;

/** Removes what a debug session that could not do it itself left behind; the entries of the stream stay. */
export const removeDebugGroup: Verb<RemoveDebugGroup> = {
  name: 'removeDebugGroup',
  risk: 'harmless',
  target: 'worker',
  targetOf: ({ stream, group }) => ({ stream, group }),
  preview: async (port, { stream, group }) => {
    const [{ hasScripts }, type] = await Promise.all([port.capabilities(), port.typeOf(stream)]);
    const groups = type === 'stream' ? await port.groupInfos(stream) : [];
    return {
      items: groups.some(({ name }) => name === group) ? [{ id: 'new' }] : [],
      skipped: [],
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts,
      ...(hasScripts ? {} : { obstacle: { kind: 'needs-scripts' } as const }),
    };
  },
  run: async (port, { stream, group, consumers }) => {
    const result = await port.run(removeGroup, { stream, group, consumers, minIdleMs: goneAfterMs });
    return result.status === 'removed'
      ? [{ id: 'new', outcome: 'done', status: 'removed' }]
      : [{ id: 'new', outcome: 'refused', status: 'in-use', detail: result.consumer }];
  },
  cli: ({ stream, group }) => [['XGROUP', 'DESTROY', stream, group]],
  recheck: async (port, { stream, group }) => {
    const groups = await port.groupInfos(stream);
    return [groups.some(({ name }) => name === group) ? 'still there' : 'removed'];
  },
  undo: () => undefined,
  logged: ({ consumers }) => ({ consumers: consumers.length }),
};
