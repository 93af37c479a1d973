// An open context menu or drop-down menu. VS Code swallows a click in the first quarter second after it opened, so that
// the click that opened it cannot choose; a click here waits that long. Tested by ../harness.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually';

const swallowedMs = 300;

/** A menu that is open. */
export class Menu {
  private constructor(
    private readonly page: Page,
    private readonly openedAt: number,
  ) {}

  /** Waits for the menu that an action just opened. */
  static async open(page: Page): Promise<Menu> {
    await page.locator('.monaco-menu').last().waitFor();
    return new Menu(page, performance.now());
  }

  /** The items top down: separators as `---`, a disabled one in parentheses, a submenu with a trailing `▸`. */
  async items(): Promise<string[]> {
    return this.menu().evaluate((menu) =>
      [...menu.querySelectorAll('.actions-container > .action-item')].map((item) => {
        const label = item.querySelector('.action-label');
        if (label === null || label.classList.contains('separator')) return '---';
        const text = label.textContent.trim();
        if (item.querySelector('.submenu-indicator') !== null) return `${text} ▸`;
        return item.classList.contains('disabled') || item.querySelector('.disabled') !== null ? `(${text})` : text;
      }),
    );
  }

  /** Chooses an item; more labels lead through submenus. */
  async choose(...labels: string[]): Promise<void> {
    await sleep(Math.max(0, swallowedMs - (performance.now() - this.openedAt)));
    for (const label of labels.slice(0, -1)) {
      const open = await this.page.locator('.monaco-menu').count();
      await this.item(label).hover();
      await this.page.locator('.monaco-menu').nth(open).waitFor();
    }
    const item = this.item(labels.at(-1) ?? '');
    await item.waitFor();
    await item.click();
    await this.page.locator('.monaco-menu').first().waitFor({ state: 'hidden' });
  }

  /** Closes the menu without choosing. */
  async close(): Promise<void> {
    await eventually(
      async () => {
        await this.page.keyboard.press('Escape');
        return (await this.page.locator('.monaco-menu').count()) === 0;
      },
      { what: 'the menu to close', intervalMs: 100 },
    );
  }

  private menu(): Locator {
    return this.page.locator('.monaco-menu').last();
  }

  private item(label: string): Locator {
    return this.menu().locator(`.action-menu-item:has(> .action-label[aria-label=${JSON.stringify(label)}])`);
  }
}
