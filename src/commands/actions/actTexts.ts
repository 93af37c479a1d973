/** What a confirmation says of a plan: title, consequences, buttons. Plain text in, sentences out. */
import { displayText } from '../../base/byteText';
import { formatDuration } from '../../base/duration';
import type { Localizer } from '../../base/localize';
import { formatCount } from '../../base/numberText';
import type { Plan } from '../../connections/gate';
import type { LiveConnection } from '../../connections/liveConnection';
import type { Mode, Obstacle, PlannedItem, Preview, SkippedItem, Target, VerbName } from '../../connections/verbs/verb';
import { environmentText } from '../../tree/phrases';

/** The words of a display language. */
export interface Words {
  readonly l10n: Localizer;
  readonly locale: string;
}

/** A plan of any verb, as the texts need it. */
export interface PlanFacts {
  readonly name: VerbName;
  readonly connection: Pick<LiveConnection, 'profile'>;
  readonly target: Target;
  readonly preview: Preview<PlannedItem>;
  readonly mode: Mode;
  /** What was chosen, as the verb logs it. */
  readonly choices: Readonly<Record<string, string | number | boolean>>;
}

/** What the texts need of a plan. */
export function factsOf<Request, Item extends PlannedItem>(plan: Plan<Request, Item>): PlanFacts {
  const { connection, preview, mode, verb, request } = plan;
  return {
    name: verb.name,
    connection,
    target: verb.targetOf(request),
    preview,
    mode,
    choices: verb.logged(request),
  };
}

/** A question about plans of one verb on one connection. */
export interface ActConfirmation {
  readonly title: string;
  readonly detail: readonly string[];
  readonly verb: string;
}

/** The question, as `ux.md` orders it: what, where, what it means, what is risky now, what undo can do. */
export function confirmationOf(plans: readonly PlanFacts[], words: Words): ActConfirmation | undefined {
  const [first] = plans;
  if (!first) return undefined;
  const { l10n } = words;
  const total = plans.reduce((sum, { preview }) => sum + preview.items.length, 0);
  const { profile } = first.connection;
  const streams = [...new Set(plans.map(({ target }) => target.stream))];
  return {
    title: titleOf(first, plans, total, words),
    detail: [
      l10n.t('Connection: {0} ({1})', displayText(profile.name), environmentText(profile.environment, words)),
      ...streams.map((stream) => l10n.t('Stream: {0}', displayText(stream))),
      ...(plans.length > 1 ? plans.map((plan) => shareOf(plan, words)) : []),
      ...meaningOf(first, words),
      ...receiversText(plans, words),
      ...riskOf(plans, words),
      ...skippedTexts(
        plans.flatMap(({ preview }) => preview.skipped),
        words,
      ),
      ...(plans.some(({ preview }) => preview.isCut)
        ? [l10n.t('There are more: these are as many as one action takes.')]
        : []),
      undoText(first, l10n),
    ],
    verb: buttonOf(first.name, total, words),
  };
}

/** What the button says: the verb and the count. */
export function buttonOf(name: string, total: number, words: Words): string {
  const { l10n } = words;
  const n = formatCount(total, words.locale);
  switch (name) {
    case 'makeReclaimable':
      return l10n.t('Make {0} Reclaimable', n);
    case 'claim':
      return l10n.t('Claim {0}', n);
    case 'acknowledge':
      return l10n.t('Acknowledge {0}', n);
    case 'moveToDeadLetters':
      return l10n.t('Move {0}', n);
    case 'deleteEntry':
      return l10n.t('Delete {0}', n);
    case 'publish':
      return l10n.t('Publish {0}', n);
    case 'restore':
      return l10n.t('Undo {0}', n);
    case 'launchWorker':
      return l10n.t('Launch');
    case 'removeDebugGroup':
      return l10n.t('Remove');
    default:
      return l10n.t('Replay {0}', n);
  }
}

function titleOf(first: PlanFacts, plans: readonly PlanFacts[], total: number, words: Words): string {
  const { l10n } = words;
  const { stream, group } = first.target;
  const n = formatCount(total, words.locale);
  const inGroup =
    plans.length > 1
      ? l10n.t('{0} groups', plans.length)
      : group === undefined
        ? displayText(stream)
        : l10n.t('group {0}', displayText(group));
  const pending =
    total === 1 ? l10n.t('1 pending entry of {0}', inGroup) : l10n.t('{0} pending entries of {1}', n, inGroup);
  const letters = total === 1 ? l10n.t('1 dead letter') : l10n.t('{0} dead letters', n);
  const entries = total === 1 ? l10n.t('1 entry') : l10n.t('{0} entries', n);
  switch (first.name) {
    case 'makeReclaimable':
      return l10n.t('Make {0} reclaimable?', pending);
    case 'claim':
      return l10n.t('Claim {0} for consumer {1}?', pending, textOf(first.choices.consumer));
    case 'acknowledge':
      return l10n.t('Acknowledge {0}?', pending);
    case 'moveToDeadLetters':
      return l10n.t('Move {0} to the dead letters?', pending);
    case 'replayToGroup':
      return l10n.t('Replay {0} to {1} only?', letters, inGroup);
    case 'replay':
      return l10n.t('Replay {0} to stream {1}?', letters, displayText(stream));
    case 'replayEntry':
      return l10n.t('Replay {0} to stream {1}?', entries, displayText(stream));
    case 'publish':
      return l10n.t('Publish 1 entry to stream {0}?', displayText(stream));
    case 'deleteEntry':
      return l10n.t('Delete {0} of stream {1}?', entries, displayText(stream));
    case 'restore':
      return restoreTitle(first.choices.kind, entries, inGroup, l10n);
    case 'launchWorker':
      return l10n.t('Launch a worker in {0} of stream {1}?', inGroup, displayText(stream));
    case 'removeDebugGroup':
      return l10n.t('Remove {0} of stream {1}?', inGroup, displayText(stream));
  }
}

function restoreTitle(kind: unknown, entries: string, inGroup: string, l10n: Localizer): string {
  switch (kind) {
    case 'unacknowledge':
      return l10n.t('Undo: make {0} of {1} pending again?', entries, inGroup);
    case 'claim-back':
      return l10n.t('Undo: give {0} of {1} back as they were?', entries, inGroup);
    default:
      return l10n.t('Undo: take {0} of {1} back from the dead letters?', entries, inGroup);
  }
}

function shareOf({ target, preview }: PlanFacts, words: Words): string {
  const { stream, group } = target;
  const place = group === undefined ? displayText(stream) : `${displayText(stream)} › ${displayText(group)}`;
  return `${place}: ${formatCount(preview.items.length, words.locale)}`;
}

function meaningOf({ name: verb, choices, preview }: PlanFacts, { l10n }: Words): readonly string[] {
  switch (verb) {
    case 'makeReclaimable':
      return [
        l10n.t(
          'Owner and delivery count stay; the idle time is set to a day, so that whoever reclaims in this group (XAUTOCLAIM) takes them at once.',
        ),
        l10n.t('Where no worker reclaims, nothing happens to them.'),
      ];
    case 'claim': {
      const name = textOf(choices.consumer);
      return [
        choices.count === 'keep'
          ? l10n.t('{0} owns them from then on; their delivery count stays.', name)
          : l10n.t('{0} owns them from then on; their delivery count goes up by one.', name),
        l10n.t(
          'A consumer that reads only new entries (>) will not see them, unless it re-reads its own pending entries.',
        ),
        ...(preview.consumerExists === false ? [l10n.t('There is no consumer {0} yet: it is created.', name)] : []),
      ];
    }
    case 'acknowledge':
      return [l10n.t('They will not be delivered to this group again. The stream keeps its entries.')];
    case 'moveToDeadLetters':
      return [
        l10n.t(
          'They are added to the dead letters with this reason and will not be delivered to this group again. The stream keeps its entries.',
        ),
      ];
    case 'replayToGroup':
      return [
        l10n.t(
          'They become pending again as the entries that they were, with no delivery counted, and are removed from the dead letters. No other group sees them.',
        ),
        l10n.t(
          'The next worker that reclaims in this group (XAUTOCLAIM) takes them; one that reads only new entries does not.',
        ),
      ];
    case 'replay':
      return [
        l10n.t(
          'They are published as new entries at the end of the stream, with their first id, and removed from the dead letters.',
        ),
      ];
    case 'replayEntry':
      return [l10n.t('Copies with their first id are published at the end of the stream; the entries stay.')];
    case 'publish': {
      return [
        l10n.t('Fields: {0}. Nothing is trimmed.', Number(choices.fields)),
        ...(choices.makeStream === true ? [l10n.t('There is no such stream yet: it is created.')] : []),
      ];
    }
    case 'deleteEntry':
      return [l10n.t('Every group has read and acknowledged them. They are gone for good.')];
    case 'restore':
      return [
        l10n.t('Owner, delivery count and idle time become what they were. What has changed since is left alone.'),
      ];
    case 'launchWorker':
    case 'removeDebugGroup':
      return [];
  }
}

function receiversText(plans: readonly PlanFacts[], words: Words): readonly string[] {
  const { l10n } = words;
  const [first] = plans;
  const receivers = first?.preview.receivers;
  if (!first || !receivers || first.name === 'replayToGroup') return [];
  const [one] = receivers;
  if (one === undefined) return [l10n.t('No group would receive it: the stream has none.')];
  if (receivers.length === 1) return [l10n.t('1 group would receive it: {0}.', displayText(one))];
  const shown = receivers
    .slice(0, 5)
    .map((name) => displayText(name))
    .join(', ');
  const all = receivers.length > 5 ? `${shown}, …` : shown;
  return [l10n.t('{0} groups would receive it: {1}.', formatCount(receivers.length, words.locale), all)];
}

function riskOf(plans: readonly PlanFacts[], words: Words): readonly string[] {
  const { l10n } = words;
  const [first] = plans;
  if (first?.choices.guard === undefined) return [];
  const recent = plans.reduce((sum, { preview }) => sum + preview.recent.count, 0);
  const latestMs = Math.min(...plans.map(({ preview }) => preview.recent.latestMs ?? Number.POSITIVE_INFINITY));
  const ago = formatDuration(latestMs);
  const risky =
    recent === 0
      ? []
      : recent === 1
        ? [l10n.t('1 of them was delivered {0} ago and is probably being processed.', ago)]
        : [
            l10n.t(
              '{0} of them were delivered in the last 30 s, the latest {1} ago, and are probably being processed.',
              formatCount(recent, words.locale),
              ago,
            ),
          ];
  return [...risky, guardText(first, words)];
}

function guardText({ mode, name, choices }: PlanFacts, { l10n }: Words): string {
  if (mode === 'unguarded')
    return name === 'acknowledge'
      ? l10n.t('Not guarded: scripts are refused here, so it is not noticed when a worker gets there first.')
      : l10n.t(
          'Not guarded: scripts are refused here, so only a delivery since now is noticed, not another owner or count.',
        );
  return choices.guard === 'strict'
    ? l10n.t('Guarded: an entry is left alone when it was delivered, claimed, heartbeaten or acknowledged since.')
    : l10n.t(
        'Relaxed guard: whatever is still pending and was delivered at least {0} times, whoever owns it.',
        Number(choices.atLeast),
      );
}

/** What was asked for and is left out. */
export function skippedTexts(skipped: readonly SkippedItem[], words: Words): readonly string[] {
  const { l10n } = words;
  const byWhy = new Map<string, SkippedItem[]>();
  for (const item of skipped) {
    const key = JSON.stringify([item.why, item.why === 'unread' || item.why === 'pending' ? item.detail : '']);
    byWhy.set(key, [...(byWhy.get(key) ?? []), item]);
  }
  return [...byWhy.values()].flatMap((items) => {
    const [first] = items;
    if (!first) return [];
    const count = formatCount(items.length, words.locale);
    const detail = displayText(first.detail ?? '');
    switch (first.why) {
      case 'not-pending':
        return l10n.t('Left out, not pending any more: {0}', count);
      case 'gone':
        return l10n.t('Left out, message gone: {0}', count);
      case 'missing':
        return l10n.t('Left out, not there any more: {0}', count);
      case 'too-wide':
        return l10n.t('Left out, more fields than a script can pass on: {0}', count);
      case 'unread':
        return l10n.t('Left out, group {1} has not read it: {0}', count, detail);
      case 'pending':
        return l10n.t('Left out, pending in or with {1}: {0}', count, detail);
      case 'unknown-origin':
        return l10n.t('Left out, the dead letter does not tell where it came from: {0}', count);
      case 'not-read-yet':
        return l10n.t('Left out, the group has not read that far and will get it by itself: {0}', count);
      case 'changed':
        return l10n.t('Left out, changed since: {0}', count);
    }
  });
}

/** Why a verb cannot be done at all, and what to do. */
export function obstacleText(obstacle: Obstacle, { l10n }: Words): string {
  switch (obstacle.kind) {
    case 'cross-slot':
      return l10n.t(
        '{0} and {1} are in different slots of this cluster: no script can change both in one step, so nothing is moved.',
        displayText(obstacle.source),
        displayText(obstacle.target),
      );
    case 'needs-scripts':
      return l10n.t('This needs a script (EVAL), which this server or user refuses: without one it would not be safe.');
    case 'no-stream':
      return l10n.t('There is no stream {0} (any more).', displayText(obstacle.stream));
    case 'no-group':
      return l10n.t(
        'Stream {0} has no group {1} (any more).',
        displayText(obstacle.stream),
        displayText(obstacle.group),
      );
    case 'wrong-type':
      return l10n.t('{0} is a {1} and no stream.', displayText(obstacle.stream), obstacle.type);
  }
}

function undoText({ name }: PlanFacts, l10n: Localizer): string {
  switch (name) {
    case 'makeReclaimable':
    case 'claim':
      return l10n.t('Undo Last Action gives them back until a worker takes them.');
    case 'acknowledge':
    case 'moveToDeadLetters':
      return l10n.t('Undo Last Action makes them pending again while the stream holds them.');
    case 'restore':
    case 'replayToGroup':
      return l10n.t('This cannot be undone, but done anew.');
    default:
      return l10n.t('This cannot be undone.');
  }
}

function textOf(choice: string | number | boolean | undefined): string {
  return displayText(String(choice ?? ''));
}
