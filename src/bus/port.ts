/**
 * StreamPort: the narrow interface that everything in the bus is written against.
 *
 * Two adapters implement it: `bus/redis` over a real server and `embedded` over the in-process engine; one contract suite
 * (`test/bus/streamPort.contract.ts`) holds for both. Calls made in the same tick travel together, in order, in one round trip.
 * Every failure is a BusError. Nothing here retries or resends: a call whose link broke rejects at once, `ambiguous` when it may
 * have been carried out; the next call opens a new link, with one attempt and without waiting. A reader is over when its link broke.
 */
import type {
  ConsumerInfo,
  DeliveredEntry,
  Entry,
  EntryFields,
  GroupInfo,
  PendingEntry,
  PendingSummary,
  StreamInfo,
} from './entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from './ids';
import type { Script } from './scripts/script';

/** Where a range starts or ends: an id, included or not, or the end of the stream on that side (`-`, `+`). */
export type RangeBound = EntryId | { readonly after: EntryId } | { readonly before: EntryId } | 'min' | 'max';

/** XRANGE, or XREVRANGE when `reverse`: at most `count` entries between `from` and `to`, `from` being the lower bound always. */
export interface RangeQuery {
  readonly from: RangeBound;
  readonly to: RangeBound;
  readonly count: number;
  readonly reverse?: boolean;
}

/** The extended form of XPENDING. `minIdleMs` scans the whole list on the server when few match: not for browsing. */
export interface PendingQuery {
  readonly from: RangeBound;
  readonly to: RangeBound;
  readonly count: number;
  readonly consumer?: ConsumerName;
  readonly minIdleMs?: number;
}

/** What to remove from a stream's start: by number of entries or below an id. Approximate trims may leave more. */
export type TrimPolicy = (
  | { readonly maxLength: number; readonly minId?: undefined }
  | { readonly minId: EntryId; readonly maxLength?: undefined }
) & { readonly approximate: boolean };

/** How an entry is added. */
export interface AddOptions {
  /** Given only when an exact id must be kept; otherwise the server makes one. */
  readonly id?: EntryId;
  readonly trim?: TrimPolicy;
  /** False: answer null instead of creating a missing stream. Default true. */
  readonly makeStream?: boolean;
}

/** Where a new group starts reading: at an id (exclusive), at the start (`0-0`), or after what is there now (`$`). */
export type GroupStart = EntryId | '$';

/** How a claim leaves the entries. `count: 'keep'` is JUSTID: same delivery count, no bodies. */
export interface ClaimOptions {
  readonly minIdleMs: number;
  readonly count: 'keep' | 'increment' | { readonly set: number };
  /** Sets the idle time instead of resetting it to 0. */
  readonly idleMs?: number;
  /** Creates the pending entry when the group has none for the id. */
  readonly force?: boolean;
}

/** What XAUTOCLAIM answered. */
export interface AutoClaimReply {
  /** Where to go on; `0-0` when the list was scanned to its end. */
  readonly cursor: EntryId;
  /** The claimed entries; on 6.2 a body may be null when its message is gone. */
  readonly entries: readonly DeliveredEntry[];
  /** Ids that the server dropped from the list because their message is gone (7.0 and later). */
  readonly deletedIds: readonly EntryId[];
}

/**
 * What this server can do, found out by asking it and not by its version. Whether the user may do it is not probed: a denied probe
 * would alarm whoever watches ACL LOG.
 */
export interface Capabilities {
  readonly server: 'redis' | 'valkey' | 'keydb' | 'dragonfly' | 'embedded' | 'unknown';
  /** As the server says it: the engine's own version, not the Redis version that it claims compatibility with. */
  readonly version: string;
  readonly role: 'master' | 'replica' | 'unknown';
  readonly isCluster: boolean;
  /** `(id` in ranges, and with it what else came with 6.2: NOMKSTREAM, MINID, XPENDING IDLE. */
  readonly hasExclusiveRanges: boolean;
  readonly hasAutoClaim: boolean;
  readonly hasScanType: boolean;
  readonly hasScripts: boolean;
  /** XREADGROUP … CLAIM (Redis 8.4). */
  readonly hasReadClaim: boolean;
  /** XACKDEL (Redis 8.2). */
  readonly hasAckDelete: boolean;
}

/** A dedicated connection for reads that block. One read at a time. */
export interface StreamReader {
  /**
   * XREADGROUP with `>`: delivers new entries, waiting at most `blockMs`, not at all when that is 0; `[]` when none came. With
   * `claimMinIdleMs`, pending entries idle for at least that long come first (needs `hasReadClaim`).
   */
  readGroup(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly count: number; readonly blockMs: number; readonly claimMinIdleMs?: number },
  ): Promise<readonly DeliveredEntry[]>;
  /** XREAD: entries after an id, waiting at most `blockMs`; changes nothing on the server. */
  read(
    key: StreamKey,
    after: EntryId,
    options: { readonly count: number; readonly blockMs: number },
  ): Promise<readonly Entry[]>;
  /** Ends a blocked read at once, which then answers `[]`, and loses no reply (CLIENT UNBLOCK from the port's own connection). */
  interrupt(): Promise<void>;
  /** Drops the connection; a blocked read rejects with reason `closed`. */
  close(): void;
}

/** The narrow interface between the bus and a stream server. Counts are numbers of entries, times milliseconds. */
export interface StreamPort {
  /** Asked once and remembered until `close`. */
  capabilities(): Promise<Capabilities>;
  /**
   * The server's clock, milliseconds since the epoch: TIME where permitted, else INFO. On a cluster the clock of the node that
   * serves the key, against which the idle times of its groups are told.
   */
  serverTimeMs(key?: StreamKey): Promise<number>;

  /** XADD. Null only when `makeStream` is false and the stream is missing. */
  add(key: StreamKey, fields: EntryFields, options?: AddOptions): Promise<EntryId | null>;
  /** XRANGE and XREVRANGE; `[]` for a missing key. */
  range(key: StreamKey, query: RangeQuery): Promise<readonly Entry[]>;
  /** XLEN; 0 for a missing key. */
  length(key: StreamKey): Promise<number>;
  /** XDEL; how many were there. Pending entries of deleted messages stay pending. */
  delete(key: StreamKey, ids: readonly EntryId[]): Promise<number>;
  /** XTRIM; how many were removed. */
  trim(key: StreamKey, policy: TrimPolicy): Promise<number>;

  /** XGROUP CREATE; false when the group exists already. */
  createGroup(
    key: StreamKey,
    group: GroupName,
    start: GroupStart,
    options?: { readonly makeStream?: boolean },
  ): Promise<boolean>;
  /** XGROUP DESTROY; false when there was no such group or no such stream. */
  destroyGroup(key: StreamKey, group: GroupName): Promise<boolean>;
  /** XREADGROUP with `>`, never blocking. */
  readGroup(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly count: number; readonly claimMinIdleMs?: number },
  ): Promise<readonly DeliveredEntry[]>;
  /** XACK; how many were pending. Does not check the owner. */
  acknowledge(key: StreamKey, group: GroupName, ids: readonly EntryId[]): Promise<number>;
  /**
   * XCLAIM; the ids that were claimed. Bodies are never handed out by it. Before 7.0 a claim that increments the count leaves out
   * claimed ids whose message is gone.
   */
  claim(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    ids: readonly EntryId[],
    options: ClaimOptions,
  ): Promise<readonly EntryId[]>;
  /** XAUTOCLAIM, one step of the cursor. */
  autoClaim(
    key: StreamKey,
    group: GroupName,
    consumer: ConsumerName,
    options: { readonly minIdleMs: number; readonly cursor: EntryId; readonly count: number },
  ): Promise<AutoClaimReply>;
  /** XPENDING, extended form. */
  pending(key: StreamKey, group: GroupName, query: PendingQuery): Promise<readonly PendingEntry[]>;
  /** XPENDING, summary form. */
  pendingSummary(key: StreamKey, group: GroupName): Promise<PendingSummary>;

  /** XINFO STREAM. */
  streamInfo(key: StreamKey): Promise<StreamInfo>;
  /** XINFO GROUPS. */
  groupInfos(key: StreamKey): Promise<readonly GroupInfo[]>;
  /** XINFO CONSUMERS. */
  consumerInfos(key: StreamKey, group: GroupName): Promise<readonly ConsumerInfo[]>;

  /**
   * Runs a script: EVAL the first time on a connection, so that it keeps its place among the calls of its tick, then EVALSHA, and
   * EVAL again when the server has forgotten it.
   */
  run<Arguments, Reply>(script: Script<Arguments, Reply>, args: Arguments): Promise<Reply>;

  /** Opens a connection of its own for blocking reads; on a cluster it goes to the node of the key that it reads. */
  openReader(): Promise<StreamReader>;
  /** Closes this port's connection and every reader that it opened; calls in flight reject with reason `closed`. */
  close(): Promise<void>;
}

/** What browsing needs to know of the keyspace besides streams; implemented by the same adapters. All of it only reads. */
export interface KeyspacePort {
  /**
   * One step of a scan for streams (SCAN with TYPE stream, or SCAN and TYPE on 5.0), over every master of a cluster. Start with
   * cursor `'0'`; the scan is over when it comes back as `'0'`. Keys may repeat.
   */
  scanStreams(
    cursor: string,
    options: { readonly match?: string; readonly count: number },
  ): Promise<{ readonly cursor: string; readonly keys: readonly StreamKey[] }>;
  /** TYPE; `none` for a missing key. */
  typeOf(key: StreamKey): Promise<string>;
  /** PTTL; null for a key that does not expire or is missing. */
  timeToLiveMs(key: StreamKey): Promise<number | null>;
  /** MEMORY USAGE: an estimate by the server from some samples, in bytes; null for a missing key. */
  memoryUsage(key: StreamKey): Promise<number | null>;
  /** The hash slot that a key belongs to on a cluster, 0 to 16383. */
  slotOf(key: StreamKey): number;
}
