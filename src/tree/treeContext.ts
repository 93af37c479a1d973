import type { Clock } from '../base/clock';
import type { Localizer } from '../base/localize';
import type { HeldByDebugger } from '../connections/heldMessages';
import type { Environment } from '../connections/profiles';

/** How the tree reads and sorts, as the settings say now. */
export interface TreeSettings {
  readonly pageSize: number;
  readonly keySeparator: string;
  readonly scanMatch: string;
  /** Seconds between automatic refreshes in an environment; 0 is off. */
  readonly refreshSeconds: (environment: Environment) => number;
}

/** What every node shares. */
export interface TreeContext {
  readonly l10n: Localizer;
  /** For numbers and times, such as `en` or `de-DE`. */
  readonly locale: string;
  readonly clock: Clock;
  readonly settings: () => TreeSettings;
  /** What debug sessions of this window hold; undefined where there is no debugger. */
  readonly held?: HeldByDebugger;
}
