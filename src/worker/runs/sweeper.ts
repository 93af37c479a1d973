import type { Clock } from '../../base/clock';
import { BusError, compareEntryIds, groupName, minEntryId } from '../../bus';
import type { EntryId, HandlerLog, StreamKey, StreamPort } from '../../bus';
import type { FailureMarker } from './failureMarker';
import type { PendingCursor, Run, RunStore } from './runStore';

/** What sweeping needs. */
export interface SweeperParts {
  readonly store: RunStore;
  readonly port: Pick<StreamPort, 'groupInfos' | 'pending' | 'range'>;
  readonly stream: StreamKey;
  readonly group: string;
  readonly marker: FailureMarker;
  readonly publish: (run: Run, lost?: EntryId) => Promise<EntryId>;
  readonly clock: Clock;
  readonly log: HandlerLog;
  /** How long a run is pending before it is looked at. */
  readonly staleMs: number;
  /** How often to sweep. */
  readonly intervalMs: number;
}

/** What one sweep did. */
export interface Sweep {
  /** Runs whose dead letters told that they failed. */
  readonly failed: number;
  /** Runs that no entry carried any more, or none yet, and that were published. */
  readonly published: number;
  /** Runs that wait for a worker, or are with one. */
  readonly underway: number;
}

/** Where the entry of a run stands: still to come to an end, or at one. */
type Standing = 'underway' | 'settled' | 'missing';

/** How many runs one sweep looks at; the next goes on behind them. */
const maxRuns = 1000;
const pageSize = 100;

/**
 * Sees to it that every run comes to an end, whoever died where.
 *
 * Runs of dead letters are marked failed. A run that stayed pending for long is published when the store knows of no entry (the hole
 * between persisting and publishing), or when its entry is neither unread nor pending and not among the dead letters (it was lost with
 * the server's memory, trimmed, or acknowledged by somebody else). Publishing is deduplicated, so any number of sweepers may run; an
 * entry too many is acknowledged by the worker that finds the run done.
 */
export class Sweeper {
  private cursor: PendingCursor | undefined;
  private cancel: (() => void) | undefined;
  private sweeping: Promise<unknown> = Promise.resolve();
  private isStopped = false;
  private lastTrouble = '';

  constructor(private readonly parts: SweeperParts) {}

  /** Sweeps every so often until `stop`. A sweep that fails is tried again; its reason is logged once. */
  start(): void {
    const { clock, intervalMs, log } = this.parts;
    if (this.isStopped) return;
    this.cancel = clock.after(intervalMs, () => {
      this.sweeping = this.sweep().then(
        ({ failed, published }) => {
          this.lastTrouble = '';
          if (failed + published > 0) log.info('Swept', { failed, published });
        },
        (error: unknown) => {
          const trouble = `Sweeping failed, which will be tried again: ${error instanceof Error ? error.message : 'unknown'}`;
          if (trouble !== this.lastTrouble && !this.isStopped) log.warn(trouble);
          this.lastTrouble = trouble;
        },
      );
      void this.sweeping.then(() => {
        this.start();
      });
    });
  }

  /** Stops for good; resolves when a sweep that runs is over. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel?.();
    await this.sweeping;
  }

  /** Sweeps once. */
  async sweep(): Promise<Sweep> {
    const { store, marker, staleMs } = this.parts;
    const sweep = { failed: await marker.catchUp(), published: 0, underway: 0 };
    for (let seen = 0; seen < maxRuns && !this.isStopped; seen += pageSize) {
      const { runs, next } = await store.listPending({
        olderThanMs: staleMs,
        limit: pageSize,
        ...(this.cursor === undefined ? {} : { after: this.cursor }),
      });
      if (runs.length > 0) {
        const read = await this.lastDelivered();
        for (const run of runs) await this.look(run, read, sweep);
      }
      this.cursor = next;
      if (next === undefined) break;
    }
    return sweep;
  }

  private async look(run: Run, read: EntryId, sweep: { failed: number; published: number; underway: number }) {
    const { store, marker, publish } = this.parts;
    let lost: EntryId | undefined;
    if (run.streamId !== undefined) {
      if ((await this.standing(run.streamId, read)) === 'underway') {
        sweep.underway += 1;
        return;
      }
      // Whoever settled the entry wrote down the outcome before, or moved it to the dead letters in the same step.
      sweep.failed += await marker.catchUp();
      const now = await store.get(run.runId);
      if (now?.status !== 'pending' || now.streamId !== run.streamId) return;
      lost = run.streamId;
    }
    await store.published(run.runId, await publish(run, lost));
    sweep.published += 1;
  }

  private async standing(id: EntryId, read: EntryId): Promise<Standing> {
    const { port, stream, group } = this.parts;
    const [[pending], [entry]] = await Promise.all([
      port.pending(stream, groupName(group), { from: id, to: id, count: 1 }).catch(withoutGroup),
      port.range(stream, { from: id, to: id, count: 1 }),
    ]);
    if (pending) return 'underway';
    if (!entry) return 'missing';
    return compareEntryIds(id, read) > 0 ? 'underway' : 'settled';
  }

  /** Up to where the group has read; entries above it are still to come. Read before anything is asked about an entry. */
  private async lastDelivered(): Promise<EntryId> {
    const { port, stream, group } = this.parts;
    try {
      const infos = await port.groupInfos(stream);
      return infos.find(({ name }) => name === group)?.lastDeliveredId ?? minEntryId;
    } catch (error) {
      if (BusError.is(error, 'no-key')) return minEntryId;
      throw error;
    }
  }
}

function withoutGroup(error: unknown): readonly never[] {
  if (BusError.is(error, 'no-group') || BusError.is(error, 'no-key')) return [];
  throw error;
}
