import { list, number, pendingRow, pendingRows, refusal, string, text, take } from './lua';
import { record } from './lua';
import type { PendingRow } from './lua';
import type { LuaValue, Twin, TwinWorld } from './twin';

/** `guardedAcknowledge`. */
export const guardedAcknowledgeTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  const group = argv[0] ?? '';
  const results: LuaValue[] = [];
  for (let at = 1; at < argv.length; at += 5) {
    const id = argv[at + 4] ?? '';
    const refused = refusal(world, pendingRow(world, group, id), at);
    if (!refused) call('XACK', key, group, id);
    results.push(refused ?? ['acknowledged']);
  }
  return results;
};

/** `guardedClaim`. */
export const guardedClaimTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  const [group = '', wanted = '', count = '', idle = ''] = argv;
  const results: LuaValue[] = [];
  for (let at = 4; at < argv.length; at += 5) {
    const id = argv[at + 4] ?? '';
    const row = pendingRow(world, group, id);
    const refused = refusal(world, row, at);
    if (refused || !row) {
      results.push(refused ?? ['not-pending']);
      continue;
    }
    const consumer = wanted === '*' ? row.owner : wanted.slice(1);
    const command: (string | number)[] = ['XCLAIM', key, group, consumer, 0, id];
    if (idle !== '*') command.push('IDLE', idle);
    if (count !== 'increment') {
      if (count !== 'keep') command.push('RETRYCOUNT', count);
      command.push('JUSTID');
    }
    results.push([list(call(...command)).length === 0 ? 'gone' : 'claimed']);
  }
  return results;
};

/** `handOver`. */
export const handOverTwin: Twin = ({ call, keys, argv }) => {
  const [key = ''] = keys;
  const [group = '', from = '', to = '', minIdle = '', start = '', count = ''] = argv;
  const rows = pendingRows(call('XPENDING', key, group, start, '+', count, from));
  let [moved, gone, kept] = [0, 0, 0];
  for (const { id, idle } of rows) {
    if (idle >= 0 && idle < number(minIdle)) {
      kept += 1;
      continue;
    }
    const claimed = call('XCLAIM', key, group, to, 0, id, 'IDLE', text(Math.max(idle, 0)), 'JUSTID');
    if (list(claimed).length === 0) gone += 1;
    else moved += 1;
  }
  return [moved, gone, kept, rows.length < number(count) ? '' : (rows[rows.length - 1]?.id ?? '')];
};

/** `reapConsumer`. */
export const reapConsumerTwin: Twin = ({ call, keys, argv }) => {
  const [key = ''] = keys;
  const [group = '', name = '', minIdle = ''] = argv;
  for (const consumer of list(call('XINFO', 'CONSUMERS', key, group)).map(record)) {
    if (consumer.get('name') !== name) continue;
    const pending = number(consumer.get('pending'));
    const idle = number(consumer.get('idle'));
    if (pending > 0) return ['has-pending', pending];
    if (idle < number(minIdle)) return ['too-fresh', idle];
    call('XGROUP', 'DELCONSUMER', key, group, name);
    return ['reaped'];
  }
  return ['missing'];
};

/** `notOwned(id)`: why this consumer may not settle the entry, or its row. */
function owned({ call, keys, argv }: TwinWorld, id: string): { readonly refused: LuaValue[] } | PendingRow {
  const [group = '', consumer = ''] = argv;
  const row = pendingRows(call('XPENDING', keys[0] ?? '', group, id, id, 1))[0];
  if (!row) return { refused: ['not-pending'] };
  return row.owner === consumer ? row : { refused: ['owner-changed', row.owner] };
}

/** `retryLater`. */
export const retryLaterTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [group = '', consumer = ''] = argv;
  const results: LuaValue[] = [];
  for (let at = 2; at < argv.length; at += 2) {
    const id = argv[at] ?? '';
    const row = owned(world, id);
    if ('refused' in row) results.push(row.refused);
    else {
      const claimed = call('XCLAIM', keys[0] ?? '', group, consumer, 0, id, 'IDLE', argv[at + 1] ?? '', 'JUSTID');
      results.push([list(claimed).length === 0 ? 'gone' : 'done']);
    }
  }
  return results;
};

/** `release`. */
export const releaseTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [group = '', consumer = '', idle = ''] = argv;
  const results: LuaValue[] = [];
  for (const id of argv.slice(3)) {
    const row = owned(world, id);
    if ('refused' in row) {
      results.push(row.refused);
      continue;
    }
    const { count } = row;
    const isCounted = count > 0 && count < 9007199254740992;
    const retryCount = isCounted ? ['RETRYCOUNT', text(count - 1)] : [];
    const claimed = call('XCLAIM', keys[0] ?? '', group, consumer, 0, id, 'IDLE', idle, ...retryCount, 'JUSTID');
    results.push([list(claimed).length === 0 ? 'gone' : 'done']);
  }
  return results;
};

/** `heartbeat`. */
export const heartbeatTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [group = '', consumer = ''] = argv;
  const lost: LuaValue[] = [];
  const kept: string[] = [];
  for (const id of argv.slice(2)) {
    const row = owned(world, id);
    if ('refused' in row) lost.push([row.refused[0] ?? false, id, ...row.refused.slice(1)]);
    else kept.push(id);
  }
  for (let from = 0; from < kept.length; from += 500) {
    const ids = kept.slice(from, from + 500);
    const claimed = new Set(list(call('XCLAIM', keys[0] ?? '', group, consumer, 0, ...ids, 'JUSTID')).map(string));
    for (const id of ids) if (!claimed.has(id)) lost.push(['gone', id]);
  }
  return lost;
};

interface Piles {
  readonly taken: LuaValue[];
  readonly spent: LuaValue[];
  readonly gone: LuaValue[];
}

function takeInto(world: TwinWorld, piles: Piles, row: PendingRow, maxDeliveries: number): void {
  const [group = '', consumer = ''] = world.argv;
  const { state, value } = take(world, group, consumer, row, maxDeliveries);
  if (state === 'taken') piles.taken.push(value);
  else if (state === 'over') piles.spent.push(value);
  else piles.gone.push(value);
}

/** Goes through rows until `limit` were worked on, and answers how far it came. */
function page(
  rows: readonly PendingRow[],
  scan: number,
  limit: number,
  isWanted: (row: PendingRow) => boolean,
  work: (row: PendingRow) => void,
): string {
  let scanned = '';
  let done = 0;
  for (const row of rows) {
    if (done >= limit) break;
    scanned = row.id;
    if (!isWanted(row)) continue;
    done += 1;
    work(row);
  }
  const isEnd = rows.length < scan && (rows.length === 0 || scanned === rows[rows.length - 1]?.id);
  return isEnd ? '' : scanned;
}

/** `reclaim`. */
export const reclaimTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [group = '', , maxDeliveries, minIdle, from = '', scan, limit] = argv;
  const busy = new Set(argv.slice(7));
  const piles: Piles = { taken: [], spent: [], gone: [] };
  const rows = pendingRows(call('XPENDING', keys[0] ?? '', group, from, '+', number(scan)));
  const scanned = page(
    rows,
    number(scan),
    number(limit),
    ({ id, idle }) => (idle < 0 || idle >= number(minIdle)) && !busy.has(id),
    (row) => {
      takeInto(world, piles, row, number(maxDeliveries));
    },
  );
  return [scanned, piles.taken, piles.spent, piles.gone];
};

/** `claimDue`. */
export const claimDueTwin: Twin = (world) => {
  const { argv } = world;
  const [group = '', , maxDeliveries, minIdle] = argv;
  const piles: Piles = { taken: [], spent: [], gone: [] };
  for (const id of argv.slice(4)) {
    const row = pendingRow(world, group, id);
    if (row && (row.idle < 0 || row.idle >= number(minIdle))) takeInto(world, piles, row, number(maxDeliveries));
  }
  return [piles.taken, piles.spent, piles.gone];
};

/** `recoverOwn`. */
export const recoverOwnTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  const [group = '', consumer = '', maxDeliveries, countDelivery, from = '', scan, limit, minIdle] = argv;
  const busy = new Set(argv.slice(8));
  const piles: Piles = { taken: [], spent: [], gone: [] };
  const rows = pendingRows(call('XPENDING', key, group, from, '+', number(scan), consumer));
  const recover = (row: PendingRow): void => {
    if (countDelivery === '1' || row.idle >= number(minIdle)) {
      takeInto(world, piles, row, number(maxDeliveries));
      return;
    }
    const entry = list(call('XRANGE', key, row.id, row.id))[0];
    if (entry === undefined) {
      call('XACK', key, group, row.id);
      piles.gone.push(row.id);
      return;
    }
    call('XCLAIM', key, group, consumer, 0, row.id, 'JUSTID');
    const value: LuaValue = [row.id, text(row.count), text(row.idle), row.owner, list(entry)[1] ?? false];
    if (row.count > number(maxDeliveries)) piles.spent.push(value);
    else piles.taken.push(value);
  };
  const scanned = page(rows, number(scan), number(limit), ({ id }) => !busy.has(id), recover);
  return [scanned, piles.taken, piles.spent, piles.gone];
};
