// `npm run test:electron`: the built VSIX in a desktop VS Code that @vscode/test-electron downloads, driven by the page
// objects and the test bridge of the host tier. Where it cannot be downloaded the run counts as skipped. The host tier
// (test/host) is the one that runs everywhere.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadAndUnzipVSCode, resolveCliArgsFromVSCodeExecutablePath, SilentReporter } from '@vscode/test-electron';
import { _electron } from 'playwright-core';
import { cacheFolder } from '../../scripts/lib/cache.mjs';
import { Bridge } from '../host/support/bridge';
import { quietSettings } from '../host/support/quietSettings';
import { repositoryRoot } from '../host/support/repositoryRoot';
import { testVsix } from '../host/support/testVsix';
import { Window } from '../host/support/window';

const downloadTimeoutMs = 120_000;

const tests: readonly { readonly name: string; readonly run: (window: Window) => Promise<void> }[] = [
  {
    name: 'activates the installed extension',
    run: async ({ bridge }) => {
      const { isActive } = await bridge.activate('redis-streams.redis-streams-debugger');
      assert.equal(isActive, true);
    },
  },
  {
    name: 'shows the welcome in its view',
    run: async (window) => {
      await window.openView('Redis Streams');
      assert.match(await window.tree('Explorer').welcome(), /Redis/);
    },
  },
  {
    name: 'opens its log from the command palette',
    run: async (window) => {
      await window.runCommand('Redis Streams: Open Log');
      await window.output.shows('Redis Streams');
    },
  },
];

async function main(): Promise<void> {
  const vsix = testVsix();
  const executable = await download();
  if (executable === undefined) return;
  const window = await openDesktopWindow(executable, vsix);
  let failed = 0;
  for (const { name, run } of tests) {
    try {
      await run(window);
      console.log(`✔ ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`✘ ${name}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      await window.screenshot(`failed/electron-${failed}`);
    }
  }
  await window.close();
  finish(tests.length - failed, failed, 0);
}

async function download(): Promise<string | undefined> {
  try {
    return await downloadAndUnzipVSCode({
      cachePath: join(cacheFolder(), 'vscode-electron'),
      timeout: downloadTimeoutMs,
      reporter: new SilentReporter(),
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.log(
      `Skipped: no desktop VS Code could be downloaded (${why}). npm run test:host tests the same VSIX without it.`,
    );
    finish(0, 0, 1);
    return undefined;
  }
}

async function openDesktopWindow(executablePath: string, vsix: string): Promise<Window> {
  const root = mkdtempSync(join(tmpdir(), 'redis-streams-electron-'));
  const workspace = join(root, 'workspace');
  const user = join(root, 'user', 'User');
  for (const folder of [workspace, user]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(user, 'settings.json'), JSON.stringify(quietSettings));
  const places = [`--user-data-dir=${join(root, 'user')}`, `--extensions-dir=${join(root, 'extensions')}`];
  const [cli = '', ...cliArgs] = resolveCliArgsFromVSCodeExecutablePath(executablePath, { reuseMachineInstall: true });
  const install = spawnSync(cli, [...cliArgs, ...places, '--install-extension', vsix], { encoding: 'utf8' });
  assert.equal(install.status, 0, `VS Code did not install ${vsix}: ${install.stderr}`);

  const bridge = new Bridge();
  const bridgeFolder = join(root, 'bridge');
  cpSync(join(repositoryRoot, 'test', 'host', 'bridge'), bridgeFolder, { recursive: true });
  const application = await _electron.launch({
    executablePath,
    args: [
      ...places,
      `--extensionDevelopmentPath=${bridgeFolder}`,
      '--disable-workspace-trust',
      '--skip-welcome',
      '--skip-release-notes',
      '--disable-updates',
      workspace,
    ],
    env: { ...environment(), REDIS_STREAMS_TEST_BRIDGE: await bridge.listen() },
  });
  const page = await application.firstWindow();
  await page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
  await bridge.connected();
  const close = async () => {
    await application.close();
    await bridge.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  };
  return new Window({ page, bridge, workspace, close });
}

/** Without ELECTRON_RUN_AS_NODE and the like, with which an editor's terminal would turn VS Code into a plain Node. */
function environment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_)/.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

/** The last line, which the test runner reads. */
function finish(passed: number, failed: number, skipped: number): void {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 ? 1 : 0;
}

main().catch((error: unknown) => {
  console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  finish(0, 1, 0);
});
