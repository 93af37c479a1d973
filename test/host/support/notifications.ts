// Notifications, as toasts or in the notification centre. Tested by ../harness.test.ts.
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import type { Bridge } from './bridge';

/** One notification. */
export interface NotificationState {
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly buttons: readonly string[];
}

/** The notifications of the window. */
export class Notifications {
  private readonly rows: Locator;

  constructor(
    private readonly page: Page,
    private readonly bridge: Bridge,
  ) {
    this.rows = page.locator(':is(.notifications-toasts, .notifications-center) .monaco-list-row:visible');
  }

  /** Those in sight now, newest first. */
  async read(): Promise<NotificationState[]> {
    return this.rows.evaluateAll((rows) =>
      rows.map((row) => {
        const icon = row.querySelector('.notification-list-item-icon')?.className ?? '';
        const buttons = row.querySelectorAll('.notification-list-item-buttons-container .monaco-button');
        return {
          severity: icon.includes('codicon-error') ? 'error' : icon.includes('codicon-warning') ? 'warning' : 'info',
          message: row.querySelector('.notification-list-item-message')?.textContent ?? '',
          buttons: [...buttons].map((button) => button.textContent).filter((label) => label !== ''),
        };
      }),
    );
  }

  /** Waits for a notification with this message; one whose toast is gone is found in the notification centre. */
  async find(message: string | RegExp): Promise<NotificationState> {
    const openCentreAt = performance.now() + 3_000;
    return eventually(
      async () => {
        const all = await this.read();
        const found = all.find((each) =>
          typeof message === 'string' ? each.message === message : message.test(each.message),
        );
        if (found !== undefined) return found;
        if (performance.now() > openCentreAt) await this.bridge.executeCommand('notifications.showList');
        throw new Error(`Shown are: ${JSON.stringify(all)}`);
      },
      { what: `the notification ${String(message)}`, intervalMs: 50 },
    );
  }

  /** Presses a button of the notification with this message. */
  async press(message: string | RegExp, button: string): Promise<void> {
    await this.find(message);
    const row = this.rows.filter({ hasText: message });
    await row.getByRole('button', { name: button, exact: true }).click();
  }

  /** Removes all of them. */
  async clear(): Promise<void> {
    await this.bridge.executeCommand('notifications.clearAll');
    await this.bridge.executeCommand('notifications.hideList');
    await this.rows.first().waitFor({ state: 'hidden' });
  }
}
