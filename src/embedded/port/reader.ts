import type { DeliveredEntry, Entry } from '../../bus/entries';
import { BusError } from '../../bus/errors';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../../bus/ids';
import type { StreamReader } from '../../bus/port';
import { readCall, readGroupCall } from '../../bus/redis/commands';
import type { Call } from '../../bus/redis/link';
import { ReplyReader } from '../../bus/redis/replies';
import type { EmbeddedLink } from './link';

/** A reader over a connection of its own to the engine. */
export class EmbeddedReader implements StreamReader {
  private isReading = false;

  constructor(
    private readonly link: EmbeddedLink,
    private readonly onClose: (reader: EmbeddedReader) => void,
  ) {}

  async readGroup(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly count: number; readonly blockMs: number; readonly claimMinIdleMs?: number },
  ): Promise<readonly DeliveredEntry[]> {
    const call = readGroupCall(key, group, consumer, options);
    return new ReplyReader(call).deliveredOfOneStream(await this.send(call));
  }

  async read(
    key: StreamKey,
    after: EntryId,
    options: { readonly count: number; readonly blockMs: number },
  ): Promise<readonly Entry[]> {
    const call = readCall(key, after, options);
    const replies = new ReplyReader(call);
    return replies.deliveredOfOneStream(await this.send(call)).map(({ id, fields }) => {
      if (fields === null) throw replies.shape('an entry with a body');
      return { id, fields };
    });
  }

  async interrupt(): Promise<void> {
    this.link.interrupt();
    return Promise.resolve();
  }

  close(): void {
    this.link.close();
    this.onClose(this);
  }

  private async send(call: Call): Promise<unknown> {
    if (this.isReading) {
      throw new BusError('invalid-argument', 'This reader is reading already: one read at a time.', {
        command: call.command,
      });
    }
    this.isReading = true;
    try {
      return await this.link.call(call);
    } finally {
      this.isReading = false;
    }
  }
}
