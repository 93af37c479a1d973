/**
 * The write gate: the only way for the extension host to write to a server. Anything but a local connection starts read-only and is
 * unlocked for a while, one at a time. What is to be written is a verb (`verbs/`), planned by reading, written down before it is
 * sent, sent at most 100 ids a call, and never sent again: a reply that was lost is `unknown`, and the state is read anew.
 * Knows nothing of VS Code. Tests: test/bus/act*.test.ts, test/unit/actGate.test.ts.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposables';
import type { Localizer } from '../base/localize';
import { BusError, streamKey } from '../bus';
import type { ActionLog, LoggedItem } from './actionLog';
import { ConnectionError } from './connectionFailure';
import { reasonOf } from './describeFailure';
import { takeGateAccess } from './gatePorts';
import type { LiveConnection } from './liveConnection';
import { shownUrl } from './settingProfiles';
import { batches } from './verbs/pendingRows';
import type { ItemResult, Mode, PlannedItem, Preview, Undo, Verb } from './verbs/verb';

/** How long writing stays unlocked when nothing else is said. */
export const defaultUnlockMs = 15 * 60_000;

/** What would be done: a verb, what was chosen, and what was found by reading. Made by the gate only. */
export interface Plan<Request, Item extends PlannedItem> {
  readonly connection: LiveConnection;
  readonly verb: Verb<Request, Item>;
  readonly request: Request;
  readonly preview: Preview<Item>;
  readonly mode: Mode;
  /** Where the connection led when it was planned. */
  readonly url: string;
}

/** How to run a plan. */
export interface RunOptions {
  /** Stops between two calls; what was sent is waited for. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** A result, and after an error what was found when the state was read again. */
export interface ReportedItem extends ItemResult {
  readonly found?: string;
}

/** What came of a plan. */
export interface Report {
  /** Its id in the action log. */
  readonly action: string;
  /** In the order of the plan's items. */
  readonly results: readonly ReportedItem[];
  /** The error that ended it early. */
  readonly error?: { readonly reason: string; readonly message: string; readonly ambiguous: boolean };
  /** True when this user may not run scripts and nothing was changed: it can be planned again without the guard. */
  readonly scriptsRefused: boolean;
}

/** What the gate needs from outside. */
export interface WriteGateDeps {
  readonly clock: Clock;
  readonly log: ActionLog;
  readonly l10n: Localizer;
  /** For the log: never names a payload. */
  readonly warn: (message: string) => void;
}

/** See the head of this file. */
export class WriteGate implements Disposable {
  private readonly timers = new Map<LiveConnection, () => void>();
  private readonly withoutScripts = new WeakSet<LiveConnection>();

  constructor(private readonly deps: WriteGateDeps) {}

  /** Whether anything may be written over a connection now. */
  isOpen({ profile, writableUntilMs }: LiveConnection): boolean {
    return profile.environment === 'local' || writableUntilMs !== undefined;
  }

  /** Lets writes through for a while; asking people is the caller's part. */
  unlock(connection: LiveConnection, forMs = defaultUnlockMs): void {
    const untilMs = this.deps.clock.now() + forMs;
    takeGateAccess(connection).setWritableUntil(untilMs);
    this.countDown(connection);
  }

  /** Lets no more writes through; a call that was sent is still answered. */
  lock(connection: LiveConnection): void {
    this.timers.get(connection)?.();
    this.timers.delete(connection);
    takeGateAccess(connection).setWritableUntil(undefined);
  }

  /** Reads what a verb would do. Also works while writing is locked: nothing is written. Rejects as a read does. */
  async plan<Request, Item extends PlannedItem>(
    connection: LiveConnection,
    verb: Verb<Request, Item>,
    request: Request,
    options: { readonly mode?: Mode } = {},
  ): Promise<Plan<Request, Item>> {
    const preview = await connection.read((inspect) => verb.preview(inspect, request));
    if (options.mode === 'unguarded') this.withoutScripts.add(connection);
    const mode = preview.hasScripts && !this.withoutScripts.has(connection) ? 'guarded' : 'unguarded';
    return { connection, verb, request, preview, mode, url: connection.profile.url };
  }

  /**
   * Does what was planned. Rejects with a ConnectionError, and sends nothing, when writing is locked, the plan is for another server,
   * cannot be done or cannot be written down. Everything else is in the report.
   */
  async run<Request, Item extends PlannedItem>(plan: Plan<Request, Item>, options: RunOptions = {}): Promise<Report> {
    const { connection, verb, request, preview, mode } = plan;
    this.check(plan);
    const action = randomUUID();
    await this.writeStart(action, plan);
    const access = takeGateAccess(connection);
    const results: ReportedItem[] = [];
    let error: Report['error'];
    for (const batch of batches(preview.items)) {
      if (
        error ||
        options.signal?.aborted === true ||
        !this.isOpen(connection) ||
        connection.profile.url !== plan.url
      ) {
        results.push(...batch.map(({ id }) => ({ id, outcome: 'not-tried', status: 'not-tried' }) as const));
        continue;
      }
      try {
        const done = await access.use((port) => verb.run(port, request, batch, mode));
        results.push(...done);
        await this.writeReply(action, batch, done, undefined);
      } catch (thrown) {
        error = errorOf(thrown);
        const found = await this.recheck(connection, verb, request, batch);
        const outcome = error.ambiguous ? 'unknown' : 'failed';
        const status = error.reason;
        const failed = batch.map(({ id }, index): ReportedItem => {
          const state = found[index];
          return { id, outcome, status, ...(state === undefined ? {} : { found: state }) };
        });
        results.push(...failed);
        await this.writeReply(action, batch, failed, error);
      }
      options.onProgress?.(results.length, preview.items.length);
    }
    const isRefusal = error?.reason === 'no-permission' || error?.reason === 'unknown-command';
    // A copy that was left shows that the script ran, and that something inside it was refused.
    const scriptsRefused =
      isRefusal &&
      mode === 'guarded' &&
      results.every(
        ({ outcome, found }) =>
          (outcome === 'failed' && !(found ?? '').includes(', dead letter ')) || outcome === 'not-tried',
      );
    return { action, results, scriptsRefused, ...(error ? { error } : {}) };
  }

  dispose(): void {
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  private check<Request, Item extends PlannedItem>({ connection, url, preview }: Plan<Request, Item>): void {
    const { l10n } = this.deps;
    const { profile } = connection;
    if (!this.isOpen(connection))
      throw new ConnectionError({
        reason: 'read-only',
        message: l10n.t('{0} is read-only: unlock writing first. Nothing was changed.', profile.name),
        retriable: true,
        nextStep: { title: l10n.t('Unlock Writing…'), command: 'redisStreams.unlockWriting' },
      });
    if (profile.url !== url || preview.obstacle)
      throw new ConnectionError({
        reason: 'cancelled',
        message: l10n.t('This cannot be done on {0} as it is now. Nothing was changed.', profile.name),
        retriable: false,
      });
  }

  /** What is true now; unknown when that cannot be read either. */
  private async recheck<Request, Item extends PlannedItem>(
    connection: LiveConnection,
    verb: Verb<Request, Item>,
    request: Request,
    items: readonly Item[],
  ): Promise<readonly (string | undefined)[]> {
    try {
      await connection.connect();
      return await connection.read((inspect) => verb.recheck(inspect, request, items));
    } catch {
      // The link is still down or the key is gone: the tree and the error say so.
      return [];
    }
  }

  private async writeStart<Request, Item extends PlannedItem>(
    action: string,
    { connection: { profile }, verb, request, preview, mode }: Plan<Request, Item>,
  ): Promise<void> {
    const { stream, group } = verb.targetOf(request);
    const undo = undoOf(verb.undo(request), preview.items);
    await this.written(profile, {
      action,
      kind: 'sent',
      at: this.nowIso(),
      verb: verb.name,
      connection: { id: profile.id, name: profile.name, environment: profile.environment, url: shownUrl(profile) },
      stream,
      ...(group === undefined ? {} : { group }),
      guarded: mode === 'guarded',
      choices: verb.logged(request),
      ...(undo === undefined ? {} : { undo }),
      total: preview.items.length,
    });
  }

  private async written(profile: LiveConnection['profile'], line: Parameters<ActionLog['append']>[0]): Promise<void> {
    try {
      await this.deps.log.append(line);
    } catch (error) {
      const { l10n } = this.deps;
      throw new ConnectionError(
        {
          reason: 'not-logged',
          message: l10n.t(
            'Nothing was changed on {0}: the action log cannot be written ({1}).',
            profile.name,
            error instanceof Error ? error.message : String(error),
          ),
          retriable: true,
          nextStep: { title: l10n.t('Open Log'), command: 'redisStreams.openLog' },
        },
        { cause: error },
      );
    }
  }

  private async writeReply(
    action: string,
    batch: readonly PlannedItem[],
    results: readonly ReportedItem[],
    error: Report['error'] | undefined,
  ): Promise<void> {
    const items = results.map((result, index): LoggedItem => {
      const before = batch[index]?.before;
      return before === undefined ? result : { ...result, before };
    });
    const why = error === undefined ? {} : { error: { reason: error.reason, ambiguous: error.ambiguous } };
    try {
      await this.deps.log.append({ action, kind: 'reply', at: this.nowIso(), items, ...why });
    } catch (failure) {
      // It was done all the same; its first line stands in the log, and so it counts as unknown there.
      this.deps.warn(`The outcome of action ${action} could not be written down: ${String(failure)}`);
    }
  }

  private nowIso(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }

  /** Tells once a minute how much time is left, and locks when it is over. */
  private countDown(connection: LiveConnection): void {
    this.timers.get(connection)?.();
    const leftMs = (connection.writableUntilMs ?? 0) - this.deps.clock.now();
    if (leftMs <= 0) {
      this.lock(connection);
      return;
    }
    const cancel = this.deps.clock.after(Math.min(leftMs, leftMs % 60_000 || 60_000), () => {
      const { writableUntilMs } = connection;
      if (writableUntilMs !== undefined) takeGateAccess(connection).setWritableUntil(writableUntilMs);
      this.countDown(connection);
    });
    this.timers.set(connection, cancel);
  }
}

function undoOf(undo: Undo | undefined, items: readonly PlannedItem[]): Undo | undefined {
  const [first] = items;
  if (undo?.kind !== 'return-from-dead-letters' || !first || !('deadLetters' in first)) return undo;
  return typeof first.deadLetters === 'string' ? { ...undo, deadLetters: streamKey(first.deadLetters) } : undo;
}

function errorOf(thrown: unknown): NonNullable<Report['error']> {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { reason: reasonOf(thrown), message, ambiguous: BusError.is(thrown) && thrown.details.ambiguous === true };
}
