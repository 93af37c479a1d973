// Runs the tests. Installs what is missing, builds, runs the tiers one after another and ends with the totals alone:
// `N passed, N failed, N skipped`. docs/testing.md describes the tiers and the environment variables.
//
//   npm test                              every tier but the long one
//   npm run test:bus -- -g 'dead letter'  one tier; what follows `--` goes to mocha, files too
//   npm run test:matrix                   the server suites on every server version
// @ts-check

import { ensureDependencies, repository } from './lib/dependencies.mjs';
import { Needs, runScript } from './lib/needs.mjs';
import { runInGroup } from './lib/processGroup.mjs';
import { ensureServer, serverMatrix, shortMatrix } from './lib/serverMatrix.mjs';
import { contractTier, listTestFiles, longTier, matrixTier, mochaArguments, tiers } from './lib/tiers.mjs';
import { addTotals, formatTable, formatTotals, judge, noTests, readFailures, readTotals } from './lib/totals.mjs';

/** @typedef {import('./lib/tiers.mjs').Tier} Tier */
/** @typedef {import('./lib/totals.mjs').Totals} Totals */
/** @typedef {{ name: string, totals?: Totals, seconds: number, note?: string, failures?: string[] }} Row */

const inCi = process.env.CI === 'true';
const matrixRequired = process.env.REQUIRE_MATRIX === '1';
const needs = new Needs(say);
/** @type {Row[]} */
const rows = [];

await main(process.argv.slice(2));

/** @param {string[]} argv */
async function main(argv) {
  try {
    await ensureDependencies({ log: say });
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    finish({ ...noTests, failed: 1 });
    return;
  }
  if (argv[0] === '--tier') await runOne(argv[1] ?? '', argv.slice(2));
  else if (argv.length > 0) stopWithUsage(`Unknown argument ${argv[0]}.`);
  else await runAll();
}

/** Everything that `npm test` does after the installation. */
async function runAll() {
  await runStep('build');
  await runStep('check');
  await runStep('package');
  for (const tier of tiers) rows.push(await runTier(tier));
  rows.push(...(await runOnServers(contractTier, shortMatrix)));
  endWithTable();
}

/**
 * One tier by its name; the last line is the tier's own.
 * @param {string} name
 * @param {string[]} own arguments for mocha
 */
async function runOne(name, own) {
  if (name === 'matrix' || name === 'contract') {
    const [tier, servers] = name === 'matrix' ? [matrixTier, serverMatrix] : [contractTier, shortMatrix];
    rows.push(...(await runOnServers(tier, servers, own)));
    endWithTable();
    return;
  }
  const tier = [...tiers, longTier].find((candidate) => candidate.name === name);
  if (tier === undefined) {
    stopWithUsage(`There is no tier ${name === '' ? 'without a name' : name}.`);
    return;
  }
  const { totals = noTests, note } = await runTier(tier, own);
  if (note === undefined) process.exitCode = totals.failed > 0 ? 1 : 0;
  else {
    say(`${tier.name}: ${note}`);
    finish(totals);
  }
}

/**
 * @param {'build' | 'check' | 'package'} name
 */
async function runStep(name) {
  heading(`npm run ${name}`);
  const { badEnd, seconds } = await runScript(name);
  if (name !== 'check' && badEnd === undefined) needs.noteMet(name);
  const row = { name, seconds };
  rows.push(badEnd === undefined ? row : { ...row, totals: { ...noTests, failed: 1 }, note: badEnd });
}

/**
 * @param {Tier} tier
 * @param {string[]} [own]
 * @returns {Promise<Row>}
 */
async function runTier(tier, own = []) {
  const files = listTestFiles(tier);
  if (files.length === 0) return { name: tier.name, totals: noTests, seconds: 0, note: 'no tests yet' };
  const met = await needs.meet(tier.needs);
  if ('reason' in met) return cannotRun(tier.name, met.reason, inCi || met.isFault);
  return runMocha(tier.name, tier, files, own, met.environment);
}

/**
 * @param {Tier} tier
 * @param {readonly import('./lib/serverMatrix.mjs').MatrixEntry[]} servers
 * @param {string[]} [own]
 * @returns {Promise<Row[]>}
 */
async function runOnServers(tier, servers, own = []) {
  const files = listTestFiles(tier);
  if (files.length === 0) return [{ name: tier.name, totals: noTests, seconds: 0, note: 'no tests yet' }];
  /** @type {Row[]} */
  const results = [];
  for (const { suite, kind, usually } of servers) {
    const server = await ensureServer(suite, kind, { log: say });
    const isMissing = 'reason' in server;
    const name = `${tier.name} ${isMissing ? `${kind} ${usually}` : server.name}`;
    if (isMissing) results.push(cannotRun(name, server.reason, matrixRequired));
    else results.push(await runMocha(name, tier, files, own, { REDIS_SERVER: server.binary }));
  }
  return results;
}

/**
 * @param {string} name
 * @param {Tier} tier
 * @param {string[]} files
 * @param {string[]} own
 * @param {Record<string, string>} environment
 * @returns {Promise<Row>}
 */
async function runMocha(name, tier, files, own, environment) {
  heading(name);
  const args = mochaArguments(tier, files, [process.stdout.isTTY ? '--color' : '--no-color', ...own]);
  const { output, badEnd, seconds } = await runInGroup(process.execPath, args, {
    cwd: repository,
    env: { ...process.env, ...environment },
    limitMs: tier.limitMinutes * 60_000,
  });
  const printed = readTotals(output);
  const totals = judge(printed, badEnd);
  // Mocha's exit code is the number of failures: it says nothing new then.
  const isExplained =
    printed !== undefined && printed.failed > 0 && badEnd === `ended with exit code ${printed.failed}`;
  const failures = readFailures(output);
  return { name, totals, seconds, failures, ...(badEnd === undefined || isExplained ? {} : { note: badEnd }) };
}

/**
 * @param {string} name
 * @param {string} reason
 * @param {boolean} isFailure
 * @returns {Row}
 */
function cannotRun(name, reason, isFailure) {
  heading(`${name} CANNOT RUN: ${reason}`);
  const note = `cannot run: ${reason.split('\n')[0] ?? ''}`;
  return { name, totals: { ...noTests, [isFailure ? 'failed' : 'skipped']: 1 }, seconds: 0, note };
}

function endWithTable() {
  // Once more at the end, where they are found also when only the end of a long output was kept.
  for (const { name, failures = [] } of rows) for (const failure of failures) say(`${name}: ${failure}`);
  say(`\n${formatTable(rows)}\n`);
  finish(addTotals(rows.map(({ totals }) => totals ?? noTests)));
}

/** @param {Totals} totals */
function finish(totals) {
  say(formatTotals(totals));
  process.exitCode = totals.failed > 0 ? 1 : 0;
}

/** @param {string} problem */
function stopWithUsage(problem) {
  const names = [...tiers, contractTier, matrixTier, longTier].map(({ name }) => name).join(', ');
  say(`${problem} Usage: node scripts/test.mjs [--tier NAME [mocha arguments]], NAME one of ${names}.`);
  process.exitCode = 2;
}

/** @param {string} text */
function heading(text) {
  say(`\n=== ${text}`);
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}
