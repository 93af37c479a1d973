/**
 * What the bus publishes on `node:diagnostics_channel`, for tools that trace it without its options. Nothing is made for a channel to
 * which nobody subscribes. No message holds payload.
 */
import diagnostics from 'node:diagnostics_channel';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../ids';
import { channelNames } from './names';

/** On `bus:publish`, when a publication ended. */
export interface PublishMessage {
  readonly stream: StreamKey;
  /** Undefined when it failed. */
  readonly id: EntryId | undefined;
  readonly type: string;
  readonly durationMs: number;
  /** `ok`, `duplicate`, or the kind of the failure. */
  readonly outcome: string;
}

/** On `bus:process`, before a handler begins and when it ended or was given up. */
export type ProcessMessage = {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly id: EntryId;
  readonly type: string;
  readonly deliveryCount: number;
} & (
  | { readonly phase: 'begin' }
  | {
      readonly phase: 'end';
      readonly durationMs: number;
      readonly outcome: string;
      /** Undefined when the handler returned. */
      readonly errorKind: string | undefined;
    }
);

/** On `bus:settle`, when a call to the server that settles messages ended. */
export interface SettleMessage {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly operation: 'ack' | 'nack' | 'release' | 'dead-letter';
  readonly ids: readonly EntryId[];
  readonly durationMs: number;
  /** `ok` or the kind of the failure. */
  readonly outcome: string;
}

/** The channels; ask `hasSubscribers` before making a message. */
export const channels = {
  publish: diagnostics.channel(channelNames.publish),
  process: diagnostics.channel(channelNames.process),
  settle: diagnostics.channel(channelNames.settle),
} as const;
