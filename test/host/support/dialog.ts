// The modal dialog. Tested by ../harness.test.ts.
import type { Locator, Page } from 'playwright-core';

/** What a modal dialog says and offers. */
export interface DialogState {
  readonly message: string;
  readonly detail: string;
  /** In the order in which they are drawn. */
  readonly buttons: readonly string[];
  /** The button that Enter presses. */
  readonly focused: string;
}

/** The modal dialog that is open or about to open. */
export class Dialog {
  private readonly box: Locator;

  constructor(page: Page) {
    this.box = page.locator('.monaco-dialog-box');
  }

  /** Waits for the dialog and reads it. */
  async read(): Promise<DialogState> {
    await this.box.waitFor();
    const buttons = await this.box.locator('.dialog-buttons .monaco-button').allInnerTexts();
    const focused = this.box.locator('.dialog-buttons .monaco-button:focus');
    const detail = this.box.locator('.dialog-message-detail');
    return {
      message: await this.box.locator('.dialog-message-text').innerText(),
      detail: (await detail.isVisible()) ? await detail.innerText() : '',
      buttons,
      focused: (await focused.count()) === 0 ? '' : await focused.innerText(),
    };
  }

  /** Presses a button by its exact label and waits until the dialog is gone. */
  async press(label: string): Promise<void> {
    await this.box.locator('.dialog-buttons').getByRole('button', { name: label, exact: true }).click();
    await this.box.waitFor({ state: 'hidden' });
  }

  /** Dismisses it the way Escape does. */
  async dismiss(): Promise<void> {
    await this.box.press('Escape');
    await this.box.waitFor({ state: 'hidden' });
  }

  async isOpen(): Promise<boolean> {
    return this.box.isVisible();
  }
}
