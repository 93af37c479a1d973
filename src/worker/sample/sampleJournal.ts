import { hostname } from 'node:os';
import type { Clock } from '../../base/clock';
import {
  companionKey,
  type ConsumerName,
  type EntryId,
  type GroupName,
  type StreamKey,
  type StreamPort,
} from '../../bus';
import type { JournalEventName } from '../../bus/history/journalEvent';
import { recordJournal } from '../../bus/scripts/journal';

/** How many records each journal of the sample keeps. */
const maxLength = 2_000;

/** Who did something in the sample. */
export interface SampleActor {
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
}

/** What is told of it besides. */
export interface SampleDetails {
  readonly attempt?: number;
  readonly durationMs?: number;
  readonly error?: { readonly type: string; readonly message: string; readonly stack: string };
}

/** Keeps delivery journals of the sample's streams, as the consumers of the bus do with the option `journal`. */
export class SampleJournal {
  constructor(
    private readonly port: StreamPort,
    private readonly clock: Clock,
  ) {}

  /** Records that something happened to entries now. */
  async record(
    { stream, group, consumer }: SampleActor,
    event: JournalEventName,
    ids: readonly EntryId[],
    { attempt = 1, durationMs, error }: SampleDetails = {},
  ): Promise<void> {
    if (ids.length === 0) return;
    const { isCluster } = await this.port.capabilities();
    const hereMs = this.clock.now();
    await this.port.run(recordJournal, {
      journal: companionKey(stream, 'journal', { isCluster }).key,
      maxLength,
      writer: { group, consumer, host: hostname(), pid: process.pid, version: 'sample' },
      hereMs,
      records: [
        {
          event,
          ids: ids.join(','),
          attempts: String(attempt),
          durations: durationMs === undefined ? '' : String(Math.round(durationMs)),
          time: { hereMs },
          error,
        },
      ],
    });
  }
}
