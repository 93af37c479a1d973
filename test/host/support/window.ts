// A VS Code window under test: the page, the bridge into its extension host, and an object for each part of the
// workbench. It does not know how VS Code was started: openWindow.ts does. Tested by ../harness.test.ts.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import type { Bridge } from './bridge';
import { DebugControls } from './debugControls';
import { Dialog } from './dialog';
import { Editors } from './editors';
import { Menu } from './menu';
import { Notifications } from './notifications';
import { OutputPanel, StatusBar, webviewFrame } from './panels';
import type { WebviewChoice } from './panels';
import { QuickInput } from './quickInput';
import { repositoryRoot } from './repositoryRoot';
import { themeNames, themes } from './themes';
import type { ThemeName } from './themes';
import { Tree } from './tree';

/** What a picture shows. */
export interface ScreenshotOptions {
  /** Default: the whole window. */
  readonly of?: Locator;
}

/** Pictures of the same in every theme. */
export interface ThemedScreenshotOptions extends ScreenshotOptions {
  /** The theme that the window is left in; default dark. */
  readonly last?: ThemeName;
}

/** Status bar items that only a VS Code in a browser has. */
const hiddenInPictures = ['keyboardLayout', 'forwardedPorts', 'host']
  .map((name) => `.statusbar-item[id^="status."][id$="${name}"] { display: none !important; }`)
  .join('\n');

/** What a window is made of; `close` ends all that was started for it. */
export interface WindowParts {
  readonly page: Page;
  readonly bridge: Bridge;
  /** Absolute path of the folder that is open. */
  readonly workspace: string;
  close(): Promise<void>;
}

/** The window under test. */
export class Window {
  readonly page: Page;
  readonly bridge: Bridge;
  readonly workspace: string;
  readonly quickInput: QuickInput;
  readonly dialog: Dialog;
  readonly notifications: Notifications;
  readonly editors: Editors;
  readonly debug: DebugControls;
  readonly statusBar: StatusBar;
  readonly output: OutputPanel;

  private readonly errors: string[] = [];

  constructor(private readonly parts: WindowParts) {
    const { page, bridge, workspace } = parts;
    this.page = page;
    this.bridge = bridge;
    this.workspace = workspace;
    this.quickInput = new QuickInput(page);
    this.dialog = new Dialog(page);
    this.notifications = new Notifications(page, bridge);
    this.editors = new Editors(page, bridge);
    this.debug = new DebugControls(page, bridge);
    this.statusBar = new StatusBar(page);
    this.output = new OutputPanel(page);
    page.on('console', (message) => {
      const error = /^%c\s*ERR color: #f33 \[Extension Host\] ([\s\S]*)/.exec(message.text())?.[1];
      if (error !== undefined) this.errors.push(error);
    });
  }

  /** Errors that extensions wrote to the console of the extension host, or that it reports of them. */
  extensionHostErrors(): readonly string[] {
    return this.errors;
  }

  /** Runs a command by its full title through the command palette. */
  async runCommand(title: string): Promise<void> {
    await this.quickInput.runCommand(title);
  }

  /** Opens a view container by its title in the activity bar. */
  async openView(title: string): Promise<void> {
    const item = this.page.locator(
      `.activitybar .action-item:has(.action-label[aria-label^=${JSON.stringify(title)}])`,
    );
    await eventually(
      async () => {
        if ((await item.getAttribute('aria-selected')) === 'true' && (await this.sideBarTitle()).startsWith(title))
          return true;
        await item.locator('.action-label').click();
        await this.page.mouse.move(0, 0);
        return false;
      },
      { what: `the view ${title} to open`, intervalMs: 250 },
    );
  }

  /** The titles in the activity bar, top down. */
  async activityBar(): Promise<string[]> {
    const labels = await this.page.locator('.activitybar .composite-bar .action-label').all();
    return Promise.all(labels.map(async (label) => (await label.getAttribute('aria-label')) ?? ''));
  }

  /** The title above the sidebar: of the container, or `container: view` when it has only one. */
  async sideBarTitle(): Promise<string> {
    return (await this.page.locator('.part.sidebar .composite.title h2').textContent()) ?? '';
  }

  /** A tree view by its name; its container has to be open. */
  tree(name: string): Tree {
    return new Tree(this.page, name);
  }

  /** The menu that an action just opened. */
  openMenu(): Promise<Menu> {
    return Menu.open(this.page);
  }

  /** The document of the webview in sight. */
  webview(choice: WebviewChoice = {}): Promise<FrameLocator> {
    return webviewFrame(this.page, choice);
  }

  /** Presses keys as playwright names them, one after the other: `press('Control+Shift+P', 'Escape')`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Types text into what has the focus. */
  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  readClipboard(): Promise<string> {
    return this.bridge.readClipboard();
  }

  /** Loads the window anew, as Developer: Reload Window does, and waits until the bridge is back. */
  async reload(): Promise<void> {
    const before = this.bridge.connections;
    await this.page.reload();
    await this.page.locator('.monaco-workbench').waitFor();
    await this.bridge.connected(before);
  }

  async setTheme(theme: ThemeName): Promise<void> {
    const { setting, bodyClass } = themes[theme];
    await this.bridge.updateSetting('workbench.colorTheme', setting);
    await this.page.locator(`.monaco-workbench.${bodyClass}`).waitFor();
  }

  /** Saves what the window shows as test-output/screenshots/<name>.png and gives back the path. */
  async screenshot(name: string, { of }: ScreenshotOptions = {}): Promise<string> {
    const path = join(repositoryRoot, 'test-output', 'screenshots', `${name}.png`);
    mkdirSync(dirname(path), { recursive: true });
    await (of ?? this.page).screenshot({ path, animations: 'disabled', caret: 'hide', style: hiddenInPictures });
    return path;
  }

  /** Saves the same view in each theme as <name>-<theme>.png, and ends in the theme `last`. */
  async screenshots(name: string, { last = 'dark', ...options }: ThemedScreenshotOptions = {}): Promise<string[]> {
    const paths = [];
    for (const theme of themeNames) {
      await this.setTheme(theme);
      paths.push(await this.screenshot(`${name}-${theme}`, options));
    }
    await this.setTheme(last);
    return paths;
  }

  /** Ends the window and all that was started for it; throws naming what is left. */
  async close(): Promise<void> {
    await this.parts.close();
  }
}
