/**
 * The handler contract: what a worker calls for each message, `(message, context)`.
 *
 * How it ends decides what happens to the entry: returning acknowledges it; throwing leads to a retry, or to the dead letters when
 * it was the last delivery allowed; throwing `RetryLater` chooses the delay; throwing `Reject` sends it to the dead letters now.
 * There is no `ack()` to forget. An example that runs is `src/worker/sampleHandler.ts`.
 */
import type { EntryFields } from '../entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';

/** What a handler gets: one entry, decoded. */
export interface Message<Body = unknown, Type extends string | undefined = string | undefined> {
  readonly id: EntryId;
  readonly stream: StreamKey;
  /** The message type, when the codec knows types; otherwise undefined. */
  readonly type: Type;
  /** The fields as text, by name, for reading and for the debugger; of fields with the same name the last. Never has a prototype. */
  readonly fields: Readonly<Record<string, string>>;
  /** The fields as they are: bytes, in order, duplicates included. */
  readonly rawFields: EntryFields;
  /** What the codec and schema made of the fields; without a codec the same as `fields`. */
  readonly body: Body;
}

/** Where a handler can write structured lines; payloads do not belong there. */
export interface HandlerLog {
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** What a handler may know and do besides the message. */
export interface HandlerContext {
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  /** How often this entry has been delivered to the group, this time included; a hint of the server, at least 1. */
  readonly deliveryCount: number;
  /** True when the entry was delivered before, to this or another consumer. */
  readonly redelivered: boolean;
  /** When the entry was published by its id, milliseconds since the epoch; undefined when its id is not a time. */
  readonly publishedAtMs: number | undefined;
  /** Headers carried in the fields by the codec, such as trace context. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the handler's time is up, the worker closes or the ownership of the entry is lost; `reason` tells which. */
  readonly signal: AbortSignal;
  readonly log: HandlerLog;
  /** Asks for this much more time before the handler's timeout, from now. */
  readonly extend: (ms: number) => void;
}

/** A message handler. The value that it returns is ignored. */
export type Handler<Body = unknown, Type extends string | undefined = string | undefined> = (
  message: Message<Body, Type>,
  context: HandlerContext,
) => unknown;

/** A handler of messages of a union of kinds, told apart by their `type`. */
export type HandlerOf<Received> = (message: Received, context: HandlerContext) => unknown;

/**
 * One handler for all messages of a topic, or one for each type, which gets what the schema of that type makes. A type may be left out; its
 * messages are unroutable.
 */
export type HandlersOf<Received extends { readonly type: string | undefined }> =
  | HandlerOf<Received>
  | (string extends Received['type']
      ? Readonly<Record<string, HandlerOf<Received>>>
      : {
          readonly [Type in Received['type'] & string]?: HandlerOf<Extract<Received, { readonly type: Type }>>;
        });

/** Thrown by a handler to be given the same entry again after a delay of its choice, in milliseconds. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';

  constructor(
    readonly delayMs: number,
    message = 'The handler asked for a later retry',
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** Thrown by a handler to send the entry to the dead letters at once, whatever its delivery count. */
export class Reject extends Error {
  override readonly name = 'Reject';

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }
}
