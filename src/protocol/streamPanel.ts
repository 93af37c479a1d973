/** What the stream panel asks its host and is told by it. Types only; the envelope is in `envelope.ts`. */

/** A name or any bytes: `text` holds them without loss (`base/byteText`), `display` is safe to show on one line. */
export interface NameView {
  readonly text: string;
  readonly display: string;
}

/** A number as the server or a count tells it, or why there is none. Never 0 for unknown. */
export type Figure =
  | { readonly kind: 'exact'; readonly value: number; readonly source: string }
  | { readonly kind: 'atLeast'; readonly value: number; readonly source: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** The environment of a connection, which decides its colour and how careful the extension is. */
export type EnvironmentView = 'local' | 'development' | 'staging' | 'production';

/** The connection that the panel reads from. */
export interface ConnectionView {
  readonly name: string;
  readonly environment: EnvironmentView;
  readonly state: 'connected' | 'connecting' | 'lost' | 'disconnected';
  /** Why it is not connected, in one sentence. */
  readonly problem?: string;
  readonly isReadOnly: boolean;
}

/** One group, for the header's chips. */
export interface GroupView {
  readonly name: NameView;
  readonly lag: Figure;
  readonly pending: number;
  readonly consumers: number;
  readonly lastDeliveredId: string;
}

/** The panel's header. Times are milliseconds since the epoch by the server's clock. */
export interface StreamOverview {
  readonly connection: ConnectionView;
  readonly stream: NameView;
  readonly length: number;
  readonly firstId: string | null;
  readonly lastId: string | null;
  /** The first groups, as many as one message can carry. */
  readonly groups: readonly GroupView[];
  readonly groupCount: number;
  readonly deadLetters: { readonly stream: NameView; readonly length: number } | null;
  /** An estimate of the server, in bytes. */
  readonly memoryBytes: Figure;
  /** Until the key expires; null when it does not. */
  readonly timeToLiveMs: number | null;
  readonly serverTimeMs: number;
}

/** Which entries to load. Pages are newest first; `count` is at most 500. */
export interface EntriesQuery {
  readonly at:
    | { readonly kind: 'newest' }
    | { readonly kind: 'oldest' }
    | { readonly kind: 'olderThan'; readonly id: string }
    | { readonly kind: 'newerThan'; readonly id: string }
    /** Around an id: the entry itself or, when it is not there, its neighbours. */
    | { readonly kind: 'around'; readonly id: string };
  readonly count: number;
}

/** One row of the entries table. Names and values are cut and safe to show on one line. */
export interface EntryRow {
  readonly id: string;
  /** The time that the id tells, or null when it cannot be a time. */
  readonly timeMs: number | null;
  readonly fieldCount: number;
  readonly bytes: number;
  /** The first fields, as many as a row can show. */
  readonly preview: readonly { readonly name: string; readonly value: string }[];
}

/** A page of entries, newest first. */
export interface EntriesPage {
  readonly entries: readonly EntryRow[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

/**
 * A value as it can be shown. `text` is the beginning when `truncated`; for bytes that are no text it is a hex dump. It is the
 * value's own text otherwise: control and direction characters are made visible by who draws it.
 */
export interface ValueView {
  readonly kind: 'json' | 'text' | 'bytes';
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
}

/** One field of an entry. */
export interface FieldView {
  readonly name: NameView;
  readonly value: ValueView;
}

/**
 * Where an entry stands in one group. `gone` is pending without a message, `absent` neither pending nor in the stream and not yet
 * read past.
 */
export interface StandingView {
  readonly group: NameView;
  readonly state: 'undelivered' | 'pending' | 'passed' | 'gone' | 'absent';
  readonly consumer?: NameView;
  readonly deliveryCount?: number;
  readonly idleMs?: number;
  /** Server time now minus idle. */
  readonly lastDeliveredAtMs?: number;
  /** One sentence: what this means and what is not known. */
  readonly explanation: string;
}

/** Where an event is known from: a delivery journal, this extension's own watching, dead letters and replays, or the server now. */
export type HistorySourceView = 'recorded' | 'observed' | 'derived' | 'server';

/** One event in the life of a message, with where it is known from. */
export interface HistoryEventView {
  readonly atMs: number | null;
  readonly title: string;
  /** Never empty; several when they agree. */
  readonly sources: readonly HistorySourceView[];
  readonly group?: NameView;
  readonly consumer?: NameView;
  readonly attempt?: number;
  readonly outcome: 'neutral' | 'good' | 'bad';
  /** How long the handler ran, and the delay until the next delivery. */
  readonly tookMs?: number;
  readonly delayMs?: number;
  /** The entry that it happened to, when that is another copy of the message; `stream` as text without loss. */
  readonly entry?: { readonly stream: string; readonly id: string };
  /** Who recorded it: host, process, version. */
  readonly writer?: string;
  readonly error?: { readonly type: string; readonly message: string; readonly stack?: string };
}

/** What the history of an entry does not tell. */
export interface HistoryLimits {
  /** `none`: there is no delivery journal. `not-permitted`: there may be one, but the user may not read it. */
  readonly journal: 'read' | 'none' | 'not-permitted';
  /** When the oldest event is from that the journal still has, when that is later than the entry. */
  readonly recordedSinceMs?: number;
  /** Between these times the journal was not looked through. */
  readonly skipped?: { readonly fromMs: number; readonly toMs: number };
  /** Entries of the journal that are no events. */
  readonly malformed: number;
  /** Events that are known but left out, because there are so many. */
  readonly hidden: number;
  /** The first groups that are past the entry and of which nobody knows how it ended. */
  readonly unknownEndings: readonly NameView[];
}

/** What a dead letter says of itself. */
export interface DeadLetterView {
  readonly originalId: string;
  /** The id of the entry that died, when the message had been replayed before. */
  readonly diedId?: string;
  readonly stream?: NameView;
  readonly group?: NameView;
  readonly consumer?: NameView;
  readonly reason: string;
  readonly errorType?: string;
  readonly errorMessage?: string;
  readonly deliveries?: number;
  readonly atMs?: number;
  readonly replays?: number;
  /** Where the format comes from: our own block or one of the known others. */
  readonly format: 'own' | 'foreign';
}

/** All about one entry. `fields` is null when the stream holds no entry with this id (any more). */
export interface EntryDetail {
  readonly id: string;
  readonly timeMs: number | null;
  readonly fields: readonly FieldView[] | null;
  /** How many fields the entry has; `fields` holds only the first of very many. */
  readonly fieldCount: number;
  readonly bytes: number;
  /** The entry as redis-cli prints it, quoted so that every byte shows. */
  readonly raw: { readonly text: string; readonly truncated: boolean };
  /** In as many groups as one message can carry; those where it is pending come first when these are not all. */
  readonly standings: readonly StandingView[];
  readonly groupCount: number;
  readonly history: readonly HistoryEventView[];
  readonly historyLimits: HistoryLimits;
  readonly deadLetter: DeadLetterView | null;
  /** The redis-cli lines that show the same. */
  readonly commands: readonly string[];
  readonly serverTimeMs: number;
}

/** What can be copied to the clipboard; the host does it. */
export type CopyTarget =
  | { readonly what: 'stream' }
  | { readonly what: 'id'; readonly id: string }
  | { readonly what: 'payload'; readonly id: string }
  | { readonly what: 'value'; readonly id: string; readonly field: number }
  | { readonly what: 'commands'; readonly id: string | null };

/** What can be done to the selected entry; `group` is the name as text without loss, for what is done in one group. */
export type EntryAction =
  | {
      readonly verb: 'makeReclaimable' | 'claim' | 'acknowledge' | 'moveToDeadLetters';
      readonly id: string;
      readonly group: string;
    }
  | { readonly verb: 'replay' | 'delete'; readonly id: string };

/** What the panel needs before it draws. `translations` maps English strings to the display language. */
export interface PanelSession {
  readonly translations: Readonly<Record<string, string>>;
  readonly locale: string;
  readonly selectedId: string | null;
  /** Which panel this is. The page keeps it with its state, so that the panel can be made again after a reload of the window. */
  readonly identity: PanelIdentity;
}

/** A stream panel's connection and stream, as text without loss. */
export interface PanelIdentity {
  readonly connectionId: string;
  readonly stream: string;
}

/** What the stream panel's two sides say to each other. */
// eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- a type alias is assignable to the index signatures
export type StreamPanelContract = {
  readonly requests: {
    readonly session: { readonly params: null; readonly result: PanelSession };
    readonly overview: { readonly params: null; readonly result: StreamOverview };
    readonly entries: { readonly params: EntriesQuery; readonly result: EntriesPage };
    readonly entry: { readonly params: { readonly id: string }; readonly result: EntryDetail };
    /** Opens a value whole, in an editor of its own. */
    readonly openValue: { readonly params: { readonly id: string; readonly field: number }; readonly result: null };
    readonly openDeadLetters: { readonly params: null; readonly result: null };
    /** Opens another entry, of this stream or of another one of the same connection. */
    readonly openEntry: { readonly params: { readonly stream: string; readonly id: string }; readonly result: null };
    /** Runs the next step that an error offered; the host refuses any other command. */
    readonly nextStep: { readonly params: { readonly command: string }; readonly result: null };
    /** Connects when nothing is connected, because somebody pressed Retry. */
    readonly connect: { readonly params: null; readonly result: null };
    readonly copy: { readonly params: CopyTarget; readonly result: null };
    /** Has the host ask and do something; answers when that is over, whatever became of it. */
    readonly act: { readonly params: EntryAction; readonly result: null };
    /** Tells the host which entry is selected, so that a reload shows it again. */
    readonly selected: { readonly params: { readonly id: string | null }; readonly result: null };
  };
  readonly events: {
    /** Show this entry: it was chosen in the tree or found by its id. */
    readonly select: { readonly id: string };
    readonly connection: ConnectionView;
  };
};
