import { randomBytes } from 'node:crypto';
import inspector from 'node:inspector';
import { hostname } from 'node:os';
import { systemClock } from '../../base/clock';
import type { Clock } from '../../base/clock';
import type { Codec } from '../codecs';
import { consumerName, entryId, groupName, isEntryId, minEntryId, streamKey } from '../ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import {
  boolean,
  callable,
  checkOptions,
  ConfigError,
  either,
  functions,
  integer,
  milliseconds,
  oneOf,
  text,
  withMethods,
} from '../options';
import type { Check } from '../options';
import type { Schemas } from '../schemas';
import { checkedBackoff, exponential } from './backoff';
import type { Backoff } from './backoff';
import { redactUrlSecrets } from './failureText';
import type { Redact } from './failureText';
import { resolveJournalOptions } from './journalOptions';
import type { JournalOptions, ResolvedJournalOptions } from './journalOptions';
import type { Lifeline } from './lifeline';
import type { Handler, HandlerContext, HandlerLog, Message } from './handler';

/** Something around every handler call: does its part, calls `next`, and may look at how that ended. */
export type Middleware = (message: Message, context: HandlerContext, next: () => Promise<void>) => Promise<void>;

/** The options of a consumer; all but `group` have defaults. Times are milliseconds. */
export interface ConsumerOptions {
  /** The consumer group. */
  readonly group: string;
  /** The consumer's name. Must be unique in its group: two processes of one name share what they own. Default: host, pid and chance. */
  readonly name?: string;
  /** How many handlers run at once. Default 10. */
  readonly concurrency?: number;
  /** How many entries beyond that are read ahead. Default 10: enough to hide a round trip, few enough to leave work to others. */
  readonly prefetch?: number;
  /** How long a read blocks (XREADGROUP BLOCK). Default 5,000. */
  readonly blockMs?: number;
  /** Where a group that this consumer creates starts: an id (exclusive), `0` or `$`. Default `0`: nothing published is skipped. */
  readonly groupStart?: string;
  /** Whether to create a missing stream and group, also when they vanish. Default true. */
  readonly createGroup?: boolean;
  /** When a handler is asked to stop; 0 for never. Default 30,000. */
  readonly handlerTimeoutMs?: number;
  /** How long after that it is waited for. Default 5,000. */
  readonly abortGraceMs?: number;
  readonly ownership?: {
    /** How long an entry must be idle before anybody may take it over. The same for all consumers of a group. Default 30,000. */
    readonly minIdleMs?: number;
    /** How often what this consumer holds is kept; at most a third of `minIdleMs`. Default a third of `minIdleMs`, at most 10,000. */
    readonly heartbeatMs?: number;
    /** Beat from a thread of its own, so that a busy or paused main thread keeps its messages. Default false. */
    readonly thread?: boolean;
    /**
     * Watched by the thread. When its far end is gone and this consumer does not close by itself within 2 s, or is not closed within 7 s,
     * because its thread is busy or paused, the heartbeat thread gives back what is held and ends the process. Default none.
     */
    readonly lifeline?: Lifeline;
  };
  readonly retry?: {
    /** How often an entry is handed to handlers at most, before it becomes a dead letter. Default 3. */
    readonly maxDeliveries?: number;
    /** The delay by delivery count. Default `exponential()`: 0.5 s doubling to 30 s with 20 % jitter. */
    readonly backoff?: Backoff;
  };
  /** Taking over what other consumers let lie; false for never. Default every 5,000 ms, 50 at a time. */
  readonly reclaim?: false | { readonly intervalMs?: number; readonly count?: number };
  /** Dead letters; false for none: then failing entries are retried without end. Default on, to the companion key `:dlq`. */
  readonly deadLetters?: false | { readonly key?: string };
  /**
   * Entries with the same key are handled one after another, in order of delivery; a retried entry comes after those behind it. Sees what
   * the codec read, before the topic's schema has.
   */
  readonly orderBy?: (message: Message) => string | undefined;
  /** Reads the fields. An entry that it refuses becomes a dead letter with reason `invalid`. Default: the topic's, else fields as text. */
  readonly codec?: Codec;
  /** What to do with a type that no handler is named for: `dead-letter` (reason `unroutable`) or `acknowledge`. Default `dead-letter`. */
  readonly unroutable?: 'dead-letter' | 'acknowledge';
  /**
   * What becomes of an acknowledged entry: `keep` it, or `delete` it once every group has read and acknowledged it (XACKDEL where the
   * server has it, else a script). Default `keep`: retention is no business of a consumer.
   */
  readonly acknowledged?: 'keep' | 'delete';
  /** Around every handler call, the first outermost. */
  readonly use?: readonly Middleware[];
  /** Where handlers write to. Default: nowhere. */
  readonly log?: HandlerLog;
  /**
   * Whether to keep a journal of what becomes of every entry in the stream's companion key `:journal`, for people to look at; it never
   * delays or changes an outcome. Default false.
   */
  readonly journal?: boolean | JournalOptions;
  /** Removes secrets from error messages before they are kept in dead letters. Default: passwords in URLs. */
  readonly redact?: Redact;
  /** Make every property of a message a plain value, as debuggers like it. Default: when an inspector is attached. */
  readonly plainMessages?: boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** One handler for all messages, or one for each type. */
export type Handlers = Handler | Readonly<Record<string, Handler>>;

/** Options with every default filled in. */
export interface ResolvedConsumerOptions {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly name: ConsumerName;
  readonly concurrency: number;
  readonly prefetch: number;
  readonly blockMs: number;
  readonly groupStart: EntryId | '$';
  readonly createGroup: boolean;
  readonly handlerTimeoutMs: number;
  readonly abortGraceMs: number;
  readonly minIdleMs: number;
  readonly heartbeatMs: number;
  readonly thread: boolean;
  readonly lifeline: Lifeline | undefined;
  readonly maxDeliveries: number;
  readonly backoff: Backoff;
  readonly reclaim: { readonly intervalMs: number; readonly count: number } | undefined;
  readonly deadLetters: { readonly key: StreamKey | undefined } | undefined;
  readonly orderBy: ((message: Message) => string | undefined) | undefined;
  readonly codec: Codec | undefined;
  readonly schemas: Schemas | undefined;
  readonly unroutable: 'dead-letter' | 'acknowledge';
  readonly acknowledged: 'keep' | 'delete';
  readonly use: readonly Middleware[];
  readonly log: HandlerLog;
  readonly journal: ResolvedJournalOptions | undefined;
  readonly redact: Redact;
  readonly plainMessages: boolean;
  readonly clock: Clock;
}

/** The longest block: the connection's own time limit is this much further away whatever the block is. */
const maxBlockMs = 60_000;

const groupStart: Check = (value) =>
  typeof value === 'string' && (value === '0' || value === '$' || isEntryId(value))
    ? undefined
    : "'0', '$' or an entry id such as '1700000000000-0'";

const nested: Check = (value) => (typeof value === 'object' && value !== null ? undefined : 'an object of options');

/** Checks the options and fills in the defaults; throws a `ConfigError` that names the option, what was given and what is expected. */
export function resolveConsumerOptions(
  stream: StreamKey,
  options: ConsumerOptions,
  schemas?: Schemas,
): ResolvedConsumerOptions {
  checkOptions('consumer', options, {
    group: text,
    name: text,
    concurrency: integer(1, 10_000),
    prefetch: integer(0, 10_000),
    blockMs: milliseconds(1),
    groupStart,
    createGroup: boolean,
    handlerTimeoutMs: milliseconds(0),
    abortGraceMs: milliseconds(0),
    ownership: nested,
    retry: nested,
    reclaim: either(oneOf(false), nested),
    deadLetters: either(oneOf(false), nested),
    orderBy: callable,
    codec: withMethods('encode', 'decode'),
    unroutable: oneOf('dead-letter', 'acknowledge'),
    acknowledged: oneOf('keep', 'delete'),
    use: functions,
    log: withMethods('info', 'warn', 'error'),
    journal: either(boolean, nested),
    redact: callable,
    plainMessages: boolean,
    clock: withMethods('now', 'after'),
  });
  const { ownership = {}, retry = {}, reclaim = {}, deadLetters = {} } = options;
  checkOptions('consumer.ownership', ownership, {
    minIdleMs: milliseconds(1),
    heartbeatMs: milliseconds(1),
    thread: boolean,
    lifeline: nested,
  });
  if (ownership.lifeline)
    checkOptions('consumer.ownership.lifeline', ownership.lifeline, { port: integer(1, 65_535), hello: text });
  if (ownership.lifeline && ownership.thread !== true)
    throw new ConfigError(
      'conflicting-options',
      'consumer.ownership.lifeline',
      'consumer.ownership.lifeline: is watched by the heartbeat thread, so ownership.thread must be true',
    );
  checkOptions('consumer.retry', retry, { maxDeliveries: integer(1), backoff: callable });
  if (reclaim !== false)
    checkOptions('consumer.reclaim', reclaim, { intervalMs: milliseconds(1), count: integer(1, 1000) });
  if (deadLetters !== false) checkOptions('consumer.deadLetters', deadLetters, { key: text });
  const group: unknown = options.group;
  if (group === undefined)
    throw new ConfigError('invalid-option', 'consumer.group', 'consumer.group: expected the name of a group, got none');
  const minIdleMs = ownership.minIdleMs ?? 30_000;
  const heartbeatMs = ownership.heartbeatMs ?? Math.max(1, Math.min(10_000, Math.floor(minIdleMs / 3)));
  if (minIdleMs < 3 * heartbeatMs) {
    const message =
      `consumer.ownership.minIdleMs: expected at least three heartbeats (3 x ${heartbeatMs} = ${3 * heartbeatMs}), ` +
      `got ${minIdleMs}; an entry would be taken over while it is being handled`;
    throw new ConfigError('conflicting-options', 'consumer.ownership.minIdleMs', message);
  }
  const blockMs = options.blockMs ?? 5000;
  if (blockMs > maxBlockMs) {
    const message = `consumer.blockMs: expected at most ${maxBlockMs}, which is below the connection's time limit, got ${blockMs}`;
    throw new ConfigError('conflicting-options', 'consumer.blockMs', message);
  }
  const start = options.groupStart ?? '0';
  return {
    stream,
    group: groupName(options.group),
    name: consumerName(options.name ?? defaultName()),
    concurrency: options.concurrency ?? 10,
    prefetch: options.prefetch ?? 10,
    blockMs,
    groupStart: start === '0' ? minEntryId : start === '$' ? start : entryId(start),
    createGroup: options.createGroup ?? true,
    handlerTimeoutMs: options.handlerTimeoutMs ?? 30_000,
    abortGraceMs: options.abortGraceMs ?? 5000,
    minIdleMs,
    heartbeatMs,
    thread: ownership.thread ?? false,
    lifeline: ownership.lifeline,
    maxDeliveries: deadLetters === false ? Number.MAX_SAFE_INTEGER : (retry.maxDeliveries ?? 3),
    backoff: retry.backoff ? checkedBackoff(retry.backoff) : exponential(),
    reclaim: reclaim === false ? undefined : { intervalMs: reclaim.intervalMs ?? 5000, count: reclaim.count ?? 50 },
    deadLetters:
      deadLetters === false
        ? undefined
        : { key: deadLetters.key === undefined ? undefined : streamKey(deadLetters.key) },
    orderBy: options.orderBy,
    codec: options.codec,
    schemas,
    unroutable: options.unroutable ?? 'dead-letter',
    acknowledged: options.acknowledged ?? 'keep',
    use: options.use ?? [],
    log: options.log ?? silentLog,
    journal: resolveJournalOptions(options.journal, options.redact ?? redactUrlSecrets),
    redact: options.redact ?? redactUrlSecrets,
    plainMessages: options.plainMessages ?? inspector.url() !== undefined,
    clock: options.clock ?? systemClock(),
  };
}

const silentLog: HandlerLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

function defaultName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
