/** Which stream a panel shows: as the key of the open panels, and as what its page keeps over a reload of the window. */
import type { PanelIdentity } from '../protocol/streamPanel';

/** One text for each stream of each connection. */
export function panelKey({ connectionId, stream }: PanelIdentity): string {
  return JSON.stringify([connectionId, stream]);
}

/** Checks what a page kept. */
export function isPanelIdentity(value: unknown): value is PanelIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { connectionId, stream } = value as Readonly<Record<string, unknown>>;
  return typeof connectionId === 'string' && typeof stream === 'string';
}
