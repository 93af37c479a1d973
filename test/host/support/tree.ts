// A tree view in the sidebar as a person meets it: rows by the path of their labels, golden text of the whole tree,
// expanding, selecting, hovering, inline actions and the context menu. Tested by ../harness.test.ts.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import type { EventuallyOptions } from '../../support/eventually';
import { Menu } from './menu';
import { readDrawnRows, readRows, showRow } from './virtualList';
import type { ListRow } from './virtualList';

/** How `Tree.text` draws rows. */
export interface TreeTextOptions {
  /** Also the icon: `$(layers) orders`. */
  readonly icons?: boolean;
}

/** Addresses a row: its label, or the labels from the root down to it. A RegExp matches a label that varies. */
export type RowPath = string | RegExp | readonly (string | RegExp)[];

/** A tree view that is open in the sidebar. */
export class Tree {
  private readonly list: Locator;
  private readonly pane: Locator;

  constructor(
    private readonly page: Page,
    readonly name: string,
  ) {
    this.list = page.locator(`.customview-tree .monaco-list[aria-label=${JSON.stringify(name)}]`);
    this.pane = page.locator('.pane', {
      has: page.locator(`.pane-header[aria-label=${JSON.stringify(`${name} Section`)}]`),
    });
  }

  /** The whole tree, a row a line: `▾ fruit  3 rows`, children indented by two; `▸` is collapsed, a leaf has neither. */
  async text({ icons = false }: TreeTextOptions = {}): Promise<string> {
    const rows = await this.rows();
    return rows.map((row) => drawRow(row, icons)).join('\n');
  }

  /** Waits until the whole tree reads `expected` (leading and trailing line breaks aside). */
  async reads(expected: string, options: TreeTextOptions = {}): Promise<void> {
    const wanted = unindent(expected);
    await eventually(async () => assert.equal(await this.text(options), wanted), {
      what: `the tree ${this.name} to read so`,
    });
  }

  async rows(): Promise<ListRow[]> {
    return (await this.list.count()) === 0 ? [] : readRows(this.list);
  }

  /** The labels of the selected rows, top down. */
  async selection(): Promise<string[]> {
    return (await this.rows()).filter(({ selected }) => selected).map(({ label }) => label);
  }

  /** What the view shows instead of rows: its welcome text and buttons, a line each; a button stands in brackets. */
  async welcome(): Promise<string> {
    const content = this.pane.locator('.welcome-view-content');
    await content.first().waitFor();
    return content.evaluate((element) =>
      [...element.children]
        .map((child) => {
          const button = child.querySelector('.monaco-button');
          const text = child.textContent.trim();
          return button === null ? text : `[${text}]`;
        })
        .filter((text) => text !== '')
        .join('\n'),
    );
  }

  /** Presses a button of the welcome text. */
  async pressWelcome(label: string): Promise<void> {
    await this.pane.locator('.welcome-view-content').getByRole('button', { name: label, exact: true }).click();
  }

  /** The message that the view shows above its rows, empty when there is none. */
  async message(): Promise<string> {
    return (await this.pane.locator('.tree-explorer-viewlet-tree-view > .message').textContent()) ?? '';
  }

  async expand(path: RowPath): Promise<void> {
    await this.setExpanded(path, true);
  }

  async collapse(path: RowPath): Promise<void> {
    await this.setExpanded(path, false);
  }

  /** Clicks the row, which selects it and runs its command if it has one. */
  async click(path: RowPath): Promise<void> {
    await (await this.element(path)).click();
  }

  async doubleClick(path: RowPath): Promise<void> {
    await (await this.element(path)).dblclick();
  }

  /** Selects exactly these rows: a click on the first, Ctrl-click on the others. */
  async select(first: RowPath, ...others: RowPath[]): Promise<void> {
    await this.click(first);
    for (const path of others) await (await this.element(path)).click({ modifiers: ['Control'] });
  }

  /** The text of the row's tooltip. */
  async tooltip(path: RowPath): Promise<string> {
    const hover = this.page.locator('.workbench-hover-container .hover-contents');
    await this.page.mouse.move(0, 0);
    await hover.first().waitFor({ state: 'hidden' });
    await (await this.element(path)).locator('.label-name').hover();
    await hover.first().waitFor();
    return eventually(
      async () => {
        const text = (await hover.allInnerTexts()).join('\n').trim();
        return text !== '' && !text.startsWith('Loading') && text;
      },
      { what: 'the tooltip to be loaded' },
    );
  }

  /** The titles of the row's inline actions. */
  async inlineActions(path: RowPath): Promise<string[]> {
    const row = await this.element(path);
    await row.hover();
    const actions = await row.locator('.actions .action-label').all();
    return Promise.all(actions.map(async (action) => (await action.getAttribute('aria-label')) ?? ''));
  }

  async pressInline(path: RowPath, title: string): Promise<void> {
    const row = await this.element(path);
    await row.hover();
    await row.locator(`.actions .action-label[aria-label=${JSON.stringify(title)}]`).click();
  }

  /** Opens the row's context menu; a selected row keeps the whole selection. */
  async contextMenu(path: RowPath): Promise<Menu> {
    const row = await this.element(path);
    await row.click({ button: 'right' });
    return Menu.open(this.page);
  }

  /** The titles of the view's own title actions. */
  async titleActions(): Promise<string[]> {
    await this.pane.hover();
    const actions = await this.titleBar().locator('.action-label').all();
    return Promise.all(actions.map(async (action) => (await action.getAttribute('aria-label')) ?? ''));
  }

  async pressTitleAction(title: string): Promise<void> {
    await this.pane.hover();
    await this.titleBar()
      .locator(`.action-label[aria-label=${JSON.stringify(title)}]`)
      .click();
  }

  /** Opens the `…` menu of the view's title. */
  async titleMenu(): Promise<Menu> {
    await this.pane.hover();
    await this.titleBar()
      .locator('.action-label[aria-label="Views and More Actions..."], .action-label.codicon-toolbar-more')
      .click();
    return Menu.open(this.page);
  }

  /** Whether the row is there now; it does not wait. */
  async has(path: RowPath): Promise<boolean> {
    return locate(await this.rows(), path) !== undefined;
  }

  /** The element of a row, in sight; waits for it to appear. Fails when the row is not under an expanded parent. */
  async element(path: RowPath, options: Pick<EventuallyOptions, 'timeoutMs'> = {}): Promise<Locator> {
    return eventually(
      async () => {
        const { index, label } = await this.find(path);
        const element = await showRow(this.list, index);
        // Rows may have moved between the look and now.
        assert.equal(await element.locator('.label-name').first().textContent(), label);
        return element;
      },
      { ...options, what: `the row ${describe(path)} in ${this.name}` },
    );
  }

  private async find(path: RowPath): Promise<ListRow> {
    await this.list.waitFor();
    const drawn = locate(await readDrawnRows(this.list), path);
    if (drawn !== undefined) return drawn;
    const rows = await this.rows();
    const found = locate(rows, path);
    if (found !== undefined) return found;
    throw new Error(`No row ${describe(path)} in the tree:\n${rows.map((row) => drawRow(row, false)).join('\n')}`);
  }

  private async setExpanded(path: RowPath, expanded: boolean): Promise<void> {
    await eventually(
      async () => {
        const row = await this.find(path);
        if (row.expanded === undefined) throw new Error(`The row ${describe(path)} has no children to expand.`);
        const twistie = (await this.element(path)).locator('.monaco-tl-twistie');
        if (row.expanded === expanded) return (await twistie.locator('.codicon-tree-item-loading').count()) === 0;
        await twistie.click();
        await this.page.mouse.move(0, 0);
        return false;
      },
      { what: `${describe(path)} to be ${expanded ? 'expanded' : 'collapsed'}`, intervalMs: 100 },
    );
  }

  /** A container with one view draws the view's actions in its own title. */
  private titleBar(): Locator {
    return this.page
      .locator('.part.sidebar .composite.title .title-actions')
      .or(this.pane.locator('.pane-header:not(.hidden) .actions'))
      .filter({ has: this.page.locator('.action-label') });
  }
}

function locate(rows: readonly ListRow[], path: RowPath): ListRow | undefined {
  if (isSingle(path)) return rows.find((row) => matches(path, row));
  let among = rows;
  let found: ListRow | undefined;
  for (const [depth, label] of path.entries()) {
    const start = among.findIndex((row) => row.level === depth + 1 && matches(label, row));
    found = among[start];
    if (found === undefined) return undefined;
    const end = among.findIndex((row, index) => index > start && row.level <= depth + 1);
    among = among.slice(start + 1, end === -1 ? undefined : end);
  }
  return found;
}

function drawRow({ level, expanded, label, description, icon }: ListRow, icons: boolean): string {
  const mark = expanded === undefined ? '  ' : expanded ? '▾ ' : '▸ ';
  const name = icons && icon !== '' ? `$(${icon}) ${label}` : label;
  return `${'  '.repeat(level - 1)}${mark}${name}${description === '' ? '' : `  ${description}`}`;
}

function unindent(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const margin = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  // A leaf is drawn two columns in, where an expandable row has its mark.
  const base = lines.some((line) => /^[▾▸]/.test(line.slice(margin))) ? margin : Math.max(0, margin - 2);
  return lines.map((line) => line.slice(base).trimEnd()).join('\n');
}

function matches(wanted: string | RegExp, { label }: ListRow): boolean {
  return typeof wanted === 'string' ? label === wanted : wanted.test(label);
}

function isSingle(path: RowPath): path is string | RegExp {
  return typeof path === 'string' || path instanceof RegExp;
}

function describe(path: RowPath): string {
  return isSingle(path) ? String(path) : path.map(String).join(' › ');
}
