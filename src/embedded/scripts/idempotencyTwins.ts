import { number, text } from './lua';
import type { LuaValue, Twin, TwinWorld } from './twin';

function lease({ call, keys, argv }: TwinWorld): { key: string; value: LuaValue; mine: string } {
  const [key = ''] = keys;
  return { key, value: call('GET', key), mine: `lease:${argv[0] ?? ''}` };
}

/** `idempotencyBegin`. */
export const idempotencyBeginTwin: Twin = (world) => {
  const { call, argv } = world;
  const { key, value, mine } = lease(world);
  if (value === false || value === mine) {
    call('SET', key, mine, 'PX', argv[1] ?? '');
    return ['fresh'];
  }
  if (value === 'done') return ['done'];
  if (typeof value !== 'string' || !value.startsWith('lease:')) return ['foreign'];
  return ['busy', text(number(call('PTTL', key)))];
};

/** `idempotencyComplete`. */
export const idempotencyCompleteTwin: Twin = (world) => {
  const { call, argv } = world;
  const { key, value, mine } = lease(world);
  if (value !== false && value !== mine && value !== 'done') return 0;
  call('SET', key, 'done', 'PX', argv[1] ?? '');
  return 1;
};

/** `idempotencyAbandon`. */
export const idempotencyAbandonTwin: Twin = (world) => {
  const { key, value, mine } = lease(world);
  return value === mine ? world.call('DEL', key) : 0;
};
