import { bytesToText } from '../../base/byteText';
import type { EntryFields, StreamKey } from '../../bus';
import type { PlannedItem, Verb } from './verb';

/** A new entry. */
export interface PublishRequest {
  readonly stream: StreamKey;
  readonly fields: EntryFields;
  /** True only when people were told that the stream does not exist yet. */
  readonly makeStream: boolean;
}

/** The entry that would be published. */
export interface PublishItem extends PlannedItem {
  readonly id: 'new';
  /** Whether XADD can be told not to make a stream; before 6.2 it cannot, and the preview has just seen that there is one. */
  readonly hasNoMakeStream: boolean;
}

/** Publishes a new entry. Never trims. */
export const publish: Verb<PublishRequest, PublishItem> = {
  name: 'publish',
  risk: 'permanent',
  target: 'stream',
  targetOf: ({ stream }) => ({ stream }),
  preview: async (port, { stream, makeStream }) => {
    const [{ hasScripts, hasExclusiveRanges: hasNoMakeStream }, type] = await Promise.all([
      port.capabilities(),
      port.typeOf(stream),
    ]);
    const common = {
      items: [{ id: 'new', hasNoMakeStream }] as const,
      skipped: [],
      isCut: false,
      recent: none,
      hasScripts,
    };
    if (type === 'none')
      return { ...common, receivers: [], ...(makeStream ? {} : { obstacle: { kind: 'no-stream', stream } }) };
    if (type !== 'stream') return { ...common, receivers: [], obstacle: { kind: 'wrong-type', stream, type } };
    return { ...common, receivers: (await port.groupInfos(stream)).map(({ name }) => name) };
  },
  run: async (port, { stream, fields, makeStream }, [item]) => {
    const options = makeStream || item?.hasNoMakeStream !== true ? {} : { makeStream: false };
    const id = await port.add(stream, fields, options);
    if (id === null) return [{ id: 'new', outcome: 'refused', status: 'no-stream' }];
    return [{ id: 'new', outcome: 'done', status: 'published', newId: id }];
  },
  cli: ({ stream, fields, makeStream }, [item]) => [
    [
      'XADD',
      stream,
      ...(makeStream || item?.hasNoMakeStream !== true ? [] : ['NOMKSTREAM']),
      '*',
      ...fields.map((value) => bytesToText(value)),
    ],
  ],
  recheck: async (port, { stream, fields }, items) => {
    const newest = await port.range(stream, { from: 'min', to: 'max', count: 100, reverse: true });
    const same = newest.filter((entry) => isSame(entry.fields, fields));
    return items.map(() =>
      same.length === 0 ? 'not among the newest entries' : `an equal entry is ${same[0]?.id ?? ''}`,
    );
  },
  undo: () => undefined,
  logged: ({ fields, makeStream }) => ({
    fields: fields.length / 2,
    bytes: fields.reduce((sum, value) => sum + value.length, 0),
    makeStream,
  }),
};

const none = { count: 0, latestMs: undefined } as const;

function isSame(a: EntryFields, b: EntryFields): boolean {
  return a.length === b.length && a.every((value, index) => b[index]?.equals(value) === true);
}
