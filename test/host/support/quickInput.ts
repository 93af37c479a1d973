// The command palette, quick picks and input boxes: VS Code has one widget for the three. Tested by ../harness.test.ts.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { readRows, showRow } from './virtualList';
import type { ListRow } from './virtualList';

/** What the widget shows. */
export interface QuickInputState {
  readonly title: string;
  readonly placeholder: string;
  readonly value: string;
  /** The prompt, or the validation message in its place. */
  readonly message: string;
  readonly isInvalid: boolean;
  readonly isPassword: boolean;
  readonly items: readonly QuickPickRow[];
}

/** A row of a quick pick; `checked` is undefined where only one may be chosen. */
export type QuickPickRow = Pick<ListRow, 'label' | 'description' | 'detail' | 'checked'>;

/** The quick input widget. */
export class QuickInput {
  private readonly widget: Locator;
  private readonly input: Locator;
  private readonly list: Locator;

  constructor(private readonly page: Page) {
    this.widget = page.locator('.quick-input-widget:visible');
    this.input = this.widget.locator('.quick-input-box input');
    this.list = this.widget.locator('.quick-input-list .monaco-list');
  }

  /** Runs a command by its full title, `Redis Streams: Open Log`, through the command palette. */
  async runCommand(title: string): Promise<void> {
    await this.openPalette(title);
    await this.choose(title);
  }

  /** The titles that the command palette offers for a search, best first. */
  async commandsFor(search: string): Promise<string[]> {
    await this.openPalette(search);
    const rows = await readRows(this.list);
    await this.cancel();
    return rows.map(({ label }) => label);
  }

  /** Waits for a quick pick or input box, by its title when given, and reads it. */
  async read(title?: string): Promise<QuickInputState> {
    await this.isOpen(title);
    const items = (await this.list.isVisible()) ? await readRows(this.list) : [];
    const state = await this.widget.evaluate((widget) => {
      const input = widget.querySelector<HTMLInputElement>('.quick-input-box input');
      return {
        title: widget.querySelector('.quick-input-title')?.textContent ?? '',
        placeholder: input?.placeholder ?? '',
        value: input?.value ?? '',
        message: widget.querySelector('.quick-input-message')?.textContent ?? '',
        isInvalid: widget.querySelector('.monaco-inputbox.error, .monaco-inputbox.warning') !== null,
        isPassword: input?.type === 'password',
      };
    });
    const shown = items.map(({ label, description, detail, checked }) => ({ label, description, detail, checked }));
    return { ...state, items: shown };
  }

  /** Replaces the text of the filter or input box. */
  async type(text: string): Promise<void> {
    await this.input.fill(text);
  }

  /** Waits until the message below the input box is `text`: the prompt or a validation message. */
  async says(text: string | RegExp): Promise<void> {
    const message = this.widget.locator('.quick-input-message');
    await eventually(
      async () => {
        const shown = (await message.textContent()) ?? '';
        if (typeof text === 'string') assert.equal(shown, text);
        else assert.match(shown, text);
      },
      { what: 'the message of the input box' },
    );
  }

  /** Clicks the row with exactly this label; in a multi-select pick it only checks it. */
  async choose(label: string): Promise<void> {
    const row = await eventually(
      async () => {
        const rows = await readRows(this.list);
        const found = rows.find((candidate) => candidate.label === label);
        if (found === undefined) throw new Error(`No ${label} among:\n${rows.map((each) => each.label).join('\n')}`);
        const element = await showRow(this.list, found.index);
        assert.equal(await element.locator('.label-name').first().textContent(), label);
        return element;
      },
      { what: `the choice ${label}` },
    );
    await row.locator('.label-name').first().click();
  }

  /** Answers an input box: fills it, waits until it is valid, and accepts. */
  async answer(text: string, title?: string): Promise<void> {
    await this.isOpen(title);
    await this.type(text);
    await eventually(async () => !(await this.read()).isInvalid, { what: `the answer ${text} to be valid` });
    await this.accept();
  }

  async accept(): Promise<void> {
    await this.input.press('Enter');
  }

  /** The labels of the buttons in the title and beside the input. */
  async buttons(): Promise<string[]> {
    const labels = await this.widget
      .locator('.quick-input-titlebar .action-label, .quick-input-inline-action-bar .action-label')
      .all();
    return Promise.all(labels.map(async (label) => (await label.getAttribute('aria-label')) ?? ''));
  }

  async pressButton(label: string): Promise<void> {
    await this.widget
      .locator(`.action-label[aria-label=${JSON.stringify(label)}]`)
      .first()
      .click();
  }

  async cancel(): Promise<void> {
    await eventually(
      async () => {
        if (!(await this.widget.isVisible())) return true;
        await this.input.press('Escape');
        return !(await this.widget.isVisible());
      },
      { what: 'the quick input to close', intervalMs: 100 },
    );
  }

  async isVisible(): Promise<boolean> {
    return this.widget.isVisible();
  }

  private async isOpen(title: string | undefined): Promise<void> {
    await this.widget.waitFor();
    if (title === undefined) return;
    const shown = this.widget.locator('.quick-input-title');
    await eventually(async () => assert.equal(await shown.textContent(), title), { what: `the quick input ${title}` });
  }

  private async openPalette(search: string): Promise<void> {
    await eventually(
      async () => {
        await this.page.keyboard.press('F1');
        await this.input.waitFor({ timeout: 2_000 });
        return (await this.input.inputValue()).startsWith('>');
      },
      { what: 'the command palette to open', intervalMs: 100 },
    );
    await this.type(`>${search}`);
    await this.list.locator('.monaco-list-row').first().waitFor();
  }
}
