/** XINFO. */
import type { Args } from '../args';
import type { Group } from '../data/group';
import { sortByName } from '../data/group';
import type { Stream } from '../data/stream';
import { formatId, maxStreamId, minStreamId } from '../data/streamId';
import { readEntries } from '../delivery';
import type { Engine } from '../engine';
import type { Reply } from '../reply';
import { EntryReply, MapReply, noSuchKey, replyError } from '../reply';
import type { Session } from '../session';
import type { CommandHandlers } from './command';
import { subcommandSyntaxError } from './groups';
import { helpReply } from './help';
import { requireInt } from './parse';

export const streamInfoCommands: CommandHandlers = {
  'xinfo|stream'(engine, session, args) {
    const stream = requireStream(engine, session, args);
    if (args.count === 3) return overview(stream);
    if ((args.count !== 4 && args.count !== 6) || !args.is(3, 'full')) throw subcommandSyntaxError(args);
    if (args.count === 4) return full(stream, 10);
    if (!args.is(4, 'count')) throw subcommandSyntaxError(args);
    const count = Number(requireInt(args, 5));
    return full(stream, count < 0 ? 10 : count);
  },
  'xinfo|groups': (engine, session, args) => {
    const stream = requireStream(engine, session, args);
    return sortByName(stream.groups.values()).map(
      (group) =>
        new MapReply([
          ...['name', group.name, 'consumers', group.consumers.size, 'pending', group.pending.size],
          ...['last-delivered-id', formatId(group.lastId), 'entries-read', group.entriesRead, 'lag', group.lag(stream)],
        ]),
    );
  },
  'xinfo|consumers': (engine, session, args) => {
    const group = requireStream(engine, session, args).groups.get(args.text(3));
    if (!group) {
      const names = `'${args.visibleText(3)}' for key name '${args.visibleText(2)}'`;
      throw replyError(`-NOGROUP No such consumer group ${names}`);
    }
    return group.sortedConsumers().map(({ name, pending, seenMs }) => {
      const idleMs = Math.max(0, engine.store.nowMs - seenMs);
      return new MapReply(['name', name, 'pending', pending.size, 'idle', idleMs]);
    });
  },
  'xinfo|help': () =>
    helpReply('XINFO', [
      'CONSUMERS <key> <groupname>',
      '    Show consumers of <groupname>.',
      'GROUPS <key>',
      '    Show the stream consumer groups.',
      'STREAM <key> [FULL [COUNT <count>]',
      '    Show information about the stream.',
    ]),
};

function requireStream(engine: Engine, session: Session, args: Args): Stream {
  const stream = engine.store.stream(session, args.text(2));
  if (!stream) throw noSuchKey();
  return stream;
}

function counters(stream: Stream): Reply[] {
  return [
    ...['length', stream.length, 'radix-tree-keys', stream.nodeCount, 'radix-tree-nodes', stream.radixTreeNodes],
    ...['last-generated-id', formatId(stream.lastId), 'max-deleted-entry-id', formatId(stream.maxDeletedId)],
    ...['entries-added', stream.entriesAdded, 'recorded-first-entry-id', formatId(stream.firstId)],
  ];
}

function overview(stream: Stream): Reply {
  const first = stream.first();
  const last = stream.last();
  return new MapReply([
    ...counters(stream),
    ...['groups', stream.groups.size],
    ...['first-entry', first ? new EntryReply(first.id, first.fields) : null],
    ...['last-entry', last ? new EntryReply(last.id, last.fields) : null],
  ]);
}

function full(stream: Stream, count: number): Reply {
  return new MapReply([
    ...counters(stream),
    ...['entries', readEntries(stream, minStreamId, maxStreamId, count)],
    ...['groups', sortByName(stream.groups.values()).map((group) => fullGroup(stream, group, count))],
  ]);
}

function fullGroup(stream: Stream, group: Group, count: number): Reply {
  const pending = take(group.pending.from(minStreamId), count, (entry) => [
    ...[formatId(entry), entry.consumer.name, entry.deliveredMs, entry.deliveryCount],
  ]);
  const consumers = group.sortedConsumers().map((consumer) => {
    const own = take(consumer.pending.from(minStreamId), count, (entry) => [
      ...[formatId(entry), entry.deliveredMs, entry.deliveryCount],
    ]);
    return new MapReply([
      ...['name', consumer.name, 'seen-time', consumer.seenMs],
      ...['pel-count', consumer.pending.size, 'pending', own],
    ]);
  });
  return new MapReply([
    ...['name', group.name, 'last-delivered-id', formatId(group.lastId), 'entries-read', group.entriesRead],
    ...['lag', group.lag(stream), 'pel-count', group.pending.size, 'pending', pending, 'consumers', consumers],
  ]);
}

function take<Item>(items: Iterable<Item>, count: number, row: (item: Item) => Reply): Reply[] {
  const rows: Reply[] = [];
  for (const item of items) {
    if (count !== 0 && rows.length >= count) break;
    rows.push(row(item));
  }
  return rows;
}
