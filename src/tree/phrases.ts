/** The words of the rows: facts in, sentences out. */
import { displayText } from '../base/byteText';
import { shortened } from '../base/shortText';
import { assertNever } from '../base/assertNever';
import { formatDuration } from '../base/duration';
import { formatCount } from '../base/numberText';
import type { ConnectionState } from '../connections/liveConnection';
import type { Environment } from '../connections/profiles';
import type { Figure } from '../protocol/streamPanel';
import type { TreeContext } from './treeContext';

type Words = Pick<TreeContext, 'l10n' | 'locale'>;

/** Joins what a description says; leaves out what there is nothing to say of. */
export function joinFacts(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}

/** A name as a row shows it: Redis does not bound names, rows do. */
export function nameText(name: string): string {
  return shortened(displayText(name), 300);
}

/** A number, grouped by locale. */
export function count(value: number, { locale }: Words): string {
  return formatCount(value, locale);
}

/** `1 group`, `2 groups`, `no groups`. */
export function groupsText(value: number, words: Words): string {
  const { l10n } = words;
  if (value === 0) return l10n.t('no groups');
  return value === 1 ? l10n.t('1 group') : l10n.t('{0} groups', count(value, words));
}

/** `1 stream`, `12 streams`. */
export function streamsText(value: number, words: Words): string {
  const { l10n } = words;
  return value === 1 ? l10n.t('1 stream') : l10n.t('{0} streams', count(value, words));
}

/** `17 pending`. */
export function pendingText(value: number, words: Words): string {
  return words.l10n.t('{0} pending', count(value, words));
}

/** `lag 20`, `lag ≥ 12,001`, `lag unknown`. */
export function lagText(lag: Figure, words: Words): string {
  const { l10n } = words;
  switch (lag.kind) {
    case 'exact':
      return l10n.t('lag {0}', count(lag.value, words));
    case 'atLeast':
      return l10n.t('lag ≥ {0}', count(lag.value, words));
    case 'unknown':
      return l10n.t('lag unknown');
    default:
      return assertNever(lag);
  }
}

/** `oldest 3 min`, `oldest unknown`. */
export function oldestText(age: Figure, { l10n }: Words): string {
  if (age.kind === 'unknown') return l10n.t('oldest unknown');
  return l10n.t('oldest {0}', formatDuration(age.value));
}

/** `idle 41 min`; `released` for an entry that has no owner at work. */
export function idleText(idleMs: number, { l10n }: Words): string {
  return idleMs < 0 ? l10n.t('released') : l10n.t('idle {0}', formatDuration(idleMs));
}

/** `×3`. */
export function deliveriesText(deliveries: number, words: Words): string {
  return `×${count(deliveries, words)}`;
}

/** The name of an environment. */
export function environmentText(environment: Environment, { l10n }: Words): string {
  switch (environment) {
    case 'local':
      return l10n.t('local');
    case 'development':
      return l10n.t('development');
    case 'staging':
      return l10n.t('staging');
    case 'production':
      return l10n.t('production');
    default:
      return assertNever(environment);
  }
}

/** What a connection's row says of its state. */
export function connectionText(
  state: ConnectionState,
  facts: {
    readonly environment: Environment;
    readonly isReadOnly: boolean;
    readonly writableUntilMs?: number | undefined;
    readonly nowMs: number;
  },
  words: Words,
): string {
  const { l10n } = words;
  const environment = environmentText(facts.environment, words);
  switch (state.kind) {
    case 'disconnected':
      return joinFacts(environment, state.failure ? l10n.t('cannot connect') : l10n.t('not connected'));
    case 'connecting':
      return l10n.t('connecting…');
    case 'lost':
      return l10n.t('lost, retry in {0}', formatDuration(Math.max(1000, state.retryAtMs - facts.nowMs)));
    case 'connected':
      return joinFacts(
        environment,
        serverText(state.server.kind, state.server.version),
        state.server.role === 'replica' ? l10n.t('replica') : undefined,
        facts.isReadOnly ? l10n.t('read-only') : writableText(facts, words),
      );
    default:
      return assertNever(state);
  }
}

/** `every 5 s` for a connection that is refreshed by itself. */
export function refreshText(seconds: number, { l10n }: Words): string | undefined {
  return seconds > 0 ? l10n.t('every {0}', formatDuration(1000 * seconds)) : undefined;
}

/** `writable for 14 min`, while writing is unlocked. */
export function writableText(
  facts: { readonly writableUntilMs?: number | undefined; readonly nowMs: number },
  { l10n }: Words,
): string | undefined {
  const { writableUntilMs, nowMs } = facts;
  if (writableUntilMs === undefined) return undefined;
  // Told in whole minutes, since it is drawn anew once a minute; a started one counts.
  const leftMs = Math.ceil(Math.max(0, writableUntilMs - nowMs) / 60_000) * 60_000;
  return l10n.t('writable for {0}', formatDuration(Math.max(60_000, leftMs)));
}

/** `7.0.15` for Redis itself, `valkey 8.1.1` for others. */
export function serverText(kind: string, version: string): string {
  return kind === 'redis' ? version : joinWords(kind, version);
}

function joinWords(...words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ');
}
