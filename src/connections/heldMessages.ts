import type { Disposable } from '../base/disposables';
import { Emitter } from '../base/emitter';
import type { ConsumerName, EntryId, GroupName, StreamKey } from '../bus';
import type { ConnectionId } from './profiles';

/** A consumer that a debug session of this window runs, and the messages that its handlers have now. */
export interface HeldMessages {
  readonly connection: ConnectionId;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly ids: readonly EntryId[];
}

/** What debug sessions hold now, so that whoever shows pending entries can say so. Written by `debugging`, read by `tree`. */
export class HeldByDebugger implements Disposable {
  private readonly bySession = new Map<string, HeldMessages>();
  private readonly changed = new Emitter<ConnectionId>();

  /** Fires with the connection of what changed. */
  readonly onDidChange = (listener: (connection: ConnectionId) => void): Disposable => this.changed.event(listener);

  /** Says what a session holds now; undefined when it is over. */
  set(session: string, held: HeldMessages | undefined): void {
    const before = this.bySession.get(session);
    if (held) this.bySession.set(session, held);
    else this.bySession.delete(session);
    const connection = held?.connection ?? before?.connection;
    if (connection !== undefined) this.changed.fire(connection);
  }

  /** Whether a debug session runs this consumer. */
  isConsumer(connection: ConnectionId, stream: StreamKey, group: GroupName, consumer: ConsumerName): boolean {
    return this.of(connection, stream, group).some((held) => held.consumer === consumer);
  }

  /** Whether a handler that is being debugged has this message. */
  isHeld(connection: ConnectionId, stream: StreamKey, group: GroupName, id: EntryId): boolean {
    return this.of(connection, stream, group).some(({ ids }) => ids.includes(id));
  }

  dispose(): void {
    this.bySession.clear();
    this.changed.dispose();
  }

  private of(connection: ConnectionId, stream: StreamKey, group: GroupName): readonly HeldMessages[] {
    return [...this.bySession.values()].filter(
      (held) => held.connection === connection && held.stream === stream && held.group === group,
    );
  }
}
