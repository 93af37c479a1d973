/** What the panel keeps while it is hidden: ids and layout only. Every field is checked when it is read back. */
import { effect, signal } from '@preact/signals';
import type { PanelIdentity } from '../../src/protocol/streamPanel';
import type { Zone } from '../format';
import type { PageState } from '../vscodeApi';

/** The detail's tabs, in their order. */
export const tabNames = ['payload', 'history', 'groups', 'raw'] as const;

/** One of the detail's tabs. */
export type TabName = (typeof tabNames)[number];

/** The smallest and the largest share of the panel that the table may take. */
export const splitLimits = { min: 0.15, max: 0.85 } as const;

const maxKeptFolds = 500;

/** How the panel is arranged, in signals that are written to the page's state when they change. */
export class Layout {
  readonly tab = signal<TabName>('payload');
  readonly zone = signal<Zone>('local');
  /** The table's share of width, or of height when the panel is narrow. */
  readonly split = signal(0.5);
  readonly selectedId = signal<string | null>(null);
  /** Which stream this is, once the host has told; kept for the host. */
  readonly identity = signal<PanelIdentity | null>(null);
  /** Folded JSON lines of the selected entry, as `field:line`. */
  readonly folds = signal<ReadonlySet<string>>(new Set());

  constructor(private readonly state: PageState) {
    const saved: unknown = state.read();
    if (typeof saved !== 'object' || saved === null) return;
    const { identity, tab, zone, split, selectedId, folds } = saved as Readonly<Record<string, unknown>>;
    if (isIdentity(identity)) this.identity.value = identity;
    this.tab.value = tabNames.find((name) => name === tab) ?? 'payload';
    this.zone.value = zone === 'utc' ? 'utc' : 'local';
    if (typeof split === 'number') this.split.value = clampSplit(split);
    if (typeof selectedId === 'string') this.selectedId.value = selectedId;
    if (Array.isArray(folds)) this.folds.value = new Set(folds.filter((fold) => typeof fold === 'string'));
  }

  /** Starts writing every change to the page's state; the returned function stops that. */
  keep(): () => void {
    return effect(() => {
      this.state.write({
        identity: this.identity.value,
        tab: this.tab.value,
        zone: this.zone.value,
        split: this.split.value,
        selectedId: this.selectedId.value,
        folds: [...this.folds.value].slice(0, maxKeptFolds),
      });
    });
  }

  /** Folds or unfolds a JSON line of the selected entry. */
  toggleFold(key: string): void {
    const folds = new Set(this.folds.value);
    if (!folds.delete(key)) folds.add(key);
    this.folds.value = folds;
  }
}

function isIdentity(value: unknown): value is PanelIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { connectionId, stream } = value as Readonly<Record<string, unknown>>;
  return typeof connectionId === 'string' && typeof stream === 'string';
}

/** A share within `splitLimits`. */
export function clampSplit(share: number): number {
  return Math.min(splitLimits.max, Math.max(splitLimits.min, Number.isFinite(share) ? share : 0.5));
}
