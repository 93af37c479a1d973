// The parts around the editors: status bar, output panel, webviews. Tested by ../harness.test.ts.
import assert from 'node:assert/strict';
import type { FrameLocator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually';

/** The status bar. */
export class StatusBar {
  constructor(private readonly page: Page) {}

  /** The texts of all items, left to right; icons appear as `$(name)`. */
  async items(): Promise<string[]> {
    return this.page.locator('.part.statusbar .statusbar-item').evaluateAll((items) =>
      items.map((item) => {
        const label = item.querySelector('.statusbar-item-label');
        return [...(label?.childNodes ?? [])]
          .map((node) => {
            const icon = node instanceof Element ? /codicon-([\w-]+)/.exec(node.className)?.[1] : undefined;
            return icon === undefined ? node.textContent : `$(${icon})`;
          })
          .join('')
          .replaceAll(/\s+/g, ' ')
          .trim();
      }),
    );
  }

  /** Waits for an item with this text and gives it back. */
  async find(text: string | RegExp): Promise<string> {
    return eventually(
      async () => {
        const items = await this.items();
        const found = items.find((item) => (typeof text === 'string' ? item === text : text.test(item)));
        if (found === undefined) throw new Error(`The status bar shows: ${items.join(' | ')}`);
        return found;
      },
      { what: `the status bar item ${String(text)}` },
    );
  }

  /** Clicks the item that contains this text (without icons). */
  async click(text: string): Promise<void> {
    await this.page.locator('.part.statusbar .statusbar-item-label').filter({ hasText: text }).click();
  }
}

/** The output panel. */
export class OutputPanel {
  constructor(private readonly page: Page) {}

  /** The name of the channel that is shown; waits for the panel. */
  async channel(): Promise<string> {
    const select = this.page.locator(
      '.part.panel .title-actions .monaco-select-box, .part.panel .title-actions select',
    );
    await select.first().waitFor();
    return select.first().evaluate((element) => {
      const box = element instanceof HTMLSelectElement ? element : element.querySelector('select');
      return box?.selectedOptions[0]?.textContent ?? element.textContent;
    });
  }

  /** Waits until this channel is shown. */
  async shows(channel: string): Promise<void> {
    await eventually(async () => assert.equal(await this.channel(), channel), {
      what: `the output channel ${channel}`,
    });
  }

  /** The lines that are drawn now, top down. A long log is drawn only where it is scrolled to. */
  async text(): Promise<string> {
    const lines = this.page.locator(
      '.part.panel .output-view .view-line, .part.panel .output-view-container .view-line',
    );
    const drawn = await lines.evaluateAll((all) =>
      all
        .map((line) => ({ top: Number.parseFloat((line as HTMLElement).style.top), text: line.textContent }))
        .sort((a, b) => a.top - b.top)
        .map(({ text }) => text.replaceAll('\u00a0', ' ')),
    );
    return drawn.join('\n');
  }

  /** Waits until the drawn text matches. */
  async reads(pattern: RegExp): Promise<string> {
    return eventually(
      async () => {
        const text = await this.text();
        assert.match(text, pattern);
        return text;
      },
      { what: `the output ${String(pattern)}` },
    );
  }
}

/** Which webview is meant when more than one is in sight. */
export interface WebviewChoice {
  /** `publisher.name` of the extension that made it. */
  readonly extension?: string;
  /** Counted from 0 among those in sight. */
  readonly nth?: number;
}

/** The document of the webview in sight, once it is loaded: use it like a page. */
export async function webviewFrame(page: Page, { extension, nth = 0 }: WebviewChoice = {}): Promise<FrameLocator> {
  const source = extension === undefined ? '' : `[src*=${JSON.stringify(`extensionId=${extension}`)}]`;
  const outer = page.locator(`iframe.webview.ready${source}:visible`).nth(nth);
  await outer.waitFor();
  const frame = outer.contentFrame().frameLocator('#active-frame');
  await frame.locator('body').waitFor();
  return frame;
}
