// VS Code's lists and trees draw only the rows that are in sight; this reads them all by scrolling.
// Knows nothing of what the rows mean. Tested by ../harness.test.ts on a tree of 60 rows.
import type { Locator } from 'playwright-core';
import { eventually } from '../../support/eventually';

/** How far one notch of the wheel scrolls a list, however far the wheel event says. */
const notchPixels = 50;
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
  const take = ({ rows, height }: Drawn): boolean => {
    for (const row of rows) seen.set(row.index, row);
    return isWhole(seen, height);
  };
  let drawn = await readDrawn(list);
  if (take(drawn)) return inOrder(seen);
  await eventually(
    async () => {
      if (drawn.scrolled === 0) return true;
      await scroll(list, -drawn.scrolled);
      drawn = await readDrawn(list);
      return drawn.scrolled === 0;
    },
    { what: 'the list to be at its first row' },
  );
  seen.clear();
  await eventually(
    async () => {
      drawn = await readDrawn(list);
      if (take(drawn)) return true;
      await scroll(list, drawn.inSight - notchPixels);
      return false;
    },
    { what: 'every row of the list to be seen' },
  );
  return inOrder(seen);
}

/** The rows that are drawn now, in order: those in sight and perhaps a few around them. */
export async function readDrawnRows(list: Locator): Promise<ListRow[]> {
  const { rows } = await readDrawn(list);
  return [...rows].sort((a, b) => a.index - b.index);
}

/** The element of row `index`, scrolled into sight. */
export async function showRow(list: Locator, index: number): Promise<Locator> {
  await eventually(
    async () => {
      const { rows, scrolled, inSight } = await readDrawn(list);
      const row = rows.find((each) => each.index === index);
      if (row === undefined) {
        const highest = Math.max(...rows.map((each) => each.index));
        await scroll(list, index > highest ? inSight - notchPixels : notchPixels - inSight);
        return false;
      }
      if (row.top < scrolled) await scroll(list, row.top - scrolled);
      else if (row.bottom > scrolled + inSight) await scroll(list, row.bottom - scrolled - inSight);
      else return true;
      return false;
    },
    { what: `row ${index} to come into sight` },
  );
  return list.locator(`${rowSelector}[data-index="${index}"]`);
}

/** Scrolls by the notches that cover `pixels`, at least one. */
async function scroll(list: Locator, pixels: number): Promise<void> {
  const box = await list.boundingBox();
  if (box === null) throw new Error('The list is not in sight.');
  const { mouse } = list.page();
  await mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const notches = Math.max(1, Math.ceil(Math.abs(pixels) / notchPixels));
  for (let notch = 0; notch < notches; notch += 1) await mouse.wheel(0, Math.sign(pixels) * 100);
}

/** What of a list is drawn; all figures in pixels. */
interface Drawn {
  readonly rows: readonly DrawnRow[];
  /** Of all rows, drawn or not. */
  readonly height: number;
  readonly scrolled: number;
  readonly inSight: number;
}

interface DrawnRow extends ListRow {
  readonly top: number;
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

async function readDrawn(list: Locator): Promise<Drawn> {
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
        index: Number(row.dataset.index),
        top: pixels(row.style.top),
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
    const content = element.querySelector<HTMLElement>('.monaco-list-rows')?.style;
    return { rows, height: pixels(content?.height), scrolled: -pixels(content?.top), inSight: element.clientHeight };
  });
}
