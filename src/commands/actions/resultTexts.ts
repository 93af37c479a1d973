/** What came of an action, in sentences: the tally of the notification and the rows of its details. */
import { displayText } from '../../base/byteText';
import { formatDuration } from '../../base/duration';
import { formatCount } from '../../base/numberText';
import type { Report, ReportedItem } from '../../connections/gate';
import type { PlanFacts, Words } from './actTexts';

/** The outcome of an action. */
export interface Tally {
  readonly done: number;
  readonly total: number;
  readonly message: string;
  /** True when all went as asked. */
  readonly isComplete: boolean;
}

/** Counts what came of plans that were run together. */
export function tallyOf(runs: readonly { readonly plan: PlanFacts; readonly report: Report }[], words: Words): Tally {
  const { l10n } = words;
  const results = runs.flatMap(({ report }) => report.results);
  const done = results.filter(({ outcome }) => outcome === 'done').length;
  const total = results.length;
  const name = runs[0]?.plan.name ?? '';
  const [first] = results;
  const start = doneText(name, done, total, words);
  if (done === total) {
    const message = total === 1 && first?.newId !== undefined ? l10n.t('{0} as {1}', start, first.newId) : start;
    return { done, total, message, isComplete: true };
  }
  const rest = new Map<string, ReportedItem[]>();
  for (const result of results) {
    if (result.outcome === 'done') continue;
    const key = JSON.stringify([result.outcome, result.status, result.detail]);
    rest.set(key, [...(rest.get(key) ?? []), result]);
  }
  const reasons = [...rest.values()].map((items) => reasonText(items, words));
  const error = runs.find(({ report }) => report.error)?.report.error;
  const why = error === undefined ? [] : [displayText(error.message)];
  return { done, total, message: `${start}: ${reasons.join('; ')}. ${why.join(' ')}`.trim(), isComplete: false };
}

/** Every row of an action, for who wants to see them. */
export function detailRows(
  runs: readonly { readonly plan: PlanFacts; readonly report: Report }[],
  words: Words,
): string {
  const lines: string[] = [];
  for (const { plan, report } of runs) {
    const { stream, group } = plan.target;
    const place = [plan.connection.profile.name, stream, ...(group === undefined ? [] : [group])].map(displayText);
    lines.push(`${plan.name}  ${place.join(' › ')}`, '');
    for (const result of report.results) {
      const found = result.found === undefined ? '' : `  ${words.l10n.t('now: {0}', displayText(result.found))}`;
      lines.push(`${result.id}  ${itemText(result, words)}${found}`);
    }
    if (report.error) lines.push('', displayText(report.error.message));
    lines.push('');
  }
  return lines.join('\n');
}

/** What became of one item. */
export function itemText(result: ReportedItem, words: Words): string {
  const { l10n } = words;
  const { outcome, status, newId } = result;
  if (outcome === 'done') return newId === undefined ? status : l10n.t('{0} as {1}', status, newId);
  if (outcome === 'not-tried') return l10n.t('not tried');
  if (outcome === 'unknown') return l10n.t('unknown: the reply was lost');
  if (outcome === 'failed') return l10n.t('failed: {0}', status);
  return refusalText(result, words);
}

function reasonText(items: readonly ReportedItem[], words: Words): string {
  const { l10n } = words;
  const [first] = items;
  if (!first) return '';
  const n = formatCount(items.length, words.locale);
  switch (first.outcome) {
    case 'not-tried':
      return l10n.t('{0} not tried', n);
    case 'unknown':
      return l10n.t('{0} unknown, because the reply was lost; it is not sent again', n);
    case 'failed':
      return l10n.t('{0} failed', n);
    default:
      return l10n.t('{0} {1}', n, refusalText(first, words));
  }
}

function refusalText({ status, detail, newId }: ReportedItem, { l10n }: Words): string {
  const shown = displayText(detail ?? '');
  switch (status) {
    case 'not-pending':
      return l10n.t('not pending any more, acknowledged or moved by somebody else meanwhile');
    case 'owner-changed':
      return l10n.t('taken by {0} meanwhile', shown);
    case 'too-fresh':
      return l10n.t('delivered too recently');
    case 'deliveries-changed':
      return l10n.t('delivered again meanwhile, now {0} times', shown);
    case 'too-few-deliveries':
      return l10n.t('delivered only {0} times', shown);
    case 'delivered-later':
      return l10n.t('delivered or heartbeaten by its worker meanwhile');
    case 'not-claimed':
      return l10n.t('delivered, claimed or acknowledged meanwhile');
    case 'gone':
      return l10n.t('gone meanwhile');
    case 'original-gone':
      return l10n.t('without its entry, which was deleted or trimmed');
    case 'already-replayed':
      return l10n.t('already replayed as {0}', newId ?? shown);
    case 'already-pending':
      return l10n.t('already pending again with {0}', shown);
    case 'not-read-yet':
      return l10n.t('not read yet by the group, which will get it by itself');
    case 'no-group':
      return l10n.t('without its group, which is gone');
    case 'no-stream':
      return l10n.t('without a stream to publish to');
    case 'too-wide':
      return l10n.t('with more fields than a script can pass on');
    case 'unread':
      return l10n.t('not read yet by group {0}', shown);
    case 'pending':
      return l10n.t('pending in group {0}', shown);
    case 'pending-or-gone':
      return l10n.t('pending again already, or gone');
    case 'missing':
      return l10n.t('not there any more');
    default:
      return status;
  }
}

function doneText(name: string, done: number, total: number, words: Words): string {
  const { l10n } = words;
  const n = formatCount(done, words.locale);
  const all = formatCount(total, words.locale);
  const of = done === total ? n : l10n.t('{0} of {1}', n, all);
  switch (name) {
    case 'makeReclaimable':
      return l10n.t('Made {0} reclaimable', of);
    case 'claim':
      return l10n.t('Claimed {0}', of);
    case 'acknowledge':
      return l10n.t('Acknowledged {0}', of);
    case 'moveToDeadLetters':
      return l10n.t('Moved {0} to the dead letters', of);
    case 'publish':
      return l10n.t('Published {0}', of);
    case 'deleteEntry':
      return l10n.t('Deleted {0}', of);
    case 'restore':
      return l10n.t('Undid {0}', of);
    case 'launchWorker':
      return l10n.t('Granted');
    case 'removeDebugGroup':
      return l10n.t('Removed the group');
    default:
      return l10n.t('Replayed {0}', of);
  }
}

/** How long writing is still unlocked, for sentences. */
export function leftText(untilMs: number, nowMs: number): string {
  return formatDuration(Math.max(1000, untilMs - nowMs));
}
