import type { DeliveredEntry, Entry } from '../entries';
import { BusError } from '../errors';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type { StreamReader } from '../port';
import { readCall, readGroupCall } from './commands';
import type { Call, Link } from './link';
import { linkError } from './replyErrors';
import { ReplyReader } from './replies';
import type { Route } from './route';

/** How much longer than BLOCK the server may take before the connection counts as dead. */
const blockMarginMs = 5000;

/**
 * A dedicated connection for blocking reads. It is disposable: when it breaks, the read in flight rejects and the reader is over.
 * On a cluster it goes to the node that serves the key it reads, and follows the key when that moves.
 */
export class RedisReader implements StreamReader {
  private readonly closing = new AbortController();
  private link: Link | undefined;
  private linkedKey: StreamKey | undefined;
  private current: { readonly settled: Promise<void>; isSettled: boolean } | undefined;

  constructor(
    private readonly route: Route,
    private readonly onClose: (reader: RedisReader) => void,
  ) {}

  /** Connects to the server that serves the key, or to the only one. */
  async connect(key?: StreamKey): Promise<Link> {
    const link = await this.route.openLink(key, { signal: this.closing.signal, wantsId: true });
    if (this.closing.signal.aborted) link.close();
    this.link?.close();
    this.link = link;
    this.linkedKey = key;
    return link;
  }

  async readGroup(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly count: number; readonly blockMs: number; readonly claimMinIdleMs?: number },
  ): Promise<readonly DeliveredEntry[]> {
    const call = readGroupCall(key, group, consumer, options);
    return new ReplyReader(call).deliveredOfOneStream(await this.send(key, call, options.blockMs));
  }

  async read(
    key: StreamKey,
    after: EntryId,
    options: { readonly count: number; readonly blockMs: number },
  ): Promise<readonly Entry[]> {
    const call = readCall(key, after, options);
    const replies = new ReplyReader(call);
    return replies.deliveredOfOneStream(await this.send(key, call, options.blockMs)).map(({ id, fields }) => {
      if (fields === null) throw replies.shape('an entry with a body');
      return { id, fields };
    });
  }

  /**
   * CLIENT UNBLOCK may overtake the read on its way to the server and then finds nothing to unblock, so it is repeated until the
   * read has answered.
   */
  async interrupt(): Promise<void> {
    const { current } = this;
    while (current !== undefined && !current.isSettled) {
      if (this.link !== undefined) await this.unblock(this.link);
      await settledOrShortWait(current.settled);
    }
  }

  close(): void {
    this.closing.abort();
    this.link?.close();
    this.onClose(this);
  }

  private async send(key: StreamKey, call: Call, blockMs: number): Promise<unknown> {
    if (this.current !== undefined)
      throw new BusError('invalid-argument', 'This reader is reading already: one read at a time.', {
        command: call.command,
      });
    const reading = this.readOnce(key, call, blockMs);
    const current = { settled: reading.then(nothing, nothing), isSettled: false };
    this.current = current;
    try {
      return await reading;
    } finally {
      current.isSettled = true;
      this.current = undefined;
    }
  }

  private async readOnce(key: StreamKey, call: Call, blockMs: number): Promise<unknown> {
    if (this.closing.signal.aborted) throw linkError('closed', 'the reader was closed.', call, false);
    const link = this.link !== undefined && this.linkedKey === undefined ? this.link : await this.linkFor(key);
    link.setSocketTimeout(blockMs + blockMarginMs);
    try {
      return await link.call(call);
    } catch (error) {
      if (!(error instanceof BusError) || error.details.redirect === undefined) throw error;
      this.route.redirected(error);
      const next = await this.connect(key);
      next.setSocketTimeout(blockMs + blockMarginMs);
      return next.call(call);
    }
  }

  private async unblock(link: Link): Promise<void> {
    if (link.clientId === undefined)
      throw new BusError(
        'no-permission',
        'A blocked read cannot be interrupted: the server does not tell this user the id of the connection.',
        { command: 'CLIENT ID' },
      );
    await this.route.callAt(link.peer, { command: 'CLIENT UNBLOCK', args: [link.clientId] });
  }

  /** On a cluster the link goes to the node of one key. */
  private async linkFor(key: StreamKey): Promise<Link> {
    return this.link !== undefined && this.linkedKey === key ? this.link : this.connect(key);
  }
}

function nothing(): void {
  return undefined;
}

async function settledOrShortWait(settled: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 5);
  });
  await Promise.race([settled, wait]);
  clearTimeout(timer);
}
