/**
 * How every verb is done from the interface: count by reading, ask, do, tell. The gate does the writing; this asks people.
 */
import * as vscode from 'vscode';
import { displayText } from '../../base/byteText';
import { redisCliLine, redisCliScriptLine } from '../../base/redisCli';
import { BusError } from '../../bus';
import { cliConnection } from '../../connections/cliConnection';
import { ConnectionError } from '../../connections/connectionFailure';
import { describeReadFailure } from '../../connections/describeFailure';
import type { Plan, Report } from '../../connections/gate';
import { replayedAs } from '../../connections/lastAction';
import type { LiveConnection } from '../../connections/liveConnection';
import { batches } from '../../connections/verbs/pendingRows';
import type { Mode, PlannedItem, Verb } from '../../connections/verbs/verb';
import { confirm } from '../../ui/confirm';
import { copyText, openText, promptText, withProgress } from '../../ui/pickers';
import type { CommandServices } from '../commandServices';
import { confirmationOf, factsOf, obstacleText, skippedTexts } from './actTexts';
import type { Words } from './actTexts';
import { detailRows, tallyOf } from './resultTexts';
import { ensureUnlocked } from './unlock';

/** One verb on one connection, for one or several streams and groups. */
export interface Act<Request, Item extends PlannedItem> {
  readonly connection: LiveConnection;
  readonly verb: Verb<Request, Item>;
  readonly requests: readonly Request[];
  /** Copies the commands instead of asking and doing. */
  readonly copyOnly?: boolean;
  readonly mode?: Mode;
  /** The same requests with the relaxed guard, offered when the strict one held something back. */
  readonly relaxed?: (atLeast: number) => readonly Request[];
  /** Called when something may have changed. */
  readonly onDone?: () => void;
  /** Called with the action's id when all of it was done. */
  readonly onComplete?: (action: string) => Promise<void>;
}

/** The display language. */
export function wordsOf(): Words {
  return { l10n: vscode.l10n, locale: vscode.env.language };
}

/** Does it, with everything that people have to be asked and told. */
export async function act<Request, Item extends PlannedItem>(
  services: CommandServices,
  asked: Act<Request, Item>,
): Promise<void> {
  const { connection } = asked;
  let plans = await planAll(services, asked);
  const [first] = plans ?? [];
  if (!plans || !first) return;
  if (asked.copyOnly === true) {
    await copyCommands(services, plans);
    return;
  }
  const wasOpen = services.gate.isOpen(connection);
  if (!wasOpen && !(await ensureUnlocked(services, connection))) return;
  const { stream } = first.verb.targetOf(first.request);
  const mustType = connection.profile.environment === 'production' && countOf(plans) > 1;
  if (mustType && !(await typeName(stream, confirmationOf(plans.map(factsOf), wordsOf())?.title ?? ''))) return;
  // Typing takes time: what is asked, and what the guard compares with, is what is true now.
  if (!wasOpen || mustType) plans = await planAll(services, asked);
  const question = plans && confirmationOf(plans.map(factsOf), wordsOf());
  if (!plans || !question) return;
  const answer = await confirm({ ...question, alternative: vscode.l10n.t('Copy as redis-cli') });
  if (answer === 'cancelled') return;
  if (answer === 'alternative') {
    await copyCommands(services, plans);
    return;
  }
  const runs = await runAll(services, plans, question.title, countOf(plans));
  asked.onDone?.();
  await tell(services, asked, plans, runs);
}

function countOf(plans: readonly Pick<Plan<unknown, PlannedItem>, 'preview'>[]): number {
  return plans.reduce((sum, { preview }) => sum + preview.items.length, 0);
}

/** Plans all requests; undefined when there is nothing to do, which has been said. */
async function planAll<Request, Item extends PlannedItem>(
  services: CommandServices,
  { connection, verb, requests, mode }: Act<Request, Item>,
): Promise<readonly Plan<Request, Item>[] | undefined> {
  const { notifications, gate } = services;
  const plans: Plan<Request, Item>[] = [];
  try {
    for (const request of requests)
      plans.push(await gate.plan(connection, verb, request, mode === undefined ? {} : { mode }));
  } catch (error) {
    if (!BusError.is(error) && !ConnectionError.is(error)) throw error;
    const [request] = requests;
    const what = request === undefined ? '' : displayText(verb.targetOf(request).stream);
    throw new ConnectionError(describeReadFailure(error, what, connection.profile, vscode.l10n), { cause: error });
  }
  const blocked = plans.find(({ preview }) => preview.obstacle);
  if (blocked?.preview.obstacle) {
    await notifications.warning(obstacleText(blocked.preview.obstacle, wordsOf()));
    return undefined;
  }
  const doable = plans.filter(({ preview }) => preview.items.length > 0);
  if (doable.length > 0) return doable;
  const skipped = skippedTexts(
    plans.flatMap(({ preview }) => preview.skipped),
    wordsOf(),
  );
  const replayed = await replayedTexts(services, plans);
  await notifications.information([vscode.l10n.t('There is nothing to do.'), ...skipped, ...replayed].join(' '));
  return undefined;
}

/** Of dead letters that are not there any more: as what this extension replayed them. */
async function replayedTexts<Request, Item extends PlannedItem>(
  { actionLog }: CommandServices,
  plans: readonly Plan<Request, Item>[],
): Promise<readonly string[]> {
  const replays = plans.filter(({ verb }) => verb.name === 'replay');
  const missing = replays.flatMap(({ verb, request, preview }) =>
    preview.skipped
      .filter(({ why }) => why === 'missing')
      .map(({ id }) => ({ id, deadLetters: String(verb.logged(request).deadLetters) })),
  );
  if (missing.length === 0) return [];
  const actions = await actionLog.recent();
  return missing.flatMap(({ id, deadLetters }) => {
    const newId = replayedAs(actions, deadLetters, id);
    return newId === undefined ? [] : [vscode.l10n.t('{0} was already replayed as {1}.', id, newId)];
  });
}

interface Run<Request, Item extends PlannedItem> {
  readonly plan: Plan<Request, Item>;
  readonly report: Report;
}

async function runAll<Request, Item extends PlannedItem>(
  { gate }: CommandServices,
  plans: readonly Plan<Request, Item>[],
  title: string,
  total: number,
): Promise<readonly Run<Request, Item>[]> {
  const runs: Run<Request, Item>[] = [];
  const all = async (signal: AbortSignal, report?: (done: number, total: number) => void): Promise<void> => {
    let before = 0;
    for (const plan of plans) {
      const onProgress = (done: number): void => report?.(before + done, total);
      runs.push({ plan, report: await gate.run(plan, { signal, onProgress }) });
      before += plan.preview.items.length;
    }
  };
  if (total > 100) await withProgress(title, all);
  else await all(new AbortController().signal);
  return runs;
}

async function tell<Request, Item extends PlannedItem>(
  services: CommandServices,
  asked: Act<Request, Item>,
  plans: readonly Plan<Request, Item>[],
  runs: readonly Run<Request, Item>[],
): Promise<void> {
  const { notifications } = services;
  const told = runs.map(({ plan, report }) => ({ plan: factsOf(plan), report }));
  const tally = tallyOf(told, wordsOf());
  if (tally.isComplete) {
    for (const { report } of runs) await asked.onComplete?.(report.action);
    notifications.status(tally.message);
    return;
  }
  const actions = [
    {
      title: vscode.l10n.t('Show Details'),
      run: () => openText(detailRows(told, wordsOf()), 'plaintext'),
    },
  ];
  if (runs.some(({ report }) => report.scriptsRefused)) {
    actions.push({
      title: vscode.l10n.t('Try Without Guard…'),
      run: () => act(services, { ...asked, mode: 'unguarded' }),
    });
  } else if (asked.relaxed && runs.some(({ report }) => report.results.some(isHeldBack))) {
    const deliveries = plans.flatMap(({ preview }) => preview.items.flatMap(({ before }) => before?.deliveries ?? []));
    const atLeast = Math.max(1, deliveries.length === 0 ? 1 : deliveries.reduce((a, b) => Math.min(a, b)));
    const requests = asked.relaxed(atLeast);
    const { relaxed: _, ...rest } = asked;
    actions.push({ title: vscode.l10n.t('Relax Guard…'), run: () => act(services, { ...rest, requests }) });
  }
  await notifications.warning(tally.message, ...actions);
}

/** What only the strict guard refuses. */
function isHeldBack({ outcome, status }: Report['results'][number]): boolean {
  return outcome === 'refused' && ['owner-changed', 'deliveries-changed', 'delivered-later'].includes(status);
}

async function copyCommands<Request, Item extends PlannedItem>(
  services: CommandServices,
  plans: readonly Plan<Request, Item>[],
): Promise<void> {
  const lines: string[] = [];
  for (const { connection, verb, request, preview, mode } of plans) {
    const secrets = await services.connections.secretsOf(connection.profile);
    const options = cliConnection(connection.profile, secrets !== undefined);
    for (const items of batches(preview.items)) {
      for (const command of verb.cli(request, items, mode))
        lines.push(command[0] === 'EVAL' ? redisCliScriptLine(options, command) : redisCliLine(options, command));
    }
  }
  if (lines.length === 0) {
    await services.notifications.information(
      vscode.l10n.t('There is no one line for this: it takes several steps that depend on each other.'),
    );
    return;
  }
  await copyText(`${lines.join('\n')}\n`);
  services.notifications.status(
    lines.length === 1 ? vscode.l10n.t('Copied 1 command') : vscode.l10n.t('Copied {0} commands', lines.length),
  );
}

/** On production, more than one message: the stream's name has to be typed. */
async function typeName(stream: string, title: string): Promise<boolean> {
  const wanted = displayText(stream);
  const typed = await promptText({
    title,
    prompt: vscode.l10n.t('This is production. Type the name of the stream to go on: {0}', wanted),
    validate: (text) =>
      text === wanted || text === ''
        ? undefined
        : wanted.startsWith(text)
          ? undefined
          : vscode.l10n.t('This is not the name of the stream.'),
    submit: (text) =>
      Promise.resolve(text === wanted ? undefined : vscode.l10n.t('This is not the name of the stream.')),
  });
  return typed === wanted;
}
