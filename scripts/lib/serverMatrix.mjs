// The server versions that the suites run against: Redis and Valkey as packages of other Debian suites, downloaded and
// unpacked into the cache and run with the C library they came with. Nothing of the system changes. A version that cannot
// be had is a reason, not an exception. Tested by test/unit/serverScripts.test.ts and `node scripts/servers.mjs --install`.
// @ts-check

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { readPackageSources, stanzaFor } from './aptSources.mjs';
import { cachedFolder, cacheFolder } from './cache.mjs';
import { readServerVersion } from './redisServer.mjs';

const execute = promisify(execFile);

/** @typedef {(line: string) => void} Log */
/** @typedef {'redis' | 'valkey'} ServerKind */
/** @typedef {{ suite: string, kind: ServerKind, usually: string }} MatrixEntry */
/** @typedef {{ name: string, version: string, binary: string }} MatrixServer */

/**
 * Every server of the matrix, oldest first; `usually` is the version that the suite had when this was written.
 * @type {MatrixEntry[]}
 */
export const serverMatrix = [
  { suite: 'bullseye', kind: 'redis', usually: '6.0.16' },
  { suite: 'bookworm', kind: 'redis', usually: '7.0.15' },
  { suite: 'trixie', kind: 'redis', usually: '8.0.2' },
  { suite: 'sid', kind: 'redis', usually: '8.0.6' },
  { suite: 'experimental', kind: 'redis', usually: '8.6.3' },
  { suite: 'trixie', kind: 'valkey', usually: '8.1.1' },
  { suite: 'sid', kind: 'valkey', usually: '9.1.2' },
];

/** The newest and the oldest server, on which `npm test` runs the contract suites. */
export const shortMatrix = serverMatrix.filter(({ suite }) => suite === 'experimental' || suite === 'bullseye');

/**
 * The cached server of a suite, fetched first when it is not there.
 * @param {string} suite
 * @param {ServerKind} kind
 * @param {{ log?: Log, refresh?: boolean }} [options] `refresh` looks for a newer version of the suite
 * @returns {Promise<MatrixServer | { reason: string }>}
 */
export async function ensureServer(suite, kind, options = {}) {
  try {
    const cached = options.refresh === true ? undefined : await findCached(suite, kind);
    return describe(cached ?? (await fetchServer(suite, kind, options)), kind);
  } catch (error) {
    return { reason: `${kind} of ${suite}: ${error instanceof Error ? firstLines(error.message) : String(error)}` };
  }
}

/**
 * The server of a suite when it is in the cache already.
 * @param {string} suite
 * @param {ServerKind} kind
 * @returns {Promise<MatrixServer | undefined>}
 */
export async function findServer(suite, kind) {
  const folder = await findCached(suite, kind);
  return folder === undefined ? undefined : describe(folder, kind);
}

/**
 * @param {string} folder
 * @param {ServerKind} kind
 * @returns {MatrixServer}
 */
function describe(folder, kind) {
  const binary = join(folder, `${kind}-server`);
  const { name, version } = readServerVersion(binary);
  return { name: `${name} ${version}`, version, binary };
}

/**
 * @param {string} suite
 * @param {ServerKind} kind
 * @returns {Promise<string | undefined>} the folder that was filled last
 */
async function findCached(suite, kind) {
  const root = cacheFolder();
  const prefix = folderPrefix(suite, kind);
  const names = existsSync(root) ? await readdir(root) : [];
  const folders = names
    .filter((name) => name.startsWith(prefix) && !name.includes('.partial-'))
    .map((name) => join(root, name));
  const dated = await Promise.all(folders.map(async (folder) => ({ folder, at: (await stat(folder)).mtimeMs })));
  return dated.sort((a, b) => b.at - a.at)[0]?.folder;
}

/**
 * @param {string} suite
 * @param {ServerKind} kind
 * @returns {string}
 */
function folderPrefix(suite, kind) {
  return `server-${suite}-${kind}-`;
}

/**
 * @param {string} suite
 * @param {ServerKind} kind
 * @param {{ log?: Log }} options
 * @returns {Promise<string>} the folder
 */
async function fetchServer(suite, kind, options) {
  const work = await mkdtemp(join(tmpdir(), 'redis-streams-apt-'));
  try {
    const apt = await openSuite(work, suite);
    const tools = `${kind}-tools`;
    const { stdout } = await apt('apt-cache', ['madison', tools]);
    const versions = stdout.split('\n').map((line) => line.split('|').map((part) => part.trim()));
    const version = versions.find(([, , from]) => from?.includes(` ${suite}/`))?.[1];
    if (version === undefined) throw new Error(`the suite has no package ${tools}`);
    const name = `${folderPrefix(suite, kind)}${version.replace(/^\d+:/, '')}`;
    return await cachedFolder(
      name,
      async (folder) => {
        options.log?.(`Fetching ${tools} ${version} of Debian ${suite} into the cache.`);
        await unpack(apt, folder, `${tools}=${version}`, kind);
      },
      options,
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * @typedef {(program: 'apt-get' | 'apt-cache', args: string[], cwd?: string) => Promise<{ stdout: string }>} Apt
 */

/**
 * Apt on a suite of its own: sources, lists and cache are in `work`, the system's state is neither read nor changed.
 * @param {string} work
 * @param {string} suite
 * @returns {Promise<Apt>}
 */
async function openSuite(work, suite) {
  const sources = readPackageSources();
  if (sources.length === 0)
    throw new Error('no Debian package source on this machine (other systems have no such packages)');
  const architecture = (await execute('dpkg', ['--print-architecture'])).stdout.trim();
  // Experimental holds only what differs from sid.
  const suites = suite === 'experimental' ? ['experimental', 'sid'] : [suite];
  for (const folder of ['sources', 'lists/partial', 'cache/archives/partial'])
    await mkdir(join(work, folder), { recursive: true });
  const stanzas = sources.flatMap((source) => suites.map((name) => stanzaFor(source, name, architecture)));
  await writeFile(join(work, 'sources/suite.sources'), stanzas.join(''));
  const settings = [
    'Dir::Etc::SourceList=/dev/null',
    `Dir::Etc::SourceParts=${join(work, 'sources')}`,
    'Dir::Etc::Preferences=/dev/null',
    'Dir::Etc::PreferencesParts=/dev/null',
    `Dir::State::Lists=${join(work, 'lists')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    'Dir::State::status=/dev/null',
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::Retries=1',
    'Acquire::http::Timeout=30',
  ].flatMap((setting) => ['-o', setting]);
  /** @type {Apt} */
  const apt = (program, args, cwd = work) =>
    execute(program, [...settings, ...args], { cwd, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 });
  await apt('apt-get', ['-q', '-o', 'APT::Update::Error-Mode=any', 'update']);
  return apt;
}

/**
 * @param {Apt} apt
 * @param {string} folder
 * @param {string} tools the package with the server's binary, as name=version
 * @param {ServerKind} kind
 */
async function unpack(apt, folder, tools, kind) {
  const archives = join(folder, 'archives');
  await mkdir(archives);
  await apt('apt-get', ['-q', 'download', tools, ...(await libraryPackages(apt, tools))], archives);
  for (const archive of await readdir(archives)) await execute('dpkg', ['-x', join(archives, archive), folder]);
  await rm(archives, { recursive: true });
  await rm(join(folder, 'usr/share'), { recursive: true, force: true });
  const libraries = await libraryFolders(folder);
  const loader = await findLoader(libraries);
  // The server is the same program as the RDB checker: it looks at the name that it was started by.
  await mkdir(join(folder, 'bin'));
  await copyFile(join(folder, `usr/bin/${kind}-check-rdb`), join(folder, `bin/${kind}-server`));
  const path = libraries.map((library) => `$root/${relative(folder, library)}`).join(':');
  const wrapper = join(folder, `${kind}-server`);
  await writeFile(
    wrapper,
    `#!/bin/sh\nroot=\${0%/*}\nexec "$root/${relative(folder, loader)}" --inhibit-cache --library-path "${path}" "$root/bin/${kind}-server" "$@"\n`,
  );
  await chmod(wrapper, 0o755);
  readServerVersion(wrapper);
}

/**
 * The library packages that a package needs, directly or through another library: what else it depends on is for
 * running it as a service.
 * @param {Apt} apt
 * @param {string} tools
 * @returns {Promise<string[]>}
 */
async function libraryPackages(apt, tools) {
  /** @type {Set<string>} */
  const found = new Set();
  for (let wanted = [tools]; wanted.length > 0;) {
    const { stdout } = await apt('apt-cache', ['depends', ...wanted]);
    const names = [...stdout.matchAll(/^ [ |](?:Pre)?Depends: ((?:lib|lua|zlib)[^\s<>]*)$/gm)].map(
      (match) => match[1] ?? '',
    );
    wanted = [...new Set(names)].filter((name) => !found.has(name));
    for (const name of wanted) found.add(name);
  }
  return [...found];
}

/**
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
async function libraryFolders(folder) {
  /** @type {string[]} */
  const folders = [];
  for (const parent of [join(folder, 'usr/lib'), join(folder, 'lib')]) {
    const names = existsSync(parent) ? await readdir(parent) : [];
    folders.push(...names.filter((name) => name.includes('-linux-gnu')).map((name) => join(parent, name)));
  }
  return folders;
}

/**
 * @param {string[]} folders
 * @returns {Promise<string>}
 */
async function findLoader(folders) {
  for (const folder of folders) {
    const name = (await readdir(folder)).find((file) => /^ld-(linux.*\.so\.\d+|[\d.]+\.so)$/.test(file));
    if (name !== undefined) return join(folder, name);
  }
  throw new Error('the C library package holds no loader');
}

/**
 * @param {string} text
 * @returns {string}
 */
function firstLines(text) {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(Get|Hit|Ign|Fetched|Reading|Command failed)/.test(line));
  return (lines.length === 0 ? text.split('\n') : lines).slice(0, 3).join(' ');
}
