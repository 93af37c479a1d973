import type { Disposable } from '../../base/disposables';
import type { DeadLetterReason, ReplayOrigin } from '../deadLetters';
import type { ConsumerName, EntryId, StreamKey } from '../ids';
import type { CloseReport } from './closeReport';

/** How one run of a handler ended. `aborted`: it was asked to stop because the entry was lost or the consumer closes. */
export type HandledOutcome = 'completed' | 'failed' | 'timed-out' | 'retry-later' | 'rejected' | 'aborted';

/** What a consumer tells of itself. No event carries payload; errors are the handler's own and may. */
export interface ConsumerEvents {
  /** Read or taken over, and about to be queued for a handler; `deliveries` counts this one. */
  delivered: {
    readonly id: EntryId;
    readonly deliveries: number;
    readonly isTakenOver: boolean;
    /** Whose it was when it was taken over; this consumer itself for its own retries. Undefined when nobody's or not known. */
    readonly previousOwner: ConsumerName | undefined;
    /** Where it came from when it is a replayed dead letter. */
    readonly replayOf: ReplayOrigin | undefined;
  };
  /** A handler ended, or was given up; comes before what is done about it. */
  handled: {
    readonly id: EntryId;
    readonly deliveries: number;
    readonly durationMs: number;
    readonly outcome: HandledOutcome;
    /** What it threw; undefined when it completed. */
    readonly error: unknown;
  };
  /** Acknowledged after their handlers returned. */
  acknowledged: { readonly ids: readonly EntryId[] };
  /** Their handlers returned, but these many were not pending any more: somebody else settled them, perhaps after running them too. */
  'settled-elsewhere': { readonly ids: readonly EntryId[]; readonly count: number };
  'handler-failed': { readonly id: EntryId; readonly deliveries: number; readonly error: unknown };
  /** The handler's time was up; it was asked to stop. */
  'handler-timeout': { readonly id: EntryId; readonly deliveries: number; readonly timeoutMs: number };
  'retry-scheduled': { readonly id: EntryId; readonly deliveries: number; readonly delayMs: number };
  'dead-lettered': {
    readonly id: EntryId;
    readonly deadId: EntryId;
    readonly reason: DeadLetterReason;
    readonly deliveries: number;
    /** As they stand in the dead letter; empty when nothing was thrown. */
    readonly errorType: string;
    readonly errorMessage: string;
  };
  /** Nobody can handle it and there are no dead letters to move it to: it stays pending, and is looked at again after the backoff. */
  refused: {
    readonly id: EntryId;
    readonly deliveries: number;
    readonly reason: 'invalid' | 'unroutable';
    readonly error: unknown;
  };
  /** The move failed and will be tried again; the entry stays pending and is not handled meanwhile. */
  'dead-letter-failed': { readonly ids: readonly EntryId[]; readonly error: unknown };
  /** They could not be settled and never will be by this consumer; they stay pending. */
  'settle-failed': { readonly ids: readonly EntryId[]; readonly error: unknown };
  /** Another consumer owns it now, or it is not pending any more; its handler was aborted and its result does not count. */
  'ownership-lost': { readonly id: EntryId; readonly owner: ConsumerName | undefined };
  /** A handler came to its end after the entry was settled without it, or taken by somebody else. */
  'late-result': { readonly id: EntryId };
  'heartbeat-failed': { readonly error: unknown };
  /** The journal cannot be written, which changes nothing else. Told once for each reason until it can be written again. */
  'journal-failed': {
    readonly key: StreamKey;
    readonly error: unknown;
    readonly retryInMs: number;
    readonly dropped: number;
  };
  /** The journal is written again; so many events are missing in it. */
  'journal-resumed': { readonly key: StreamKey; readonly dropped: number };
  /** Taken over from other consumers, or its own scheduled retries. */
  reclaimed: { readonly ids: readonly EntryId[] };
  /** Pending, but their messages were deleted or trimmed; they are lost. */
  'lost-to-trim': { readonly ids: readonly EntryId[] };
  /** Given back without their delivery being counted. */
  released: { readonly ids: readonly EntryId[] };
  /** The reading connection failed; the next try comes after `retryInMs`. */
  'reader-failed': { readonly error: unknown; readonly attempt: number; readonly retryInMs: number };
  'reader-reconnected': { readonly attempts: number };
  /** The group had vanished with its stream, or by XGROUP DESTROY or eviction; it reads again from after `start`. */
  'group-recreated': { readonly start: EntryId | '$' };
  started: { readonly name: ConsumerName };
  paused: { readonly name: ConsumerName };
  resumed: { readonly name: ConsumerName };
  /** The consumer stopped reading for good; what it holds is still settled. */
  fatal: { readonly error: unknown };
  closed: CloseReport;
}

/** The name of an event of a consumer. */
export type ConsumerEventName = keyof ConsumerEvents;

type Listener<Name extends ConsumerEventName> = (event: ConsumerEvents[Name]) => void;
type ListenerSets = { [Name in ConsumerEventName]?: Set<Listener<Name>> };

/** The listeners of a consumer's events. A listener that throws fails the process, as an event emitter's would. */
export class EventHub {
  private readonly listeners: ListenerSets = {};

  on<Name extends ConsumerEventName>(name: Name, listener: Listener<Name>): Disposable {
    const own: Listener<Name> = (event) => {
      listener(event);
    };
    const set: Set<Listener<Name>> = this.listeners[name] ?? new Set<Listener<Name>>();
    (this.listeners as Record<Name, Set<Listener<Name>>>)[name] = set;
    set.add(own);
    return { dispose: () => set.delete(own) };
  }

  /** Tells whether anybody listens, so that events which are costly to make need not be made. */
  has(name: ConsumerEventName): boolean {
    return (this.listeners[name]?.size ?? 0) > 0;
  }

  emit<Name extends ConsumerEventName>(name: Name, event: ConsumerEvents[Name]): void {
    const set: Set<Listener<Name>> | undefined = this.listeners[name];
    if (set) for (const listener of [...set]) listener(event);
  }
}
