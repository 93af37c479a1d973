import type { Clock } from '../base/clock';
import type { Disposable } from '../base/disposables';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { WriteGate } from '../connections/gate';
import type { LiveConnection } from '../connections/liveConnection';
import { removeDebugGroup } from '../connections/verbs/removeDebugGroup';
import type { Log } from '../ui/log';
import type { DebugGroup, DebugGroups } from './debugGroups';

/** What sweeping needs. */
export interface DebugGroupSweepDeps {
  readonly connections: ConnectionRegistry;
  readonly gate: WriteGate;
  readonly groups: DebugGroups;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether a running session of this window has the group. */
  readonly isInUse: (group: DebugGroup) => boolean;
}

/** A consumer that was killed counts as seen for 10 s. */
const secondLookMs = 11_000;

/**
 * Removes the groups that debug sessions made and could not remove themselves: when a session has ended, and when a connection opens
 * or is unlocked. Only what was remembered, bears the mark and has nobody else in it; only where the gate is open.
 */
export class DebugGroupSweep implements Disposable {
  private readonly listener: Disposable;
  private readonly waits = new Set<() => void>();
  private readonly seen = new WeakMap<LiveConnection, string>();
  private sweeping: Promise<void> = Promise.resolve();

  constructor(private readonly deps: DebugGroupSweepDeps) {
    this.listener = deps.connections.onDidChange((connection) => {
      if (connection) this.connectionChanged(connection);
    });
  }

  /** Looks at the groups of a connection now, and again when a killed consumer no longer counts as seen. */
  sessionEnded(connection: LiveConnection): void {
    this.sweep(connection);
    const cancel = this.deps.clock.after(secondLookMs, () => {
      this.waits.delete(cancel);
      this.sweep(connection);
    });
    this.waits.add(cancel);
  }

  dispose(): void {
    this.listener.dispose();
    for (const cancel of this.waits) cancel();
    this.waits.clear();
  }

  private connectionChanged(connection: LiveConnection): void {
    const { gate } = this.deps;
    const state = connection.state.kind === 'connected' && gate.isOpen(connection) ? 'open' : 'closed';
    const before = this.seen.get(connection);
    this.seen.set(connection, state);
    if (state === 'open' && before !== 'open') this.sweep(connection);
  }

  private sweep(connection: LiveConnection): void {
    const mine = this.deps.groups.list().filter((group) => group.connection === connection.profile.id);
    if (mine.length === 0) return;
    this.sweeping = this.sweeping.then(async () => {
      for (const group of mine) {
        if (this.deps.isInUse(group)) continue;
        try {
          await this.remove(connection, group);
        } catch (error) {
          // It stays remembered, and is tried again when the connection next opens.
          this.deps.log.warn(
            `The debug group ${group.group} could not be removed: ${error instanceof Error ? error.message : String(error)}`,
          );
        }
      }
    });
  }

  private async remove(connection: LiveConnection, group: DebugGroup): Promise<void> {
    const { gate, groups } = this.deps;
    if (connection.state.kind !== 'connected') return;
    const plan = await gate.plan(connection, removeDebugGroup, group);
    if (plan.preview.items.length === 0) {
      await groups.forget(group);
      return;
    }
    if (!gate.isOpen(connection)) return;
    const report = await gate.run(plan);
    if (report.results.every(({ outcome }) => outcome === 'done')) await groups.forget(group);
  }
}
