// VS Code's lists and trees draw only the rows that are in sight; this reads them all by scrolling.
// Knows nothing of what the rows mean. Tested by ../harness.test.ts on a tree of 60 rows.
import type { Locator } from 'playwright-core';
import { eventually } from '../../support/eventually';

const rowSelector = '.monaco-list-rows > .monaco-list-row';

/** One row as drawn: its position, what assistive technology is told, and its visible texts. */
export interface ListRow {
  readonly index: number;
  readonly level: number;
  readonly expanded: boolean | undefined;
  readonly selected: boolean;
  readonly checked: boolean | undefined;
  readonly label: string;
  readonly description: string;
  /** The second line of a quick pick's row. */
  readonly detail: string;
  readonly icon: string;
  readonly aria: string;
}

/** All rows of `list` (a `.monaco-list`), from the first to the last, whether in sight or not. */
export async function readRows(list: Locator): Promise<ListRow[]> {
  const seen = new Map<number, DrawnRow>();
  let drawn = await readDrawn(list);
  for (const row of drawn.rows) seen.set(row.index, row);
  if (isWhole(seen, drawn.height)) return inOrder(seen);
  await scroll(list, -1_000_000);
  seen.clear();
  await eventually(
    async () => {
      drawn = await readDrawn(list);
      for (const row of drawn.rows) seen.set(row.index, row);
      if (isWhole(seen, drawn.height)) return true;
      await scroll(list, 200);
      return false;
    },
    { what: 'every row of the list to be seen', intervalMs: 50 },
  );
  return inOrder(seen);
}

/** The element of row `index`, scrolled into sight. */
export async function showRow(list: Locator, index: number): Promise<Locator> {
  const row = list.locator(`${rowSelector}[data-index="${index}"]`);
  if (await isWhollyVisible(list, row)) return row;
  await scroll(list, -1_000_000);
  await eventually(
    async () => {
      if (await isWhollyVisible(list, row)) return true;
      await scroll(list, 100);
      return false;
    },
    { what: `row ${index} to come into sight`, intervalMs: 50 },
  );
  return row;
}

async function isWhollyVisible(list: Locator, row: Locator): Promise<boolean> {
  if ((await row.count()) === 0) return false;
  const outer = await list.boundingBox();
  const inner = await row.boundingBox();
  if (outer === null || inner === null) return false;
  return inner.y >= outer.y - 1 && inner.y + inner.height <= outer.y + outer.height + 1;
}

async function scroll(list: Locator, delta: number): Promise<void> {
  const box = await list.boundingBox();
  if (box === null) throw new Error('The list is not in sight.');
  const { mouse } = list.page();
  await mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await mouse.wheel(0, delta);
}

interface DrawnRow extends ListRow {
  readonly bottom: number;
}

/** Whether the rows are all those of a list that is `height` pixels high in full. */
function isWhole(rows: ReadonlyMap<number, DrawnRow>, height: number): boolean {
  const last = rows.get(rows.size - 1);
  return rows.size === 0 ? height === 0 : last !== undefined && last.bottom >= height - 1;
}

function inOrder(rows: ReadonlyMap<number, DrawnRow>): ListRow[] {
  return [...rows.values()].sort((a, b) => a.index - b.index);
}

async function readDrawn(list: Locator): Promise<{ rows: DrawnRow[]; height: number }> {
  return list.evaluate((element) => {
    const text = (row: Element, selector: string) => row.querySelector(selector)?.textContent ?? '';
    const flag = (value: string | null | undefined) =>
      value === 'true' ? true : value === 'false' ? false : undefined;
    const pixels = (value: string | undefined) => Number.parseFloat(value ?? '') || 0;
    const rowElements = [...element.querySelectorAll<HTMLElement>('.monaco-list-rows > .monaco-list-row')];
    const rows = rowElements.map((row) => {
      const icon = row.querySelector('.custom-view-tree-node-item-icon, .monaco-icon-label > .codicon');
      const isExpandable = row.querySelector('.monaco-tl-twistie')?.classList.contains('collapsible') === true;
      return {
        index: Number(row.dataset['index']),
        bottom: pixels(row.style.top) + pixels(row.style.height),
        level: Number(row.getAttribute('aria-level') ?? 1),
        expanded: isExpandable ? flag(row.getAttribute('aria-expanded')) : undefined,
        selected: row.getAttribute('aria-selected') === 'true',
        checked: flag(row.querySelector('[role=checkbox]')?.getAttribute('aria-checked')),
        label: text(row, '.label-name'),
        description: text(row, '.label-description'),
        detail: text(row, '.quick-input-list-label-meta .label-name'),
        icon: /(?<=codicon-)(?!colored)[\w-]+/.exec(icon?.className ?? '')?.[0] ?? '',
        aria: row.getAttribute('aria-label') ?? '',
      };
    });
    return { rows, height: pixels(element.querySelector<HTMLElement>('.monaco-list-rows')?.style.height) };
  });
}
