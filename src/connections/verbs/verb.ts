/**
 * verbs: everything that the extension host can do to a server, one value a file; `index.ts` lists them all.
 *
 * A verb counts what it would do by reading first (`preview`), says the exact commands (`cli`) and does it (`run`), at most
 * `maxBatch` ids in one call. Only the write gate (`gate.ts`) gives `run` a port that can write. Nothing here knows of VS Code.
 * Tests: test/bus/act*.test.ts, test/unit/act*.test.ts.
 */
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../../bus';
import type { InspectPort } from '../inspectPort';
import type { Inspector } from '../inspector';

/** The names of all verbs. */
export type VerbName =
  | 'makeReclaimable'
  | 'claim'
  | 'acknowledge'
  | 'moveToDeadLetters'
  | 'replay'
  | 'replayToGroup'
  | 'replayEntry'
  | 'publish'
  | 'deleteEntry'
  | 'restore'
  | 'launchWorker'
  | 'removeDebugGroup';

/**
 * How bad a mistake with a verb is: `harmless` changes nothing that the group would not change by itself, `undoable` can be taken
 * back for as long as the entry exists, `permanent` cannot.
 */
export type Risk = 'harmless' | 'undoable' | 'permanent';

/** What a verb is done to. */
export type TargetKind = 'pending' | 'deadLetter' | 'entry' | 'stream' | 'action' | 'worker';

/** What a preview reads with; it has no way to write. */
export type ReadingPort = Inspector;

/** What a verb writes with. Only the gate hands it out. */
export type WritingPort = InspectPort;

/** The most ids for one call: a script blocks the server while it runs. */
export const maxBatch = 100;

/** How long ago a delivery may be for its message to be running still, probably. */
export const recentMs = 30_000;

/** Where a verb is done. */
export interface Target {
  readonly stream: StreamKey;
  readonly group?: GroupName;
}

/** A pending row as it was seen before a change: what a guard compares and what undo needs. */
export interface PendingBefore {
  readonly owner: ConsumerName;
  readonly deliveries: number;
  /** -1 when it was released without an owner. */
  readonly idleMs: number;
  /** By the server's clock; undefined when it was released. */
  readonly deliveredAtMs: number | undefined;
}

/** One thing that a verb would do something to. */
export interface PlannedItem {
  /** The entry; `new` for one that is still to be published, or for a worker. */
  readonly id: EntryId | 'new';
  readonly before?: PendingBefore;
}

/** Something that was asked for and is left out, and why; `detail` is a name or a number. */
export interface SkippedItem {
  readonly id: EntryId;
  readonly why:
    | 'not-pending'
    | 'gone'
    | 'missing'
    | 'too-wide'
    | 'unread'
    | 'pending'
    | 'unknown-origin'
    | 'not-read-yet'
    | 'changed';
  readonly detail?: string;
}

/** Why a verb cannot be done at all. */
export type Obstacle =
  | { readonly kind: 'cross-slot'; readonly source: StreamKey; readonly target: StreamKey }
  | { readonly kind: 'needs-scripts' }
  | { readonly kind: 'no-stream'; readonly stream: StreamKey }
  | { readonly kind: 'no-group'; readonly stream: StreamKey; readonly group: GroupName }
  | { readonly kind: 'wrong-type'; readonly stream: StreamKey; readonly type: string };

/** What would happen, counted by reading. */
export interface Preview<Item extends PlannedItem> {
  readonly items: readonly Item[];
  readonly skipped: readonly SkippedItem[];
  /** True when there is more than what one action takes; the rest is left for the next one. */
  readonly isCut: boolean;
  /** How many of the items were delivered in the last `recentMs`, and how long ago the latest of them was. */
  readonly recent: { readonly count: number; readonly latestMs: number | undefined };
  /** The groups that would receive what is published. */
  readonly receivers?: readonly GroupName[];
  /** Whether the consumer that would own the entries is there already. */
  readonly consumerExists?: boolean;
  readonly obstacle?: Obstacle;
  /** False when the server has no scripts: what then runs is not guarded. */
  readonly hasScripts: boolean;
}

/** `guarded` checks on the server, inside a script; `unguarded` is what is left without EVAL. */
export type Mode = 'guarded' | 'unguarded';

/** What became of one item. */
export interface ItemResult {
  readonly id: EntryId | 'new';
  /** `refused`: a guard held it back, nothing was changed. `failed`: the server answered with an error. `unknown`: no reply came. */
  readonly outcome: 'done' | 'refused' | 'failed' | 'unknown' | 'not-tried';
  /** The script's or command's own word for it, such as `owner-changed`. */
  readonly status: string;
  /** What the word is about: the present owner, a count, the reason of an error. Never payload. */
  readonly detail?: string;
  /** The entry that was made. */
  readonly newId?: EntryId;
}

/** How what was done can be taken back, item by item; undefined when it cannot. */
export type UndoKind = 'unacknowledge' | 'claim-back' | 'return-from-dead-letters';

/** What to keep of an action so that it can be taken back. */
export interface Undo {
  readonly kind: UndoKind;
  /** Who owns the entries after the action. */
  readonly ownerAfter?: ConsumerName;
  /** The count after the action, when it is not the one before. */
  readonly countAfter?: 'same' | 'incremented';
  readonly deadLetters?: StreamKey;
}

/** A verb: see the head of this file. `Request` is what people choose, `Item` what the preview found. */
export interface Verb<Request, Item extends PlannedItem = PlannedItem> {
  readonly name: VerbName;
  readonly risk: Risk;
  readonly target: TargetKind;
  targetOf(request: Request): Target;
  /** Reads only. Rejects with a BusError when it cannot be read. */
  preview(port: ReadingPort, request: Request): Promise<Preview<Item>>;
  /** Does it to at most `maxBatch` items, in one round trip where it can; the results in the items' order. */
  run(port: WritingPort, request: Request, items: readonly Item[], mode: Mode): Promise<readonly ItemResult[]>;
  /** The commands that `run` sends for these items, word by word; names as text that holds any bytes. */
  cli(request: Request, items: readonly Item[], mode: Mode): readonly (readonly string[])[];
  /** After an error or a lost reply: what is true now of each item. Reads only. */
  recheck(port: ReadingPort, request: Request, items: readonly Item[]): Promise<readonly string[]>;
  undo(request: Request): Undo | undefined;
  /** What was chosen, for the log and for confirmations; never payload. */
  logged(request: Request): Readonly<Record<string, string | number | boolean>>;
}
