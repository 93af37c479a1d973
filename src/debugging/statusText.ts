import { displayText } from '../base/byteText';
import { formatDuration } from '../base/duration';
import type { Localizer } from '../base/localize';
import type { WorkerSession } from './workerSession';

/** What the status bar says of the sessions that run; undefined when none does. */
export function debugStatusText(
  sessions: readonly WorkerSession[],
  { l10n, nowMs }: { readonly l10n: Localizer; readonly nowMs: number },
): { readonly text: string; readonly tooltip: string } | undefined {
  const session = sessions.find(({ current }) => current) ?? sessions[0];
  if (!session) return undefined;
  const { stream, group, consumer } = session.grant;
  const where = l10n.t('worker on {0}/{1}', displayText(stream), displayText(group));
  const facts: string[] = [];
  if (session.current) facts.push(session.current.id, l10n.t('attempt {0}', session.current.deliveryCount));
  if (session.pausedSinceMs !== undefined)
    facts.push(l10n.t('paused {0}', formatDuration(Math.max(0, nowMs - session.pausedSinceMs))));
  const more = sessions.length > 1 ? ` (+${sessions.length - 1})` : '';
  return {
    text: (facts.length > 0 ? `${where}: ${facts.join(', ')}` : where) + more,
    tooltip: session.current
      ? l10n.t('Consumer {0} holds this message for as long as the debugger is stopped. Open it', displayText(consumer))
      : l10n.t('Consumer {0} waits for a message', displayText(consumer)),
  };
}
