// What a tier needs before its tests can run, each seen to once in a run. A need that cannot be met is a reason.
// Tested by every run of `npm test`.
// @ts-check

import { ensureChromium } from './chromium.mjs';
import { repository } from './dependencies.mjs';
import { ensurePostgres } from './postgresPrograms.mjs';
import { runInGroup } from './processGroup.mjs';
import { ensureRedisServer } from './redisServer.mjs';
import { ensureVsCodeHost } from './vscodeHost.mjs';

const scriptLimitMs = 10 * 60_000;

/** @typedef {import('./tiers.mjs').Need} Need */
/** @typedef {(line: string) => void} Log */
/**
 * What tests find things by; or why not, and whether this repository is at fault rather than the machine.
 * @typedef {{ environment: Record<string, string> } | { reason: string, isFault: boolean }} Met
 */

/** Meets needs, and remembers what came of it. */
export class Needs {
  /** @type {Map<Need, Promise<Met>>} */
  #met = new Map();
  /** @param {Log} log */
  constructor(log) {
    this.log = log;
  }

  /**
   * Says that a need was met elsewhere.
   * @param {Need} need
   */
  noteMet(need) {
    this.#met.set(need, Promise.resolve({ environment: {} }));
  }

  /**
   * Meets all of them; the environment variables that tests find things by, or the first reason why not.
   * @param {readonly Need[]} needs
   * @returns {Promise<Met>}
   */
  async meet(needs) {
    /** @type {Record<string, string>} */
    let environment = {};
    for (const need of needs) {
      const known = this.#met.get(need) ?? this.#attempt(need);
      this.#met.set(need, known);
      const met = await known;
      if ('reason' in met) return met;
      environment = { ...environment, ...met.environment };
    }
    return { environment };
  }

  /**
   * @param {Need} need
   * @returns {Promise<Met>}
   */
  async #attempt(need) {
    try {
      return { environment: await this.#environmentOf(need) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { reason, isFault: need === 'build' || need === 'package' };
    }
  }

  /**
   * @param {Need} need
   * @returns {Promise<Record<string, string>>}
   */
  async #environmentOf(need) {
    const { log } = this;
    switch (need) {
      case 'redis':
        return { REDIS_SERVER: ensureRedisServer({ log }) };
      case 'postgres':
        return { POSTGRES_BIN: ensurePostgres({ log }) };
      case 'chromium':
        return { CHROMIUM: await ensureChromium({ log }) };
      case 'vscodeHost':
        await ensureVsCodeHost({ log });
        return {};
      case 'build':
        // Without the types, which `npm run check` looks at: a tier can run on what they object to.
        return this.#runNode('esbuild.js', '--production');
      case 'package': {
        const built = await this.meet(['build']);
        if ('reason' in built) throw new Error(built.reason);
        return this.#runNode('scripts/package.mjs');
      }
    }
  }

  /**
   * @param {...string} args
   * @returns {Promise<Record<string, string>>}
   */
  async #runNode(...args) {
    const { badEnd } = await runInGroup(process.execPath, args, { cwd: repository, limitMs: scriptLimitMs });
    if (badEnd !== undefined) throw new Error(`node ${args.join(' ')} ${badEnd}`);
    return {};
  }
}

/**
 * Runs a script of package.json, showing its output.
 * @param {string} name
 * @returns {Promise<import('./processGroup.mjs').GroupResult>}
 */
export function runScript(name) {
  return runInGroup('npm', ['run', '-s', name], { cwd: repository, limitMs: scriptLimitMs });
}
