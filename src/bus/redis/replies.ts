/**
 * Typed readers of raw replies: integers are decimal strings, strings are Buffers, maps flat lists of name and value (of RESP2, and
 * of RESP3 as ioredis flattens it). XINFO is read by name, since its order differs between versions. Every reader throws a BusError
 * of reason `protocol` for any other shape.
 */
import { bytesToText } from '../../base/byteText';
import type {
  ConsumerInfo,
  DeliveredEntry,
  Entry,
  EntryFields,
  GroupInfo,
  PendingEntry,
  PendingSummary,
  StreamInfo,
} from '../entries';
import type { BusError } from '../errors';
import { consumerName, groupName, isEntryId } from '../ids';
import type { EntryId } from '../ids';
import type { AutoClaimReply } from '../port';
import type { RawReply } from '../scripts/script';
import { replyError, shapeError } from './replyErrors';
import type { CommandContext } from './replyErrors';

/** The readers of one command's reply; `context` names the command in errors. */
export class ReplyReader {
  constructor(private readonly context: CommandContext) {}

  /** An integer; counts above 2^53 become the nearest double. */
  count(reply: unknown): number {
    const text = Buffer.isBuffer(reply) ? reply.toString('latin1') : reply;
    if (typeof text !== 'string' || !/^-?\d+$/.test(text)) throw this.shape('an integer');
    return Number(text);
  }

  text(reply: unknown): string {
    return bytesToText(this.bytes(reply));
  }

  bytes(reply: unknown): Buffer {
    if (!Buffer.isBuffer(reply)) throw this.shape('a string');
    return reply;
  }

  list(reply: unknown): readonly unknown[] {
    if (!Array.isArray(reply)) throw this.shape('an array');
    return reply;
  }

  id(reply: unknown): EntryId {
    const text = Buffer.isBuffer(reply) ? reply.toString('latin1') : '';
    if (!isEntryId(text)) throw this.shape('an entry id');
    return text;
  }

  /** `[id, [name, value, …]]`, or with a null body where the message is gone. */
  delivered(reply: unknown): DeliveredEntry {
    const parts = this.list(reply);
    const id = this.id(parts[0]);
    const fields = parts[1] === null ? null : this.fields(parts[1]);
    if (parts.length < 4) return { id, fields };
    return { id, fields, before: { idleMs: this.count(parts[2]), deliveryCount: this.count(parts[3]) } };
  }

  entry(reply: unknown): Entry {
    const { id, fields } = this.delivered(reply);
    if (fields === null) throw this.shape('an entry with a body');
    return { id, fields };
  }

  /** XRANGE and XREVRANGE; some servers answer null for no entries. */
  entries(reply: unknown): readonly Entry[] {
    return reply === null ? [] : this.list(reply).map((entry) => this.entry(entry));
  }

  /** XREAD and XREADGROUP of one stream: null, `[[key, entries]]`, or the map `[key, entries]`. */
  deliveredOfOneStream(reply: unknown): readonly DeliveredEntry[] {
    if (reply === null) return [];
    const streams = this.list(reply);
    const [, entries] = Array.isArray(streams[0]) ? this.list(streams[0]) : streams;
    return entries === undefined ? [] : this.list(entries).map((entry) => this.delivered(entry));
  }

  /**
   * XAUTOCLAIM. Servers before 7.0 answer two elements and null for each entry whose message is gone, without its id;
   * `lostBodies` counts those.
   */
  autoClaim(reply: unknown): AutoClaimReply & { readonly lostBodies: number } {
    const [cursor, claimed, deleted] = this.list(reply);
    const entries = this.list(claimed);
    const present = entries.filter((entry) => entry !== null);
    return {
      cursor: this.id(cursor),
      entries: present.map((entry) => this.delivered(entry)),
      deletedIds: deleted === undefined ? [] : this.list(deleted).map((id) => this.id(id)),
      lostBodies: entries.length - present.length,
    };
  }

  /** XCLAIM: ids, or entries of which only the ids are kept; null where an old server no longer has the message. */
  claimedIds(reply: unknown): readonly EntryId[] {
    return this.list(reply)
      .filter((entry) => entry !== null)
      .map((entry) => this.id(Array.isArray(entry) ? (entry as unknown[])[0] : entry));
  }

  pendingEntries(reply: unknown): readonly PendingEntry[] {
    return this.list(reply).map((row) => {
      const [id, consumer, idle, deliveries] = this.list(row);
      return {
        id: this.id(id),
        consumer: consumerName(this.text(consumer)),
        idleMs: this.count(idle),
        deliveryCount: this.count(deliveries),
      };
    });
  }

  pendingSummary(reply: unknown): PendingSummary {
    const [count, first, last, consumers] = this.list(reply);
    return {
      count: this.count(count),
      firstId: first === null ? null : this.id(first),
      lastId: last === null ? null : this.id(last),
      consumers: (consumers === null ? [] : this.list(consumers)).map((row) => {
        const [name, pending] = this.list(row);
        return { name: consumerName(this.text(name)), pending: this.count(pending) };
      }),
    };
  }

  streamInfo(reply: unknown): StreamInfo {
    const info = this.byName(reply);
    const optionalCount = this.ifTold(info, 'entries-added', (value) => ({ entriesAdded: this.count(value) }));
    const optionalId = this.ifTold(info, 'max-deleted-entry-id', (value) => ({ maxDeletedId: this.id(value) }));
    const entryOrNull = (name: string): Entry | null => {
      const value = info.get(name) ?? null;
      return value === null ? null : this.entry(value);
    };
    return {
      length: this.count(info.get('length')),
      groups: this.count(info.get('groups')),
      lastGeneratedId: this.id(info.get('last-generated-id')),
      firstEntry: entryOrNull('first-entry'),
      lastEntry: entryOrNull('last-entry'),
      ...optionalCount,
      ...optionalId,
    };
  }

  groupInfos(reply: unknown): readonly GroupInfo[] {
    return this.list(reply).map((row) => {
      const info = this.byName(row);
      const countOrNull = (value: unknown): number | null => (value === null ? null : this.count(value));
      return {
        name: groupName(this.text(info.get('name'))),
        consumers: this.count(info.get('consumers')),
        pending: this.count(info.get('pending')),
        lastDeliveredId: this.id(info.get('last-delivered-id')),
        ...this.ifTold(info, 'entries-read', (value) => ({ entriesRead: countOrNull(value) })),
        ...this.ifTold(info, 'lag', (value) => ({ lag: countOrNull(value) })),
      };
    });
  }

  consumerInfos(reply: unknown): readonly ConsumerInfo[] {
    return this.list(reply).map((row) => {
      const info = this.byName(row);
      return {
        name: consumerName(this.text(info.get('name'))),
        pending: this.count(info.get('pending')),
        idleMs: this.count(info.get('idle')),
        ...this.ifTold(info, 'inactive', (value) => ({ inactiveMs: this.count(value) })),
      };
    });
  }

  /** What a script may answer; an error inside of an array is thrown. */
  raw(reply: unknown): RawReply {
    if (reply === null || Buffer.isBuffer(reply)) return reply;
    if (typeof reply === 'string') return Number(reply);
    if (reply instanceof Error) throw replyError(reply.message, this.context);
    return this.list(reply).map((element) => this.raw(element));
  }

  /** A flat list of names and values. */
  byName(reply: unknown): ReadonlyMap<string, unknown> {
    const parts = this.list(reply);
    const found = new Map<string, unknown>();
    for (let index = 0; index + 1 < parts.length; index += 2) found.set(this.text(parts[index]), parts[index + 1]);
    return found;
  }

  shape(expected: string): BusError {
    return shapeError(this.context, expected);
  }

  private fields(reply: unknown): EntryFields {
    const fields = this.list(reply);
    if (fields.length % 2 !== 0) throw this.shape('a list of names and values');
    return fields.map((field) => this.bytes(field));
  }

  private ifTold<Part extends object>(
    info: ReadonlyMap<string, unknown>,
    name: string,
    read: (value: unknown) => Part,
  ): Partial<Part> {
    const value = info.get(name);
    return value === undefined ? {} : read(value);
  }
}
