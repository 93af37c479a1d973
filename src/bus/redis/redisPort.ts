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
import { BusError } from '../errors';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import type {
  AddOptions,
  AutoClaimReply,
  Capabilities,
  ClaimOptions,
  GroupStart,
  KeyspacePort,
  PendingQuery,
  RangeQuery,
  StreamPort,
  StreamReader,
  TrimPolicy,
} from '../port';
import type { Script, ScriptArgument } from '../scripts/script';
import { detectCapabilities, timeByInfo } from './capabilities';
import { addCall, claimCall, pendingCall, rangeCall, readGroupCall, trimCall, wire } from './commands';
import { scanStreams } from './keyspace';
import type { Call, Traffic } from './link';
import { RedisReader } from './reader';
import { ReplyReader } from './replies';
import { slotOf } from './slots';
import type { Route } from './route';
import { findTombstones } from './tombstones';
import { Transaction } from './transaction';

/** StreamPort and KeyspacePort over a route to real servers. Made by `connectRedis`. */
export class RedisPort implements StreamPort, KeyspacePort {
  private readonly readers = new Set<RedisReader>();
  private readonly knownScripts = new Set<string>();
  private known: Promise<Capabilities> | undefined;
  private mayAskTime = true;
  private isClosed = false;

  constructor(
    private readonly route: Route,
    /** What went over this port's connections, its readers included. */
    readonly traffic: Readonly<Traffic>,
  ) {}

  capabilities(): Promise<Capabilities> {
    this.known ??= this.askCapabilities();
    return this.known;
  }

  async serverTimeMs(key?: StreamKey): Promise<number> {
    const send = (call: Call): Promise<unknown> => this.route.call(key === undefined ? call : { ...call, key });
    if (this.mayAskTime) {
      try {
        const replies = new ReplyReader({ command: 'TIME' });
        const [seconds, micros] = replies.list(await send({ command: 'TIME', args: [] }));
        return replies.count(seconds) * 1000 + Math.floor(replies.count(micros) / 1000);
      } catch (error) {
        if (!BusError.is(error, 'no-permission') && !BusError.is(error, 'unknown-command')) throw error;
        this.mayAskTime = false;
      }
    }
    const timeMs = await timeByInfo(send);
    if (timeMs === undefined)
      throw new BusError(
        'no-permission',
        "The server's clock is not to be had: TIME is not permitted, and INFO does not tell it before Redis 6.2.",
        { command: 'TIME' },
      );
    return timeMs;
  }

  async add(key: StreamKey, fields: EntryFields, options: AddOptions = {}): Promise<EntryId | null> {
    const call = addCall(key, fields, options);
    const reply = await this.needing62(options.makeStream === false || options.trim?.minId !== undefined, call);
    return reply === null ? null : new ReplyReader(call).id(reply);
  }

  async range(key: StreamKey, query: RangeQuery): Promise<readonly Entry[]> {
    const call = rangeCall(key, query);
    return call === undefined ? [] : new ReplyReader(call).entries(await this.route.call(call));
  }

  length(key: StreamKey): Promise<number> {
    return this.count({ command: 'XLEN', key, args: [wire(key)] });
  }

  async delete(key: StreamKey, ids: readonly EntryId[]): Promise<number> {
    return ids.length === 0 ? 0 : this.count({ command: 'XDEL', key, args: [wire(key), ...ids] });
  }

  async trim(key: StreamKey, policy: TrimPolicy): Promise<number> {
    const call = trimCall(key, policy);
    return new ReplyReader(call).count(await this.needing62(policy.minId !== undefined, call));
  }

  async createGroup(
    key: StreamKey,
    group: GroupName,
    start: GroupStart,
    options: { readonly makeStream?: boolean } = {},
  ): Promise<boolean> {
    const makeStream = options.makeStream === true ? ['MKSTREAM'] : [];
    try {
      await this.route.call({ command: 'XGROUP CREATE', key, args: [wire(key), wire(group), start, ...makeStream] });
      return true;
    } catch (error) {
      if (BusError.is(error, 'group-exists')) return false;
      throw error;
    }
  }

  async destroyGroup(key: StreamKey, group: GroupName): Promise<boolean> {
    try {
      return (await this.count({ command: 'XGROUP DESTROY', key, args: [wire(key), wire(group)] })) > 0;
    } catch (error) {
      if (BusError.is(error, 'no-key')) return false;
      throw error;
    }
  }

  async readGroup(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly count: number; readonly claimMinIdleMs?: number },
  ): Promise<readonly DeliveredEntry[]> {
    const call = readGroupCall(key, group, consumer, options);
    return new ReplyReader(call).deliveredOfOneStream(await this.route.call(call));
  }

  async acknowledge(key: StreamKey, group: GroupName, ids: readonly EntryId[]): Promise<number> {
    return ids.length === 0 ? 0 : this.count({ command: 'XACK', key, args: [wire(key), wire(group), ...ids] });
  }

  async claim(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    ids: readonly EntryId[],
    options: ClaimOptions,
  ): Promise<readonly EntryId[]> {
    if (ids.length === 0) return [];
    const call = claimCall(key, group, consumer, ids, options);
    return new ReplyReader(call).claimedIds(await this.route.call(call));
  }

  async autoClaim(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly minIdleMs: number; readonly cursor: EntryId; readonly count: number },
  ): Promise<AutoClaimReply> {
    const { minIdleMs, cursor, count } = options;
    const args = [wire(key), wire(group), wire(consumer), String(minIdleMs), cursor, 'COUNT', String(count)];
    const call = { command: 'XAUTOCLAIM', key, args };
    const { lostBodies, ...reply } = new ReplyReader(call).autoClaim(await this.route.call(call));
    if (lostBodies === 0) return reply;
    const tombstones = await findTombstones(this, key, group, consumer, { from: cursor, reply, count });
    return { ...reply, entries: [...reply.entries, ...tombstones] };
  }

  async pending(key: StreamKey, group: GroupName, query: PendingQuery): Promise<readonly PendingEntry[]> {
    const call = pendingCall(key, group, query);
    if (call === undefined) return [];
    return new ReplyReader(call).pendingEntries(await this.needing62(query.minIdleMs !== undefined, call));
  }

  async pendingSummary(key: StreamKey, group: GroupName): Promise<PendingSummary> {
    const call = { command: 'XPENDING', key, args: [wire(key), wire(group)] };
    return new ReplyReader(call).pendingSummary(await this.route.call(call));
  }

  async streamInfo(key: StreamKey): Promise<StreamInfo> {
    const call = { command: 'XINFO STREAM', key, args: [wire(key)] };
    return new ReplyReader(call).streamInfo(await this.route.call(call));
  }

  async groupInfos(key: StreamKey): Promise<readonly GroupInfo[]> {
    const call = { command: 'XINFO GROUPS', key, args: [wire(key)] };
    return new ReplyReader(call).groupInfos(await this.route.call(call));
  }

  async consumerInfos(key: StreamKey, group: GroupName): Promise<readonly ConsumerInfo[]> {
    const call = { command: 'XINFO CONSUMERS', key, args: [wire(key), wire(group)] };
    return new ReplyReader(call).consumerInfos(await this.route.call(call));
  }

  async run<Arguments, Reply>(script: Script<Arguments, Reply>, args: Arguments): Promise<Reply> {
    const keys = script.keys(args);
    const rest = [String(keys.length), ...keys.map(wire), ...script.argv(args).map(argument)];
    const [key] = keys;
    const context = { command: script.name, ...(key === undefined ? {} : { key }) };
    const evaluate = (): Promise<unknown> =>
      this.route.call({ ...context, name: 'EVAL', args: [script.text, ...rest] });
    // The first use sends the text, so that it keeps its place among the other calls of its tick.
    if (!this.knownScripts.has(script.sha1)) {
      this.knownScripts.add(script.sha1);
      return script.reply(new ReplyReader(context).raw(await evaluate()));
    }
    try {
      const reply = await this.route.call({ ...context, name: 'EVALSHA', args: [script.sha1, ...rest] });
      return script.reply(new ReplyReader(context).raw(reply));
    } catch (error) {
      if (!BusError.is(error, 'unknown-script')) throw error;
      return script.reply(new ReplyReader(context).raw(await evaluate()));
    }
  }

  async openReader(): Promise<StreamReader> {
    const reader = new RedisReader(this.route, (closed) => this.readers.delete(closed));
    this.readers.add(reader);
    try {
      if (this.isClosed) reader.close();
      await reader.connect();
      return reader;
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  /** Opens a connection of its own to the node that serves the key, for MULTI and EXEC where scripts are refused. Close it. */
  async openTransaction(key: StreamKey): Promise<Transaction> {
    return new Transaction(await this.route.openLink(key, { signal: new AbortController().signal, wantsId: false }));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const reader of [...this.readers]) reader.close();
    this.route.close();
    return Promise.resolve();
  }

  async scanStreams(
    cursor: string,
    options: { readonly match?: string; readonly count: number },
  ): Promise<{ readonly cursor: string; readonly keys: readonly StreamKey[] }> {
    const { hasScanType } = await this.capabilities();
    return scanStreams(this.route, cursor, { ...options, hasScanType });
  }

  async typeOf(key: StreamKey): Promise<string> {
    const call = { command: 'TYPE', key, args: [wire(key)] };
    return new ReplyReader(call).text(await this.route.call(call));
  }

  async timeToLiveMs(key: StreamKey): Promise<number | null> {
    const ms = await this.count({ command: 'PTTL', key, args: [wire(key)] });
    return ms < 0 ? null : ms;
  }

  async memoryUsage(key: StreamKey): Promise<number | null> {
    const call = { command: 'MEMORY USAGE', key, args: [wire(key)] };
    const reply = await this.route.call(call);
    return reply === null ? null : new ReplyReader(call).count(reply);
  }

  slotOf(key: StreamKey): number {
    return slotOf(key);
  }

  /** Forgets what may differ on the server that a new connection leads to. */
  forgetServer(): void {
    this.known = undefined;
    this.knownScripts.clear();
  }

  private async askCapabilities(): Promise<Capabilities> {
    try {
      return await detectCapabilities((call) => this.route.call(call));
    } catch (error) {
      this.known = undefined;
      throw error;
    }
  }

  private async count(call: Call): Promise<number> {
    return new ReplyReader(call).count(await this.route.call(call));
  }

  /** Sends a command; when it was refused and uses words that came with 6.2, says so instead of what the old server took them for. */
  private needing62(isNeeded: boolean, call: Call): Promise<unknown> {
    return isNeeded ? this.explainingOldServers(call) : this.route.call(call);
  }

  private async explainingOldServers(call: Call): Promise<unknown> {
    try {
      return await this.route.call(call);
    } catch (error) {
      if (!BusError.is(error, 'server') || (await this.capabilities()).hasAutoClaim) throw error;
      const used = call.args.filter((arg) => arg === 'NOMKSTREAM' || arg === 'MINID' || arg === 'IDLE').join(' and ');
      throw new BusError(
        'unknown-command',
        `${call.command} ${used} needs Redis 6.2 or later; nothing was changed.`,
        { command: call.command },
        { cause: error },
      );
    }
  }
}

function argument(value: ScriptArgument): string | Buffer {
  if (typeof value === 'string') return wire(value);
  return typeof value === 'number' ? String(value) : value;
}
