import { companionKey } from '../companionKeys';
import { readDeadLetter, replayFields } from '../deadLetters';
import type { DeadLetter } from '../deadLetters';
import { BusError } from '../errors';
import { consumerName, entryIdTimeMs, nextEntryId, minEntryId } from '../ids';
import type { EntryId, GroupName, StreamKey } from '../ids';
import { boolean, checkOptions, ConfigError, integer, text } from '../options';
import type { Clock } from '../../base/clock';
import type { StreamPort } from '../port';
import { maxReplayItems, replay, replayToGroup } from '../scripts/replay';
import type { ReplayResult, ReplayToGroupResult } from '../scripts/replay';

/** Which dead letters to list. */
export interface DeadLetterQuery {
  /** List what comes after this dead letter. */
  readonly after?: EntryId;
  /** At most so many. Default 100. */
  readonly limit?: number;
  readonly reason?: string;
  readonly group?: GroupName;
}

/** Which dead letters to replay or count: these ids, or those that match, oldest first. */
export type DeadLetterSelection =
  | { readonly ids: readonly EntryId[] }
  | { readonly where: Pick<DeadLetterQuery, 'reason' | 'group'>; readonly limit?: number };

/** How to replay. */
export interface ReplayOptions {
  /** Only say what would be replayed. Default false. */
  readonly dryRun?: boolean;
  /** At most so many a second. Default: no limit. */
  readonly ratePerSecond?: number;
  /** Another stream to publish to; the key itself. Default: the stream that they died in. */
  readonly to?: StreamKey;
  readonly signal?: AbortSignal;
}

/** What became of one replayed dead letter. */
export type Replayed = { readonly deadId: EntryId } & (
  ReplayResult | { readonly status: 'would-replay' } | { readonly status: 'not-tried' }
);

/** Where the dead letters of a stream are worked with. */
export interface DeadLettersOptions {
  readonly port: StreamPort;
  readonly clock: Clock;
  readonly stream: StreamKey;
  /** Default: the stream's companion key. */
  readonly key?: StreamKey;
}

/** The dead letters of one stream. */
export class DeadLetters {
  private key: StreamKey | undefined;

  constructor(private readonly options: DeadLettersOptions) {
    this.key = options.key;
  }

  /** Lists dead letters, oldest first (XRANGE, a page at a time). */
  async list(query: DeadLetterQuery = {}): Promise<readonly DeadLetter[]> {
    checkOptions('deadLetters.list', query, { after: text, limit: integer(1), reason: text, group: text });
    const found: DeadLetter[] = [];
    const limit = query.limit ?? 100;
    for await (const letter of this.walk(query.after)) {
      if (matches(letter, query)) found.push(letter);
      if (found.length >= limit) break;
    }
    return found;
  }

  /** One dead letter, or undefined when there is none of that id. */
  async get(id: EntryId): Promise<DeadLetter | undefined> {
    const [entry] = await this.options.port.range(await this.target(), { from: id, to: id, count: 1 });
    return entry && readDeadLetter(entry);
  }

  /** How many there are (XLEN). */
  async count(): Promise<number> {
    return this.options.port.length(await this.target());
  }

  /** How long ago the oldest died, by the server's clock; undefined when there is none or its id is not a time. */
  async oldestAgeMs(): Promise<number | undefined> {
    const { port } = this.options;
    const [oldest] = await port.range(await this.target(), { from: 'min', to: 'max', count: 1 });
    const atMs = oldest && (readDeadLetter(oldest).failure.atMs ?? entryIdTimeMs(oldest.id));
    return atMs === undefined ? undefined : Math.max(0, (await port.serverTimeMs()) - atMs);
  }

  /**
   * Publishes dead letters again as new entries at the end of the stream, for all of its groups, and removes them; each in one step,
   * so that of racing replays only one publishes. Their first id stays with them in `dl.id`. Never trims, never makes a stream.
   */
  async replay(selection: DeadLetterSelection, options: ReplayOptions = {}): Promise<readonly Replayed[]> {
    checkOptions('deadLetters.replay', options, {
      dryRun: boolean,
      ratePerSecond: integer(1),
      to: text,
      signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
    });
    const { port, clock, stream } = this.options;
    const { dryRun = false, ratePerSecond, to = stream, signal } = options;
    const deadLetters = await this.target();
    const letters = await this.select(selection);
    if (dryRun)
      return letters.map(({ id, letter }) => ({ deadId: id, status: letter ? 'would-replay' : 'gone' }) as const);
    const done: Replayed[] = [];
    const step = ratePerSecond === undefined ? maxReplayItems : Math.min(maxReplayItems, Math.ceil(ratePerSecond / 10));
    for (let from = 0; from < letters.length; from += step) {
      const batch = letters.slice(from, from + step);
      if (signal?.aborted) {
        done.push(...batch.map(({ id }) => ({ deadId: id, status: 'not-tried' }) as const));
        continue;
      }
      if (ratePerSecond !== undefined && from > 0) await pause(clock, (1000 * step) / ratePerSecond);
      const reply = await port.run(replay, {
        deadLetters,
        target: to,
        makeStream: false,
        items: batch.map(({ id, letter }) =>
          letter === undefined || letter.form === 'block'
            ? { deadId: id }
            : { deadId: id, fields: replayFields(letter) },
        ),
      });
      if (reply.status === 'bad-target') throw new BusError('wrong-type', `Cannot replay: ${to} is a ${reply.type}`);
      if (reply.status === 'no-stream')
        throw new BusError('no-key', `Cannot replay: stream ${to} does not exist any more; create it first`);
      for (const [index, { id }] of batch.entries()) {
        const result = reply.results[index];
        if (result) done.push({ deadId: id, ...result });
      }
    }
    return done;
  }

  /**
   * Gives dead letters back to the one group that they died in, as the entries that they were, with no delivery counted; the next
   * reclaim picks them up. Only while the entries still exist.
   */
  async replayToGroup(
    ids: readonly EntryId[],
  ): Promise<
    readonly ({ readonly deadId: EntryId } & (ReplayToGroupResult | { readonly status: 'unknown-origin' }))[]
  > {
    const { port, stream } = this.options;
    const deadLetters = await this.target();
    return Promise.all(
      ids.map(async (deadId) => {
        const letter = await this.get(deadId);
        if (!letter) return { deadId, status: 'gone' } as const;
        const { entry, group } = letter.failure;
        if (entry === undefined || group === undefined) return { deadId, status: 'unknown-origin' } as const;
        const [result] = await port.run(replayToGroup, {
          deadLetters,
          stream,
          group,
          consumer: consumerName('replay'),
          idleMs: returnedIdleMs,
          items: [{ deadId, entry }],
        });
        return { deadId, ...(result ?? { status: 'gone' }) } as const;
      }),
    );
  }

  /** Deletes dead letters for good (XDEL); how many were there. */
  async discard(ids: readonly EntryId[]): Promise<number> {
    return ids.length === 0 ? 0 : this.options.port.delete(await this.target(), ids);
  }

  /** The stream that holds them. */
  async target(): Promise<StreamKey> {
    if (this.key !== undefined) return this.key;
    const { port, stream } = this.options;
    const { isCluster } = await port.capabilities();
    const { key, sameSlot } = companionKey(stream, 'dlq', { isCluster });
    if (!sameSlot)
      throw new ConfigError(
        'unsupported',
        'deadLetters.key',
        `deadLetters.key: on a cluster no companion key of ${stream} is in its slot; name the dead-letter stream`,
      );
    this.key = key;
    return key;
  }

  private async select(
    selection: DeadLetterSelection,
  ): Promise<readonly { readonly id: EntryId; readonly letter: DeadLetter | undefined }[]> {
    if ('ids' in selection) return Promise.all(selection.ids.map(async (id) => ({ id, letter: await this.get(id) })));
    const found = await this.list({ ...selection.where, limit: selection.limit ?? Number.MAX_SAFE_INTEGER });
    return found.map((letter) => ({ id: letter.deadId, letter }));
  }

  private async *walk(after: EntryId = minEntryId): AsyncGenerator<DeadLetter> {
    const target = await this.target();
    let from = nextEntryId(after);
    while (from !== undefined) {
      const page = await this.options.port.range(target, { from, to: 'max', count: pageSize });
      for (const entry of page) yield readDeadLetter(entry);
      const last = page.at(-1);
      from = page.length < pageSize || !last ? undefined : nextEntryId(last.id);
    }
  }
}

const pageSize = 200;

/** A day: idle for longer than any reclaimer waits. */
const returnedIdleMs = 24 * 60 * 60 * 1000;

function matches({ failure }: DeadLetter, { reason, group }: Pick<DeadLetterQuery, 'reason' | 'group'>): boolean {
  return (reason === undefined || failure.reason === reason) && (group === undefined || failure.group === group);
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
