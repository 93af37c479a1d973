import type { GroupFacts } from './facts';

/** A time through which a group got nothing, as the tree itself saw it from one refresh to the next. */
export interface Standstill {
  readonly lastDeliveredId: string;
  readonly sinceMs: number;
  readonly lagThen: number | undefined;
  readonly lastedMs: number;
  /** How many entries came meanwhile, as far as the lag tells. */
  readonly grownBy: number;
}

/** Goes on with what was observed, or begins anew when something was delivered meanwhile. */
export function observeStandstill(before: Standstill | undefined, facts: GroupFacts): Standstill {
  const lag = facts.lag.kind === 'exact' ? facts.lag.value : undefined;
  if (before?.lastDeliveredId !== facts.lastDeliveredId) {
    const { lastDeliveredId, serverTimeMs } = facts;
    return { lastDeliveredId, sinceMs: serverTimeMs, lagThen: lag, lastedMs: 0, grownBy: 0 };
  }
  const grownBy = lag === undefined || before.lagThen === undefined ? 0 : Math.max(0, lag - before.lagThen);
  return { ...before, lastedMs: facts.serverTimeMs - before.sinceMs, grownBy };
}
