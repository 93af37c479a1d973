// Opens a panel's built bundle in headless Chromium as VS Code would: the same page, the same policy, the theme's real variables,
// and the real PanelHost at the other end. Tested by every test of test/webview.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { chromiumFlags, ensureChromium } from '../../../scripts/lib/chromium.mjs';
import { PanelHost } from '../../../src/panels/panelHost';
import type { RequestHandlers } from '../../../src/panels/panelHost';
import { panelHtml } from '../../../src/panels/panelHtml';
import type { ErrorData } from '../../../src/protocol/envelope';
import type { StreamPanelContract } from '../../../src/protocol/streamPanel';

const repository = path.resolve(import.meta.dirname, '../../..');
const bundles = path.join(repository, 'dist/webview');
const screenshots = path.join(repository, 'test-output/screenshots');

/** The themes whose variables were read from a webview of VS Code 1.139. */
export const themeNames = ['light', 'dark', 'highContrast', 'highContrastLight'] as const;

/** The name of one of them. */
export type ThemeName = (typeof themeNames)[number];

interface Theme {
  readonly kind: string;
  readonly bodyClass: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** How to open a panel. */
export interface PanelPageOptions {
  readonly handlers: RequestHandlers<StreamPanelContract>;
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly timezone?: string;
}

/** A panel in the browser, its host, and what went wrong in the page. */
export interface PanelPage {
  readonly page: Page;
  readonly host: PanelHost<StreamPanelContract>;
  /** Every message of the page, in order. */
  readonly received: readonly { readonly kind: string; readonly method?: string; readonly params?: unknown }[];
  /** Errors of the page and violations of its policy; a test ends by finding none. */
  readonly problems: readonly string[];
  /** What the page kept with `setState`, as it would survive a reload of the window. */
  state(): unknown;
  /** Throws the page away and loads it again, as VS Code does when a hidden panel is shown. */
  reload(): Promise<void>;
  screenshot(name: string): Promise<void>;
  close(): Promise<void>;
}

/** An error that a handler of the fake host throws, shown as it is. */
export class ShownError extends Error {
  constructor(readonly data: ErrorData) {
    super(data.message);
  }
}

/** Starts the browser for one test file. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await ensureChromium(), args: chromiumFlags });
}

/** Opens the stream panel. */
export async function openPanel(browser: Browser, options: PanelPageOptions): Promise<PanelPage> {
  const { handlers, theme = 'dark', width = 1280, height = 800 } = options;
  assert.ok(
    existsSync(path.join(bundles, 'stream.js')),
    'dist/webview/stream.js is missing: run "npm run build" first',
  );
  const context = await browser.newContext({
    viewport: { width, height },
    locale: 'en-US',
    ...(options.timezone === undefined ? {} : { timezoneId: options.timezone }),
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const received: { kind: string }[] = [];
  const listeners = new Set<(message: unknown) => void>();
  let state: unknown;
  page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') problems.push(`console: ${line.text()}`);
  });
  await page.exposeFunction('hostReceives', (message: { kind: string }) => {
    received.push(message);
    for (const listener of listeners) listener(message);
  });
  await page.exposeFunction('hostKeeps', (kept: unknown) => {
    state = kept;
  });
  await page.exposeFunction('policyViolated', (what: string) => problems.push(`policy: ${what}`));
  await page.route('http://panel.test/**', async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name === '') {
      const body = panelHtml({
        title: 'Stream',
        locale: 'en',
        scriptUri: 'http://panel.test/stream.js',
        styleUri: 'http://panel.test/stream.css',
        cspSource: 'http://panel.test',
        nonce: 'c2NyaXB0',
        styleNonce: 'c3R5bGU',
      });
      await route.fulfill({ contentType: 'text/html', body });
    } else {
      const contentType = name.endsWith('.css') ? 'text/css' : 'text/javascript';
      await route.fulfill({ contentType, body: readFileSync(path.join(bundles, name), 'utf8') });
    }
  });
  const host = new PanelHost<StreamPanelContract>({
    transport: {
      post: (message) => {
        page.evaluate((data) => window.postMessage(data, '*'), message).catch(ignoreClosed);
      },
      onMessage: (listener) => {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    },
    handlers,
    describeError: (error) =>
      error instanceof ShownError ? error.data : { reason: 'test', message: String(error), retriable: true },
  });
  const load = async (): Promise<void> => {
    await page.goto('http://panel.test/');
  };
  // tsx marks the names of functions with a helper that the page does not have.
  await page.addInitScript('globalThis.__name = (value) => value;');
  await page.addInitScript(standIn, { theme: readTheme(theme), state: undefined });
  await load();
  return {
    page,
    host,
    received,
    problems,
    state: () => state,
    reload: async () => {
      await page.addInitScript((kept) => Object.assign(window, { keptState: kept }), state);
      await load();
    },
    screenshot: async (name) => {
      mkdirSync(screenshots, { recursive: true });
      await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
    },
    close: async () => {
      host.dispose();
      await context.close();
    },
  };
}

/** A theme as VS Code gives it to a webview. */
export function readTheme(name: ThemeName): Theme {
  const text = readFileSync(path.join(import.meta.dirname, `../themes/${name}.json`), 'utf8');
  return JSON.parse(text) as Theme;
}

/** What VS Code puts around a page: its interface for messages and state, the theme's variables and class. */
function standIn({ theme }: { theme: Theme }): void {
  const page = window as unknown as {
    hostReceives(message: unknown): void;
    hostKeeps(state: unknown): void;
    policyViolated(what: string): void;
    keptState?: unknown;
  };
  Object.assign(window, {
    acquireVsCodeApi: () => ({
      postMessage: (message: unknown) => {
        page.hostReceives(structuredClone(message));
      },
      getState: () => page.keptState,
      setState: (state: unknown) => {
        page.hostKeeps(structuredClone(state));
      },
    }),
  });
  document.addEventListener('securitypolicyviolation', (event) => {
    page.policyViolated(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
  });
  document.addEventListener('DOMContentLoaded', () => {
    for (const [name, value] of Object.entries(theme.variables))
      document.documentElement.style.setProperty(name, value);
    document.body.className = theme.bodyClass;
    document.body.dataset.vscodeThemeKind = theme.kind;
  });
}

function ignoreClosed(error: unknown): void {
  const isGone = error instanceof Error && /closed|navigation|destroyed/i.test(error.message);
  if (!isGone) throw error;
}
