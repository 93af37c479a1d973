// Editor tabs and the text of editors. Tested by ../harness.test.ts.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import type { Bridge, DocumentState, TabState } from './bridge';

/** The editor area. */
export class Editors {
  constructor(
    private readonly page: Page,
    private readonly bridge: Bridge,
  ) {}

  /** All tabs of all groups. */
  tabs(): Promise<TabState[]> {
    return this.bridge.tabs();
  }

  /** Waits until a tab with this label is the active one of its group. */
  async isActive(label: string): Promise<void> {
    await eventually(
      async () => {
        const tabs = await this.tabs();
        assert.ok(
          tabs.some((tab) => tab.isActive && tab.label === label),
          `Tabs: ${tabs.map((tab) => tab.label).join(', ')}`,
        );
      },
      { what: `the tab ${label} to be active` },
    );
  }

  /** The document whose URI ends so, once it is open. */
  document(uriEnd: string): Promise<DocumentState> {
    return eventually(
      async () => {
        const documents = await this.bridge.documents();
        const found = documents.find(({ uri }) => uri.endsWith(uriEnd));
        if (found === undefined) throw new Error(`Open are: ${documents.map(({ uri }) => uri).join(', ')}`);
        return found;
      },
      { what: `the document ${uriEnd}` },
    );
  }

  /** Opens the file at an absolute path. */
  async open(path: string): Promise<void> {
    await this.bridge.evaluate(
      (vscode, file: string) => vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file)),
      path,
    );
  }

  /** Clicks the tab with this label. */
  async select(label: string): Promise<void> {
    await this.page.locator(`.tabs-container .tab[data-resource-name=${JSON.stringify(label)}]`).click();
    await this.isActive(label);
  }

  async closeAll(): Promise<void> {
    await this.bridge.executeCommand('workbench.action.closeAllEditors');
  }
}
