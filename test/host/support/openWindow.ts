// Opens a VS Code window for a test file: the VS Code server with the built VSIX and the test bridge installed, and a
// headless Chromium on it. Whatever happens, nothing of it outlives the test process. Tested by ../harness.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { chromiumFlags, ensureChromium } from '../../../scripts/lib/chromium.mjs';
import { markVariable, processesOf } from '../../../scripts/lib/processTree.mjs';
import { ensureVsCodeHost, startVsCodeHost } from '../../../scripts/lib/vscodeHost.mjs';
import { eventually } from '../../support/eventually';
import { Bridge } from './bridge';
import { quietSettings } from './quietSettings';
import { repositoryRoot } from './repositoryRoot';
import { testVsix } from './testVsix';
import { themes } from './themes';
import type { ThemeName } from './themes';
import { Window } from './window';

/** What a window may be opened with. */
export interface WindowOptions {
  /** User settings on top of those that keep the window quiet. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Default: dark. */
  readonly theme?: ThemeName;
  /** Files of the workspace by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Added to the environment of VS Code. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of more extensions (package.json and code), installed beside the one under test. */
  readonly extensions?: readonly string[];
  /** Shows the view and commands of the test bridge on which the harness tests itself. */
  readonly probes?: boolean;
  /** The browser window's inner size; default 1400 by 900. */
  readonly size?: { readonly width: number; readonly height: number };
}

const open = new Set<Window>();
const traces: Trace[] = [];

/** What a window leaves when it is not closed as it should be. */
interface Trace {
  readonly ports: readonly number[];
  processes(): readonly { readonly pid: number; readonly command: string }[];
}

/** The windows that are open now. */
export function openWindows(): ReadonlySet<Window> {
  return open;
}

/** Opens a window; it takes 5 to 10 s. Close it with `close()`. */
export async function openWindow(options: WindowOptions = {}): Promise<Window> {
  const vsix = testVsix();
  const executablePath = await ensureChromium();
  const host = await ensureVsCodeHost({ log: (line) => process.stderr.write(`${line}\n`) });
  const root = mkdtempSync(join(tmpdir(), 'redis-streams-host-'));
  const workspace = join(root, 'workspace');
  const dataDir = join(root, 'data');
  writeFiles(workspace, options.files ?? {});
  const bridgeFolder = join(repositoryRoot, 'test', 'host', 'bridge');
  for (const folder of [bridgeFolder, ...(options.extensions ?? [])])
    placeExtension(folder, join(dataDir, 'extensions'));

  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    const failures: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    if (failures.length > 0)
      throw new AggregateError(failures, `The window did not close: ${failures.map(String).join('; ')}`);
  };
  try {
    const bridge = new Bridge();
    const address = await bridge.listen();
    undo.push(() => bridge.close());
    const mark = randomUUID();
    const [browser, server] = await settled([
      chromium.launch({ executablePath, args: chromiumFlags, env: { ...process.env, [markVariable]: mark } }),
      startVsCodeHost({
        host,
        workspace,
        vsix,
        dataDir,
        connectionToken: null,
        settings: {
          ...quietSettings,
          'testBridge.probes': options.probes ?? false,
          'workbench.colorTheme': themes[options.theme ?? 'dark'].setting,
          ...options.settings,
        },
        env: { ...options.env, REDIS_STREAMS_TEST_BRIDGE: address },
        remove: [root],
      }),
    ]);
    if (server.status === 'fulfilled') undo.push(() => server.value.stop());
    if (browser.status === 'fulfilled') undo.push(() => endBrowser(browser.value, mark));
    if (browser.status === 'rejected') throw browser.reason;
    if (server.status === 'rejected') throw server.reason;
    traces.push({
      ports: [bridge.port, server.value.port],
      processes: () => [...processesOf({ mark }), ...server.value.processes()],
    });

    const context = await browser.value.newContext({
      viewport: options.size ?? { width: 1400, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    // The loader of the tests wraps named functions in __name, also those that run inside the page.
    await page.addInitScript('globalThis.__name = (value) => value');
    const window: Window = new Window({
      page,
      bridge,
      workspace,
      close: () => {
        open.delete(window);
        return close();
      },
    });
    open.add(window);
    await page.goto(server.value.url(), { waitUntil: 'commit', timeout: 60_000 });
    await page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
    await bridge.connected();
    return window;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Throws when a process or a listening port of any window that this process opened is left; an open window counts. */
export async function assertNothingLeft(): Promise<void> {
  for (const trace of traces) {
    const left = trace.processes().map(({ pid, command }) => `${pid} ${command.slice(0, 200)}`);
    assert.deepEqual(left, [], 'Processes of a closed window are left.');
    for (const port of trace.ports)
      assert.equal(await listens(port), false, `Port ${port} of a closed window still listens.`);
  }
}

async function endBrowser(browser: Browser, mark: string): Promise<void> {
  await browser.close();
  await eventually(() => processesOf({ mark }).length === 0, { what: 'Chromium to end' });
}

function settled<A, B>(
  promises: [Promise<A>, Promise<B>],
): Promise<[PromiseSettledResult<A>, PromiseSettledResult<B>]> {
  return Promise.allSettled(promises);
}

/** VS Code takes what lies in its empty extensions folder for installed when it first looks. */
function placeExtension(folder: string, extensions: string): void {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { publisher, name, version } = { publisher: '', name: '', version: '', ...Object(manifest) } as Manifest;
  cpSync(folder, join(extensions, `${publisher}.${name}-${version}`), { recursive: true });
}

interface Manifest {
  readonly publisher: string;
  readonly name: string;
  readonly version: string;
}

function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(root, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (port === 0) {
      resolve(false);
      return;
    }
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
