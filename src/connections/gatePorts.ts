/**
 * The one way from a connection to a port that can write. Each connection leaves its port here when it is made; only the gate
 * takes it (test/unit/actGate.test.ts holds that nothing else imports this file).
 */
import type { LiveConnection } from './liveConnection';
import type { WritingPort } from './verbs/verb';

/** What a connection gives to the gate alone. */
export interface GateAccess {
  /** Runs work with the connection's port; a broken link is noticed as it is by a read. */
  use<T>(work: (port: WritingPort) => Promise<T>): Promise<T>;
  /** Says until when writing is unlocked, for all who show it; undefined when it is locked. */
  setWritableUntil(atMs: number | undefined): void;
}

const accesses = new WeakMap<LiveConnection, GateAccess>();

/** Called by a connection when it is made. */
export function leaveGateAccess(connection: LiveConnection, access: GateAccess): void {
  accesses.set(connection, access);
}

/** Called by the gate. */
export function takeGateAccess(connection: LiveConnection): GateAccess {
  const access = accesses.get(connection);
  if (!access) throw new Error('This connection cannot be written to.');
  return access;
}
