import type { EntryFields } from '../entries';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { traceFields } from './names';
import type { Operation } from './names';

/** A span that is under way. */
export interface OpenSpan {
  /** False when nobody keeps it: then it need not be remembered for what comes after it. */
  readonly wasRecording: boolean;
  /** Runs something in the span's context. */
  run<T>(work: () => T): T;
  /** Ends it, once; `error` is the kind of a failure. */
  end(result?: SpanResult): void;
}

/** How what a span stands for ended. */
export interface SpanResult {
  readonly error?: string;
  /** The id of a message that was published. */
  readonly id?: EntryId;
  readonly outcome?: string;
}

/** Who consumes. */
export interface ConsumerIdentity {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
}

/** What is published. `headers` get the trace context unless they have one. */
export interface PublishSubject {
  readonly stream: StreamKey;
  readonly type: string;
  readonly key: string | undefined;
  readonly headers: Record<string, string>;
}

/** What is handled. `type` is one of a fixed set. */
export interface ProcessSubject extends ConsumerIdentity {
  readonly id: EntryId;
  readonly type: string;
  readonly key: string | undefined;
  readonly deliveryCount: number;
  readonly fields: EntryFields;
}

/** A call to the server that settles or takes over messages. */
export interface CallSubject extends ConsumerIdentity {
  readonly operation: Operation;
  readonly count: number;
  /** When there is but one message. */
  readonly id: EntryId | undefined;
  readonly reason?: string | undefined;
  /** The spans of the messages' handlers: of one message the parent, of several links. */
  readonly of: readonly OpenSpan[];
  /** When it began, milliseconds since the epoch, for a call that is told after it ended. */
  readonly startMs?: number;
}

/** Makes spans. Each method answers undefined when nobody traces. */
export interface Tracing {
  publish(subject: PublishSubject): OpenSpan | undefined;
  process(subject: ProcessSubject): OpenSpan | undefined;
  call(subject: CallSubject): OpenSpan | undefined;
}

const names = Object.values(traceFields).map((name) => ({ name, bytes: Buffer.from(name) }));

/** The fields of an entry that carry trace context; undefined when there are none. Of fields with the same name the first counts. */
export function traceCarrier(fields: EntryFields): Readonly<Record<string, string>> | undefined {
  let carrier: Record<string, string> | undefined;
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const field = fields[index];
    if (!field || field.length < 7 || field.length > 11) continue;
    for (const { name, bytes } of names) {
      if (field.length !== bytes.length || !field.equals(bytes)) continue;
      carrier ??= {};
      carrier[name] ??= fields[index + 1]?.toString('utf8') ?? '';
    }
  }
  return carrier;
}
