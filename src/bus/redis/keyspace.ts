import { streamKey } from '../ids';
import type { StreamKey } from '../ids';
import { wire } from './commands';
import { ReplyReader } from './replies';
import type { Route } from './route';

/** One step of a scan; on a cluster the cursor also says which master is being scanned. */
export async function scanStreams(
  route: Route,
  cursor: string,
  { match, count, hasScanType }: { readonly match?: string; readonly count: number; readonly hasScanType: boolean },
): Promise<{ readonly cursor: string; readonly keys: readonly StreamKey[] }> {
  const masters = await route.masters();
  const { peer, position } = readCursor(cursor, masters);
  const call = {
    command: 'SCAN',
    args: [
      position,
      ...(match === undefined ? [] : ['MATCH', wire(match)]),
      'COUNT',
      String(count),
      ...(hasScanType ? ['TYPE', 'stream'] : []),
    ],
  };
  const replies = new ReplyReader(call);
  const [next, found] = replies.list(await route.callAt(peer, call));
  const keys = replies.list(found).map((key) => streamKey(replies.text(key)));
  return {
    cursor: nextCursor(replies.text(next), peer, masters),
    keys: hasScanType ? keys : await onlyStreams(route, peer, keys),
  };
}

async function onlyStreams(route: Route, peer: string, keys: readonly StreamKey[]): Promise<readonly StreamKey[]> {
  const replies = new ReplyReader({ command: 'TYPE' });
  const types = await Promise.all(
    keys.map(async (key) => replies.text(await route.callAt(peer, { command: 'TYPE', key, args: [wire(key)] }))),
  );
  return keys.filter((_, index) => types[index] === 'stream');
}

/** `0` starts; `position@host:port` goes on there. A master that is gone meanwhile is skipped: its keys are scanned elsewhere. */
function readCursor(cursor: string, masters: readonly string[]): { readonly peer: string; readonly position: string } {
  const at = cursor.indexOf('@');
  const peer = at < 0 ? undefined : cursor.slice(at + 1);
  const position = at < 0 ? cursor : cursor.slice(0, at);
  if (peer === undefined) return { peer: masters[0] ?? '', position };
  return masters.includes(peer) ? { peer, position } : { peer: masters.find((one) => one > peer) ?? '', position: '0' };
}

function nextCursor(position: string, peer: string, masters: readonly string[]): string {
  if (masters.length < 2) return position;
  if (position !== '0') return `${position}@${peer}`;
  const next = masters.find((one) => one > peer);
  return next === undefined ? '0' : `0@${next}`;
}
