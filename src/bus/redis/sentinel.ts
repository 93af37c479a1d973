import { BusError } from '../errors';
import { Link } from './link';
import type { LinkOptions } from './link';
import { ReplyReader } from './replies';
import { formatAddress } from './url';
import type { NodeAddress, RedisUrl } from './url';

/** Asks one Sentinel after the other for the address of the master; rejects when none of them knows it. */
export async function askSentinels(
  url: RedisUrl,
  common: Omit<LinkOptions, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<NodeAddress> {
  const masterName = url.masterName ?? '';
  let lastError: BusError | undefined;
  for (const sentinel of url.nodes) {
    try {
      return await askSentinel(sentinel, masterName, url, common, signal);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      if (error.reason === 'closed') throw error;
      lastError = error;
    }
  }
  const asked = url.nodes.map(formatAddress).join(', ');
  throw new BusError(
    lastError?.reason ?? 'connection-refused',
    `No Sentinel of ${asked} names the master "${masterName}": ${lastError?.message ?? 'none was given.'}`,
    {},
    { cause: lastError },
  );
}

async function askSentinel(
  sentinel: NodeAddress,
  masterName: string,
  url: RedisUrl,
  common: Omit<LinkOptions, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<NodeAddress> {
  const link = await Link.open(
    { ...common, ...sentinel, db: 0, username: url.sentinelUsername, password: url.sentinelPassword },
    signal,
  );
  try {
    const call = { command: 'SENTINEL GET-MASTER-ADDR-BY-NAME', args: [masterName] };
    const reply = await link.call(call);
    if (reply === null)
      throw new BusError('no-key', `${link.peer} watches no master of that name. Check the name in the URL.`);
    const replies = new ReplyReader(call);
    const [host, port] = replies.list(reply);
    return { host: replies.text(host), port: replies.count(port) };
  } finally {
    link.close();
  }
}
