// Measures in the page what axe-like tools do: the contrast of every piece of text, the names of controls, the order of focus.
// Tested by test/webview/look.test.ts, which plants a failure of each.
import type { Page } from 'playwright-core';

/** A piece of text whose contrast with what is behind it is too low. */
export interface PoorText {
  readonly text: string;
  readonly ratio: number;
}

/** All text in sight below the ratio: WCAG AA asks 4.5 of normal text. */
export async function poorContrast(page: Page, ratio = 4.5): Promise<readonly PoorText[]> {
  return page.evaluate((least) => {
    type Colour = [number, number, number, number];
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const read = (css: string): Colour => {
      if (!canvas) return [0, 0, 0, 1];
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = css;
      canvas.fillRect(0, 0, 1, 1);
      const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = (top: Colour, below: Colour): Colour => {
      const mix = (index: 0 | 1 | 2): number => top[index] * top[3] + below[index] * (1 - top[3]);
      return [mix(0), mix(1), mix(2), 1];
    };
    const luminance = ([r, g, b]: Colour): number => {
      const linear = [r, g, b].map((channel) => {
        const part = channel / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
    };
    const behind = (element: Element): Colour => {
      const own = read(getComputedStyle(element).backgroundColor);
      if (own[3] === 1) return own;
      const root = element.getRootNode();
      const parent = element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
      return over(own, parent ? behind(parent) : [255, 255, 255, 1]);
    };
    const found: { text: string; ratio: number }[] = [];
    const visit = (root: Node): void => {
      for (const node of root.childNodes) {
        if (node instanceof Element) {
          visit(node);
          if (node.shadowRoot) visit(node.shadowRoot);
          if (node.matches('.visually-hidden')) continue;
        }
        const { parentElement: parent, textContent: text } = node;
        if (node.nodeType !== Node.TEXT_NODE || !parent || !text || text.trim() === '') continue;
        const box = parent.getBoundingClientRect();
        if (parent.closest('.visually-hidden') || box.width === 0 || box.height === 0 || parent.tagName === 'STYLE')
          continue;
        const below = behind(parent);
        const colours = [luminance(over(read(getComputedStyle(parent).color), below)), luminance(below)];
        const measured = (Math.max(...colours) + 0.05) / (Math.min(...colours) + 0.05);
        if (measured < least) found.push({ text: text.trim().slice(0, 60), ratio: Math.round(measured * 100) / 100 });
      }
    };
    visit(document.body);
    return found;
  }, ratio);
}

/** Controls without a name, by their tags and classes. */
export async function namelessControls(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const controls = document.querySelectorAll(
      'button, vscode-button, vscode-text-field, summary, [role="grid"], [role="separator"], [role="tablist"], [role="toolbar"], section',
    );
    return [...controls]
      .filter((control) => {
        const labelled = document.getElementById(control.getAttribute('aria-labelledby') ?? '');
        const name = control.getAttribute('aria-label') ?? labelled?.textContent ?? control.textContent;
        return name.trim() === '';
      })
      .map((control) => `${control.tagName.toLowerCase()}.${control.className}`);
  });
}

/** What Tab reaches from the start of the page, one line each, until it comes round; with whether its focus shows. */
export async function focusOrder(
  page: Page,
): Promise<readonly { readonly name: string; readonly isVisible: boolean }[]> {
  const reached: { name: string; isVisible: boolean }[] = [];
  for (let press = 0; press < 200; press += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const active = document.activeElement;
      if (!active || active === document.body) return null;
      const inner = active.shadowRoot?.activeElement ?? active;
      const shows = [inner, active, inner.parentElement, active.querySelector('.row.selected')].some((element) => {
        if (!element) return false;
        const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(element);
        const hasOutline = outlineStyle !== 'none' && outlineWidth !== '0px';
        const isFilled = active.getAttribute('role') === 'separator' && backgroundColor !== 'rgba(0, 0, 0, 0)';
        const hasBorder = active.tagName === 'VSCODE-TEXT-FIELD' && borderColor !== '';
        return hasOutline || boxShadow !== 'none' || isFilled || hasBorder;
      });
      const label = active.getAttribute('aria-label') ?? active.textContent;
      const place = active.closest('header, .jump-bar, .grid, .divider, .detail-head, .tab-list, .tab-panel');
      const where = place?.className.split(' ')[0] ?? '';
      return { name: `${where}: ${label.trim().replace(/\s+/g, ' ').slice(0, 40)}`, isVisible: shows };
    });
    if (!focused || (reached.length > 0 && reached[0]?.name === focused.name)) break;
    reached.push(focused);
  }
  return reached;
}
