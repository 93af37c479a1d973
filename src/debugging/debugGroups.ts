import { userInfo } from 'node:os';
import type { ConsumerName, GroupName, StreamKey } from '../bus';
import type { ConnectionId } from '../connections/profiles';

/** A group that was made for debugging, and the consumers that this user's sessions had in it. */
export interface DebugGroup {
  readonly connection: ConnectionId;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumers: readonly ConsumerName[];
}

/** The part of VS Code's memento that is used. */
interface KeyValueStore {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const stateKey = 'redisStreams.debugGroups';

/** The most consumers that are remembered for a group. */
const maxConsumers = 20;

const debugMark = /(?:^|-)debug-[\w.-]+$/;

/**
 * The name of the group that a debug session makes for itself: the mark at its end tells whose it is. Beside a group that has a mark
 * already the name holds one mark all the same.
 */
export function debugGroupName(group: string | undefined, user = userName()): string {
  const base = group?.replace(debugMark, '');
  return base === undefined || base === '' ? `debug-${user}` : `${base}-debug-${user}`;
}

/** Tells whether a group's name says that it was made for debugging. */
export function hasDebugMark(group: string): boolean {
  return debugMark.test(group);
}

/** Who is debugging, fit for a name. */
export function userName(): string {
  const safe = userInfo().username.replaceAll(/[^\w.-]+/g, '_');
  return safe === '' ? 'user' : safe;
}

/**
 * Remembers the groups that were made for debugging until they are known to be gone, across windows and restarts: written down before
 * a group is made, so that none is forgotten.
 */
export class DebugGroups {
  constructor(private readonly state: KeyValueStore) {}

  list(): readonly DebugGroup[] {
    const value = this.state.get(stateKey);
    return Array.isArray(value) ? value.filter(isDebugGroup) : [];
  }

  /** The consumers of earlier sessions in a group; undefined when the group is not one of ours. */
  consumersOf(group: Omit<DebugGroup, 'consumers'>): readonly ConsumerName[] | undefined {
    return this.list().find((known) => isSame(known, group))?.consumers;
  }

  async remember(group: Omit<DebugGroup, 'consumers'>, consumer: ConsumerName): Promise<void> {
    const { connection, stream, group: name } = group;
    const consumers = [...(this.consumersOf(group) ?? []), consumer].slice(-maxConsumers);
    const others = this.list().filter((known) => !isSame(known, group));
    await this.state.update(stateKey, [...others, { connection, stream, group: name, consumers }]);
  }

  async forget(group: Omit<DebugGroup, 'consumers'>): Promise<void> {
    await this.state.update(
      stateKey,
      this.list().filter((known) => !isSame(known, group)),
    );
  }
}

function isSame(a: Omit<DebugGroup, 'consumers'>, b: Omit<DebugGroup, 'consumers'>): boolean {
  return a.connection === b.connection && a.stream === b.stream && a.group === b.group;
}

function isDebugGroup(value: unknown): value is DebugGroup {
  if (typeof value !== 'object' || value === null) return false;
  const { connection, stream, group, consumers } = value as Record<string, unknown>;
  return (
    typeof connection === 'string' &&
    typeof stream === 'string' &&
    typeof group === 'string' &&
    hasDebugMark(group) &&
    Array.isArray(consumers) &&
    consumers.every((consumer) => typeof consumer === 'string')
  );
}
