import { BusError } from '../errors';
import { compareEntryIds, minEntryId } from '../ids';
import type { EntryId, GroupName, StreamKey } from '../ids';
import type { GroupStart, StreamPort } from '../port';
import type { EventHub } from './events';

/** What keeping a group needs to know. */
export interface GroupKeeperOptions {
  readonly port: StreamPort;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly start: GroupStart;
  readonly mayCreate: boolean;
  readonly events: EventHub;
}

/** Creates the consumer's group, and makes it again where it was when it vanishes with its stream or by somebody's hand. */
export class GroupKeeper {
  /** The last new entry that this consumer was given. */
  lastSeen: EntryId | undefined;
  private isEnsured = false;

  constructor(private readonly options: GroupKeeperOptions) {}

  get mayCreate(): boolean {
    return this.options.mayCreate;
  }

  /** Makes the group when it is missing, once. */
  async ensure(): Promise<void> {
    const { port, stream, group, start, mayCreate } = this.options;
    if (this.isEnsured || !mayCreate) return;
    const isNew = await port.createGroup(stream, group, start, { makeStream: true });
    // A group that began at the end must not begin at a later end when it has to be made again.
    if (isNew && start === '$') this.lastSeen = (await port.streamInfo(stream)).lastGeneratedId;
    this.isEnsured = true;
  }

  /**
   * Makes a vanished group again: after the last entry seen when the stream still goes that far, else from where groups start; never
   * at the end of a new stream, because what was published meanwhile would be skipped.
   */
  async recreate(): Promise<void> {
    const { port, stream, group, events } = this.options;
    const start = await this.resumeAt();
    if (await port.createGroup(stream, group, start, { makeStream: true })) events.emit('group-recreated', { start });
  }

  private async resumeAt(): Promise<GroupStart> {
    const { port, stream, start } = this.options;
    try {
      const { lastGeneratedId } = await port.streamInfo(stream);
      if (this.lastSeen !== undefined && compareEntryIds(lastGeneratedId, this.lastSeen) >= 0) return this.lastSeen;
    } catch (error) {
      if (!BusError.is(error, 'no-key')) throw error;
    }
    return start === '$' ? minEntryId : start;
  }
}
