/**
 * `selftest`: the reference application's own proof. Five checks of the whole chain, gateway, stream, workers, store, on an engine in this
 * process or on a real server, then what they printed is reconciled with what the server says. Exit code 1 when anything is wrong.
 *
 * Its tests are in `test/worker/selftest.test.ts`.
 */
import { groupName } from '../../bus';
import { readStore } from '../app/appOptions';
import { embeddedUrl, readUrl } from '../app/openServer';
import { Settings } from '../app/settings';
import { exitCodes } from '../run/exitCodes';
import { runsTopic } from '../runs/runsStream';
import { openRunStore } from '../runs/openRunStore';
import { checks } from './checks';
import type { Tally } from './checks';
import { openStage, selftestEnvironment } from './stage';
import type { Stage } from './stage';

/** How one check ended. */
interface Outcome {
  readonly check: string;
  readonly passed: boolean;
  readonly figures: string;
}

/** Runs the checks and prints a line for each; answers the exit code. */
export async function runSelftest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const settings = new Settings(args, env, { valued: ['url', 'store'], plain: ['json'] });
  const url = readUrl(settings, args, embeddedUrl);
  const isJson = settings.has('json');
  const selftest = selftestEnvironment();
  const store = await openRunStore(readStore(settings), selftest);
  try {
    const stage = await openStage(url, store, selftest);
    try {
      const { server, version } = await stage.port.capabilities();
      print(isJson, { server, version, store: store.kind }, `Self test on ${server} ${version}, store ${store.kind}`);
      const tally: Tally = { published: 0, deadLetters: 0 };
      const outcomes: Outcome[] = [];
      for (const [index, { name, run }] of checks.entries()) {
        const outcome = await outcomeOf(name, () => run(stage, tally));
        outcomes.push(outcome);
        printOutcome(isJson, String(index + 1), outcome);
      }
      const outcome = await outcomeOf('reconciled', () => reconcile(stage, tally));
      outcomes.push(outcome);
      printOutcome(isJson, '=', outcome);
      const failed = outcomes.filter(({ passed }) => !passed).length;
      print(isJson, { passed: failed === 0 }, failed === 0 ? 'All passed' : `${failed} failed`);
      return failed === 0 ? exitCodes.ended : exitCodes.failed;
    } finally {
      await stage.clear();
    }
  } finally {
    await store.close();
  }
}

/** Compares what the checks counted with what the server says. */
async function reconcile({ port, bus, stream, group }: Stage, tally: Tally): Promise<string> {
  const [length, groups, pending, dead] = await Promise.all([
    port.length(stream),
    port.groupInfos(stream),
    port.pendingSummary(stream, groupName(group)),
    bus.deadLetters(runsTopic).count(),
  ]);
  const info = groups.find(({ name }) => name === group);
  const lag = info?.lag ?? 'unknown';
  const figures =
    `XLEN ${length} of ${tally.published} published, XINFO GROUPS ${groups.length} group, pending ${info?.pending ?? '?'}, lag ${lag}, ` +
    `XPENDING ${pending.count}, dead letters ${dead} of ${tally.deadLetters}`;
  const isRight =
    length === tally.published &&
    groups.length === 1 &&
    info?.pending === 0 &&
    (lag === 0 || lag === 'unknown') &&
    pending.count === 0 &&
    dead === tally.deadLetters;
  if (!isRight) throw new Error(figures);
  return figures;
}

async function outcomeOf(check: string, run: () => Promise<string>): Promise<Outcome> {
  try {
    return { check, passed: true, figures: await run() };
  } catch (error) {
    return { check, passed: false, figures: error instanceof Error ? error.message : 'something was thrown' };
  }
}

function printOutcome(isJson: boolean, number: string, outcome: Outcome): void {
  const { check, passed, figures } = outcome;
  print(isJson, outcome, `${number} ${passed ? 'ok  ' : 'FAIL'} ${check.padEnd(22)}${figures}`);
}

function print(isJson: boolean, value: object, line: string): void {
  process.stdout.write(`${isJson ? JSON.stringify(value) : line}\n`);
}
