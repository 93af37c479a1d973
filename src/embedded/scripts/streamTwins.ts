import { ReplyError } from '../reply';
import { groupRecords, isBefore, list, number, string, typeOf } from './lua';
import type { LuaValue, Twin, TwinWorld } from './twin';

/** `deleteEntries`. */
export const deleteEntriesTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  if (call('EXISTS', key) === 0) return argv.map(() => ['missing']);
  const groups = groupRecords(world, key);
  const remove = (id: string): LuaValue => {
    if (list(call('XRANGE', key, id, id)).length === 0) return ['missing'];
    for (const group of groups) {
      const name = string(group.get('name'));
      if (isBefore(string(group.get('last-delivered-id')), id)) return ['unread', name];
      if (list(call('XPENDING', key, name, id, id, 1)).length > 0) return ['pending', name];
    }
    call('XDEL', key, id);
    return ['deleted'];
  };
  return argv.map(remove);
};

/** `acknowledgeDelete`. */
export const acknowledgeDeleteTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  const [group = '', hasAckDelete, ...ids] = argv;
  let [acknowledged, deleted] = [0, 0];
  if (hasAckDelete === '1') {
    for (const result of list(call('XACKDEL', key, group, 'ACKED', 'IDS', ids.length, ...ids))) {
      if (result === 1) deleted += 1;
      if (result !== -1) acknowledged += 1;
    }
    return [acknowledged, deleted];
  }
  if (call('EXISTS', key) === 0) return [0, 0];
  const groups = groupRecords(world, key);
  const isNeeded = (id: string): boolean =>
    groups.some(
      (one) =>
        isBefore(string(one.get('last-delivered-id')), id) ||
        list(call('XPENDING', key, string(one.get('name')), id, id, 1)).length > 0,
    );
  for (const id of ids) {
    if (call('XACK', key, group, id) !== 1) continue;
    acknowledged += 1;
    if (!isNeeded(id)) deleted += number(call('XDEL', key, id));
  }
  return [acknowledged, deleted];
};

interface Bound {
  readonly id: string;
  readonly isInclusive: boolean;
  readonly holder: string;
}

/** `safeTrim`. */
export const safeTrimTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  const [policy, wish = '', stepText] = argv;
  if (call('EXISTS', key) === 0) return ['trimmed', 0, 0];
  const bound = lowestNeeded(world, key);
  if (!bound) return ['no-groups'];
  const mustStay = (id: string): boolean => (bound.isInclusive ? !isBefore(id, bound.id) : isBefore(bound.id, id));
  const byLength = policy === 'maxlen';
  const step = number(stepText);
  const excess = (): number => (byLength ? number(call('XLEN', key)) - number(wish) : Infinity);
  let removed = 0;
  const limit = excess();
  if (limit > 200) {
    const edge = !byLength && isBefore(wish, bound.id) ? wish : bound.id;
    removed = trimNodes(world, key, edge, byLength ? Math.min(limit, 100000) : 100000);
  }
  const wanted = Math.min(excess(), step);
  let held: string | undefined;
  const ids: string[] = [];
  if (wanted > 0) {
    for (const entry of list(call('XRANGE', key, '-', '+', 'COUNT', wanted))) {
      const id = string(list(entry)[0]);
      if (!byLength && !isBefore(id, wish)) break;
      if (mustStay(id)) {
        held = id;
        break;
      }
      ids.push(id);
    }
    for (let from = 0; from < ids.length; from += 500)
      removed += number(call('XDEL', key, ...ids.slice(from, from + 500)));
  }
  const more = held === undefined && ids.length === step && excess() > 0 ? 1 : 0;
  return held === undefined ? ['trimmed', removed, more] : ['trimmed', removed, more, bound.holder, held];
};

function lowestNeeded(world: TwinWorld, key: string): Bound | undefined {
  let bound: Bound | undefined;
  for (const group of groupRecords(world, key)) {
    const holder = string(group.get('name'));
    const first = list(world.call('XPENDING', key, holder))[1] ?? false;
    const isInclusive = first !== false;
    const id = string(isInclusive ? first : group.get('last-delivered-id'));
    if (!bound || isBefore(id, bound.id) || (id === bound.id && isInclusive && !bound.isInclusive))
      bound = { id, isInclusive, holder };
  }
  return bound;
}

function trimNodes({ call }: TwinWorld, key: string, edge: string, limit: number): number {
  try {
    return number(call('XTRIM', key, 'MINID', '~', edge, 'LIMIT', limit));
  } catch (error) {
    if (error instanceof ReplyError) return 0;
    throw error;
  }
}

/** `publishDeduplicated`. */
export const publishDeduplicatedTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [stream = '', marker = ''] = keys;
  const known = call('GET', marker);
  if (known !== false) return ['duplicate', known];
  const found = typeOf(world, stream);
  if (found !== 'none' && found !== 'stream') return ['wrong-type', found];
  if (found === 'none' && argv[1] === '0') return ['no-stream'];
  const words = number(argv[2]);
  const id = string(call('XADD', stream, ...argv.slice(3, 3 + words), '*', ...argv.slice(3 + words)));
  call('SET', marker, id, 'PX', argv[0] ?? '');
  return ['published', id];
};
