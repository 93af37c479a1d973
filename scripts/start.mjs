// `npm start`: builds the extension, starts a sandbox with sample streams that keep moving, and opens a VS Code on it: the
// `code` on PATH with folders of its own, else a VS Code in the browser. Ctrl-C ends everything that it started.
//
//   npm start                       see the product at work; no Redis is needed
//   npm start -- --no-open          print the address only, and stay up
//   npm start -- --redis-server     the same streams in a redis-server, installed when it is missing
//   npm start -- --redis URL        look at a Redis of yours; no sample traffic
// @ts-check

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureDependencies, repository, runProgram } from './lib/dependencies.mjs';
import { findProgram } from './lib/findProgram.mjs';
import { startGuarded } from './lib/guardedProcess.mjs';
import { ensureRedisServer, startRedisServer } from './lib/redisServer.mjs';
import { ensureVsCodeHost, startVsCodeHost } from './lib/vscodeHost.mjs';

const vsix = join(repository, 'dist', 'redis-streams-debugger.vsix');
const usage = 'Usage: npm start [-- [--no-open] [--redis-server | --redis URL]]';

/** @type {(() => unknown)[]} */
const endings = [];
let ending = false;

/** Ends everything that was started, last first. */
async function end() {
  if (ending) return;
  ending = true;
  for (const stop of endings.reverse()) {
    try {
      await stop();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  }
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}

/** The options of this run, or what is wrong with them. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        'no-open': { type: 'boolean' },
        'redis-server': { type: 'boolean' },
        redis: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    const server = values['redis-server'] === true;
    if (server && values.redis !== undefined) throw new Error('--redis-server and --redis exclude each other.');
    return { open: values['no-open'] !== true, redis: values.redis, server, help: values.help === true };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/**
 * Starts the sandbox; answers its URL.
 * @returns {Promise<string>}
 */
function startSandbox() {
  return new Promise((resolve) => {
    let output = '';
    startWorker(['sandbox'], 'sandbox', (text) => {
      output += text;
      const url = /redis:\/\/\S+/.exec(output)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}

/** Starts a redis-server and the sample traffic in it; answers its URL. */
async function startRedisWithSample() {
  const binary = ensureRedisServer({ log: say });
  const server = await startRedisServer({ binary });
  endings.push(() => server.stop());
  void server.exited.then(() => stopBecause('The sample Redis ended.'));
  const url = `redis://127.0.0.1:${server.port}`;
  startWorker(['sample', '--url', url], 'sample traffic', () => undefined);
  return url;
}

/**
 * Starts a command of the worker that this process ends, and that ends this process when it ends by itself.
 * @param {string[]} args
 * @param {string} what
 * @param {(text: string) => void} onOutput
 */
function startWorker(args, what, onOutput) {
  const worker = startGuarded({
    command: process.execPath,
    args: [join(repository, 'dist', 'worker.js'), ...args],
    onOutput: (text) => {
      process.stdout.write(text);
      onOutput(text);
    },
  });
  endings.push(() => worker.stop());
  void worker.exited.then((code) => stopBecause(`The ${what} ended with ${code}.`));
}

/** @param {string} why */
function stopBecause(why) {
  if (ending) return;
  say(why);
  process.exitCode = 1;
  void end();
}

/**
 * The user settings of the window: the connection, and an editor without distractions.
 * @param {string} url
 * @param {boolean} isSample
 */
function settings(url, isSample) {
  return {
    'redisStreams.connections': [
      isSample ? { name: 'Sample', url, environment: 'local' } : { name: 'Redis', url, environment: 'development' },
    ],
    'chat.disableAIFeatures': true,
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'workbench.startupEditor': 'none',
    'security.workspace.trust.enabled': false,
  };
}

/** A temporary folder that goes when this process ends. */
function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'redis-streams-start-'));
  endings.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * Opens the desktop VS Code that is on PATH with user data and extensions of its own.
 * @param {string} code
 * @param {string} folder
 * @param {string} workspace
 * @param {Record<string, unknown>} userSettings
 */
async function openDesktop(code, folder, workspace, userSettings) {
  const user = join(folder, 'user', 'User');
  await mkdir(user, { recursive: true });
  writeFileSync(join(user, 'settings.json'), JSON.stringify(userSettings, null, 2));
  const places = ['--user-data-dir', join(folder, 'user'), '--extensions-dir', join(folder, 'extensions')];
  await runProgram(code, [...places, '--install-extension', vsix]);
  const window = spawn(code, [...places, '--new-window', '--wait', workspace], { stdio: 'ignore', detached: true });
  endings.push(() => {
    try {
      if (window.pid !== undefined) process.kill(-window.pid);
    } catch {
      say('The VS Code window had ended already.');
    }
  });
  say('VS Code is open on the sample. Close its window or press Ctrl-C to end.');
  window.on('close', () => void end());
}

/**
 * Serves a VS Code to the browser, behind a random token.
 * @param {string} folder
 * @param {string} workspace
 * @param {Record<string, unknown>} userSettings
 * @param {boolean} open
 */
async function openInBrowser(folder, workspace, userSettings, open) {
  const host = await ensureVsCodeHost({ log: say });
  const running = await startVsCodeHost({
    host,
    workspace,
    vsix,
    settings: userSettings,
    connectionToken: randomBytes(24).toString('hex'),
    dataDir: join(folder, 'vscode'),
    remove: [folder],
  });
  endings.push(() => running.stop());
  const address = running.url();
  say('');
  say(`VS Code with Redis Streams Debugger: ${address}`);
  say('Open the Redis Streams view in the activity bar. Ctrl-C ends everything.');
  const opener = open ? findProgram(process.platform === 'darwin' ? 'open' : 'xdg-open') : undefined;
  if (opener !== undefined) spawn(opener, [address], { stdio: 'ignore', detached: true }).unref();
}

async function main() {
  const options = readOptions();
  if (options.help) {
    say(usage);
    return;
  }
  await ensureDependencies({ log: say });
  say('Building the extension.');
  await runProgram('npm', ['run', '-s', 'package']);
  const url = options.redis ?? (await (options.server ? startRedisWithSample() : startSandbox()));
  const folder = temporaryFolder();
  const workspace = join(folder, 'redis-streams');
  await mkdir(workspace);
  const code = findProgram('code');
  const userSettings = settings(url, options.redis === undefined);
  if (code !== undefined && options.open) await openDesktop(code, folder, workspace, userSettings);
  else await openInBrowser(folder, workspace, userSettings, options.open);
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    say('');
    say('Ending.');
    void end().then(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  });
}

main().catch(async (/** @type {unknown} */ error) => {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
  await end();
});
