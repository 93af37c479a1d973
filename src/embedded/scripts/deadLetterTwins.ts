import {
  fieldsOf,
  iso,
  isBefore,
  groupRecords,
  list,
  now,
  number,
  pendingRow,
  refusal,
  string,
  text,
  typeOf,
} from './lua';
import { ReplyError } from '../reply';
import type { LuaValue, Twin, TwinWorld } from './twin';

const maxFields = 7900;
const idPattern = /^[0-9]+-[0-9]+$/;

/** `deadLetter`. */
export const deadLetterTwin: Twin = (world) => {
  const { keys, argv } = world;
  const target = typeOf(world, keys[1] ?? '');
  if (target !== 'none' && target !== 'stream') return ['bad-target', target];
  const results: LuaValue[] = [];
  for (let at = 1; at < argv.length; at += 10) results.push(move(world, at));
  return ['done', results];
};

function move(world: TwinWorld, at: number): LuaValue {
  const { call, keys, argv } = world;
  const [source = '', dead = ''] = keys;
  const group = argv[0] ?? '';
  const [id = '', reason = '', errorType = '', errorMessage = '', consumer = '', deliveries = ''] = argv.slice(at + 4);
  const row = pendingRow(world, group, id);
  const refused = refusal(world, row, at);
  if (refused || !row) return refused ?? ['not-pending'];
  const fields = fieldsOf(world, source, id);
  if (!fields) return ['gone'];
  const former = takeReplayPairs(fields);
  if (fields.length > maxFields) return ['too-wide', text(fields.length / 2 + (former ? 2 : 0))];
  const count = deliveries === '*' ? text(row.count) : deliveries;
  const added = call(
    ...['XADD', dead, '*', ...fields],
    ...['dl.id', former?.first ?? id, 'dl.entry', id, 'dl.stream', source, 'dl.group', group],
    ...['dl.consumer', consumer === '*' ? row.owner : consumer.slice(1)],
    ...['dl.reason', reason, 'dl.error.type', errorType, 'dl.error.message', errorMessage],
    ...['dl.deliveries', count, 'dl.at', iso(now(world)), 'dl.replays', former?.replays ?? '0'],
  );
  call('XACK', source, group, id);
  return ['moved', added, count];
}

/** Takes the two pairs that a replay appends off the fields. */
function takeReplayPairs(fields: string[]): { readonly first: string; readonly replays: string } | undefined {
  if (fields.length < 4) return undefined;
  const [firstName, first = '', replaysName, replays = ''] = fields.slice(-4);
  const isPair = firstName === 'dl.id' && replaysName === 'dl.replays';
  if (!isPair || !idPattern.test(first) || !/^[1-9][0-9]*$/.test(replays) || replays.length > 15) return undefined;
  fields.length -= 4;
  return { first, replays };
}

const blockNames = [
  ...['dl.id', 'dl.entry', 'dl.stream', 'dl.group', 'dl.consumer', 'dl.reason', 'dl.error.type', 'dl.error.message'],
  ...['dl.deliveries', 'dl.at', 'dl.replays'],
];

/** `replay`. */
export const replayTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [dead = '', target = ''] = keys;
  const type = typeOf(world, target);
  if (type !== 'none' && type !== 'stream') return ['bad-target', type];
  if (type === 'none' && argv[0] === '0') return ['no-stream'];
  let groups: string[] | undefined;
  const results: LuaValue[] = [];
  let marker = 2;
  for (let at = 2; at < argv.length; marker += 1) {
    const id = argv[at] ?? '';
    const given = number(argv[at + 1]);
    const markerKey = keys[marker] ?? '';
    const stored = fieldsOf(world, dead, id);
    if (!stored) {
      const known = call('GET', markerKey);
      results.push(known === false ? ['gone'] : ['already-replayed', known]);
    } else {
      const fields = given > 0 ? argv.slice(at + 2, at + 2 + given) : stripped(id, stored);
      if (fields.length > maxFields) {
        results.push(['too-wide']);
      } else {
        const added = string(call('XADD', target, '*', ...fields));
        attempt(() => call('SET', markerKey, added, 'PX', argv[1] ?? ''));
        call('XDEL', dead, id);
        groups ??= groupRecords(world, dead).map((group) => string(group.get('name')));
        for (const name of groups) call('XACK', dead, name, id);
        results.push(['replayed', added]);
      }
    }
    at += 2 + given;
  }
  return ['done', results];
};

function stripped(id: string, fields: string[]): string[] {
  const n = fields.length;
  const block = n >= 22 ? fields.slice(-22) : [];
  const isBlock =
    block.length === 22 &&
    blockNames.every((name, index) => block[2 * index] === name) &&
    idPattern.test(block[1] ?? '') &&
    /^[0-9]+$/.test(block[21] ?? '') &&
    (block[21] ?? '').length <= 15;
  let first = id;
  let replays = 0;
  if (isBlock) {
    first = block[1] ?? '';
    replays = number(block[21]);
    fields.length -= 22;
  } else {
    const former = takeReplayPairs(fields);
    first = former?.first ?? id;
    replays = number(former?.replays ?? '0');
  }
  return [...fields, 'dl.id', first, 'dl.replays', text(replays + 1)];
}

/** `replayToGroup`. */
export const replayToGroupTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [deadKey = '', stream = ''] = keys;
  const [group = '', consumer = '', idle = ''] = argv;
  let lastDelivered: string | undefined;
  if (call('EXISTS', stream) === 1) {
    for (const row of groupRecords(world, stream))
      if (row.get('name') === group) lastDelivered = string(row.get('last-delivered-id'));
  }
  const back = (dead: string, id: string): LuaValue => {
    if (list(call('XRANGE', deadKey, dead, dead)).length === 0) return ['gone'];
    if (lastDelivered === undefined) return ['no-group'];
    if (list(call('XRANGE', stream, id, id)).length === 0) return ['original-gone'];
    const row = pendingRow(world, group, id, stream);
    if (row) return ['already-pending', row.owner];
    if (isBefore(lastDelivered, id)) return ['not-read-yet'];
    call('XCLAIM', stream, group, consumer, 0, id, 'IDLE', idle, 'RETRYCOUNT', 0, 'FORCE', 'JUSTID');
    call('XDEL', deadKey, dead);
    return ['returned'];
  };
  const results: LuaValue[] = [];
  for (let at = 3; at < argv.length; at += 2) results.push(back(argv[at] ?? '', argv[at + 1] ?? ''));
  return results;
};

/** redis.pcall: an error reply is a value that nobody looks at here. */
function attempt(call: () => LuaValue): LuaValue | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof ReplyError) return undefined;
    throw error;
  }
}
