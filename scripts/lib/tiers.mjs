// The test tiers as data: which files, which limits, what has to be there before; and how mocha is called for them.
// The order here is the order of `npm test`. Tested by test/unit/totals.test.ts.
// @ts-check

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './dependencies.mjs';

/** @typedef {'redis' | 'postgres' | 'chromium' | 'vscodeHost' | 'build' | 'package'} Need */
/**
 * @typedef {object} Tier
 * @property {string} name
 * @property {readonly string[]} folders
 * @property {RegExp} [only] which of the test files; default all
 * @property {number} testMs the limit of one test
 * @property {number} limitMinutes the limit of the tier
 * @property {readonly Need[]} needs
 */

const testSuffix = '.test.ts';

/**
 * The tiers of `npm test`, in their order.
 * @type {readonly Tier[]}
 */
export const tiers = [
  { name: 'unit', folders: ['test/unit'], testMs: 5000, limitMinutes: 5, needs: [] },
  { name: 'bus', folders: ['test/bus'], testMs: 60_000, limitMinutes: 15, needs: ['redis'] },
  { name: 'embedded', folders: ['test/embedded'], testMs: 60_000, limitMinutes: 15, needs: ['redis'] },
  { name: 'worker', folders: ['test/worker'], testMs: 60_000, limitMinutes: 20, needs: ['redis', 'postgres', 'build'] },
  { name: 'webview', folders: ['test/webview'], testMs: 60_000, limitMinutes: 15, needs: ['build', 'chromium'] },
  {
    name: 'host',
    folders: ['test/host'],
    testMs: 120_000,
    limitMinutes: 25,
    needs: ['redis', 'package', 'chromium', 'vscodeHost'],
  },
];

/**
 * The contract suites that `npm test` runs on the newest and the oldest server.
 * @type {Tier}
 */
export const contractTier = {
  name: 'contract',
  folders: ['test/bus'],
  only: /\.contract\.test\.ts$/,
  testMs: 60_000,
  limitMinutes: 10,
  needs: [],
};

/**
 * What `npm run test:matrix` runs on every server.
 * @type {Tier}
 */
export const matrixTier = {
  name: 'matrix',
  folders: ['test/bus', 'test/embedded'],
  only: /^test\/bus\/.*\.test\.ts$|\.differential\.test\.ts$/,
  testMs: 60_000,
  limitMinutes: 20,
  needs: [],
};

/**
 * Soaks, hundreds of kill points, long fuzzing: not part of `npm test`.
 * @type {Tier}
 */
export const longTier = {
  name: 'long',
  folders: ['test/long'],
  testMs: 3_600_000,
  limitMinutes: 240,
  needs: ['redis', 'postgres', 'build'],
};

/**
 * The test files of a tier, relative to the repository, sorted.
 * @param {Tier} tier
 * @param {string} [root]
 * @returns {string[]}
 */
export function listTestFiles({ folders, only }, root = repository) {
  return folders
    .flatMap((folder) => walk(root, folder))
    .filter((file) => file.endsWith(testSuffix) && (only === undefined || only.test(file)))
    .sort();
}

/**
 * The arguments of Node that run mocha on a tier. Arguments of the caller come last; files among them replace the tier's.
 * @param {Tier} tier
 * @param {readonly string[]} files
 * @param {readonly string[]} [own]
 * @returns {string[]}
 */
export function mochaArguments(tier, files, own = []) {
  const names = own.some((argument) => argument.endsWith(testSuffix)) ? [] : files;
  return [
    '--import=tsx',
    'node_modules/mocha/lib/cli/cli.js',
    '--no-config',
    '--require',
    'test/support/rootHooks.ts',
    '--reporter',
    'test/support/tierReporter.cjs',
    '--timeout',
    String(tier.testMs),
    ...own,
    ...names,
  ];
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function walk(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? walk(root, path) : [path];
  });
}
