/** How the stream panel looks and is reached in every theme: pictures for people, contrast, names and focus for the machine. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { focusOrder, namelessControls, poorContrast } from './support/contrast';
import { launchBrowser, openPanel, readTheme, ShownError, themeNames } from './support/panelPage';
import type { PanelPage } from './support/panelPage';
import { nameView, SampleStream } from './support/sampleStream';

const deadLetter = {
  originalId: '1795968300120-1',
  stream: nameView('orders'),
  group: nameView('billing'),
  consumer: nameView('worker-1'),
  reason: 'handler-error',
  errorType: 'TypeError',
  errorMessage: 'Invalid slug "café crème"',
  deliveries: 3,
  atMs: Date.UTC(2026, 10, 29, 15, 58, 1),
  replays: 1,
  format: 'own',
} as const;

describe('the look of the stream panel', function () {
  this.timeout(60_000);
  let browser: Browser;
  let panel: PanelPage | undefined;

  before(async () => {
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
  });
  afterEach(async () => {
    assert.deepEqual(panel?.problems ?? [], []);
    await panel?.close();
    panel = undefined;
  });

  for (const theme of themeNames) {
    it(`is readable in ${theme}: every text has contrast, every control a name`, async () => {
      const stream = new SampleStream();
      panel = await openPanel(browser, { handlers: stream.handlers(), theme, timezone: 'UTC' });
      const { page } = panel;
      await page.locator(`#row-${stream.idAt(stream.length - 5)}`).click();
      for (const [name, tab] of [
        ['payload', /^Payload/],
        ['history', /^Delivery history/],
        ['groups', /^In groups/],
        ['raw', /^Raw/],
      ] as const) {
        await page.getByRole('tab', { name: tab }).click();
        assert.deepEqual(await poorContrast(page), [], `${name} in ${theme}`);
        assert.deepEqual(await namelessControls(page), []);
        await panel.screenshot(`stream-${theme}-${name}`);
      }
      await page.getByRole('tab', { name: /^Payload/ }).click();
      await page.getByRole('grid').focus();
      assert.deepEqual(await poorContrast(page), [], `with the table focused in ${theme}`);
      await panel.screenshot(`stream-${theme}`);
    });

    it(`shows failures, banners and a narrow panel in ${theme}`, async () => {
      const stream = new SampleStream({ detail: () => ({ deadLetter }) });
      panel = await openPanel(browser, {
        handlers: stream.handlers(),
        theme,
        timezone: 'UTC',
        width: 560,
        height: 900,
      });
      const { page } = panel;
      await page.locator(`#row-${stream.idAt(stream.length - 3)}`).click();
      await page.locator('.banner.dead-letter').waitFor();
      assert.deepEqual(await poorContrast(page), []);
      await panel.screenshot(`stream-${theme}-narrow`);
      stream.before = () => {
        throw new ShownError({
          reason: 'no-permission',
          message: 'Cannot read groups of orders on prod-eu: the user reader has no XINFO permission.',
          retriable: true,
          nextStep: { title: 'Show Minimal ACL', command: 'redisStreams.showMinimalAcl' },
        });
      };
      panel.host.post('connection', {
        name: 'prod-eu',
        environment: 'production',
        state: 'lost',
        isReadOnly: true,
        problem: 'The link to prod-eu broke; it is tried again in 4 s.',
      });
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByRole('alert').nth(2).waitFor();
      await page.getByRole('textbox').fill('soon');
      await page.getByRole('textbox').press('Enter');
      await page.locator('.jump-help.invalid').waitFor();
      assert.deepEqual(await poorContrast(page), []);
      await panel.screenshot(`stream-${theme}-failures`);
    });
  }

  it('is reached by Tab from left to right and top to bottom, with the focus in sight, and never traps it', async () => {
    const stream = new SampleStream();
    panel = await openPanel(browser, { handlers: stream.handlers() });
    await panel.page.locator(`#row-${stream.idAt(stream.length - 2)}`).click();
    await panel.page.getByRole('tabpanel').waitFor();
    await panel.page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    });
    await panel.page.getByRole('heading').first().click();
    const order = await focusOrder(panel.page);
    const places = [...new Set(order.map(({ name }) => name.split(':')[0]))];
    assert.deepEqual(places, ['header', 'jump-bar', 'grid', 'divider', 'detail-head', 'tab-list', 'tab-panel']);
    assert.deepEqual(
      order.filter(({ isVisible }) => !isVisible).map(({ name }) => name),
      [],
    );
    for (const name of ['header: Refresh', 'header: Dead letters38', 'tab-list: Payload'])
      assert.ok(
        order.some((each) => each.name === name),
        `${name} is not among ${JSON.stringify(order)}`,
      );
  });

  it('has the roles and states that a screen reader needs', async () => {
    const stream = new SampleStream();
    panel = await openPanel(browser, { handlers: stream.handlers() });
    const { page } = panel;
    await page.locator(`#row-${stream.idAt(stream.length - 2)}`).click();
    await page.getByRole('tabpanel', { name: 'Payload' }).waitFor();
    const names = ['Time', 'Id', 'Fields', 'Size'];
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), names);
    assert.equal(await page.getByRole('row', { selected: true }).count(), 1);
    assert.equal(await page.getByRole('tab', { selected: true }).count(), 1);
    await page.getByRole('tab', { name: 'Payload' }).press('ArrowLeft');
    await page.getByRole('tabpanel', { name: 'Raw' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Raw');
    assert.equal(await page.locator('[aria-live="polite"]').count(), 1);
    assert.deepEqual(
      await page.evaluate(() => {
        const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
        return ids.filter((id, index) => ids.indexOf(id) !== index);
      }),
      [],
      'no id occurs twice',
    );
  });

  it('takes its colours from the theme alone', async () => {
    const stream = new SampleStream();
    panel = await openPanel(browser, { handlers: stream.handlers(), theme: 'highContrast' });
    await panel.page.locator(`#row-${stream.newestId}`).waitFor();
    const border = (selector: string): Promise<string | undefined> =>
      panel
        ? panel.page
            .locator(selector)
            .first()
            .evaluate((element) => getComputedStyle(element).borderBottomColor)
        : Promise.resolve(undefined);
    const contrastBorder = readTheme('highContrast').variables['--vscode-contrastBorder'];
    assert.equal(contrastBorder, '#6fc3df');
    for (const selector of ['.header', '.chip', '.jump-bar', '.plain-tag'])
      assert.equal(await border(selector), 'rgb(111, 195, 223)', selector);
  });

  it('would be caught with poor contrast or a control without a name', async () => {
    const stream = new SampleStream();
    panel = await openPanel(browser, { handlers: stream.handlers() });
    await panel.page.locator(`#row-${stream.newestId}`).waitFor();
    await panel.page.evaluate(() => {
      const button = document.createElement('button');
      const text = document.createElement('p');
      text.textContent = 'barely there';
      text.style.color = '#2a2a2a';
      document.body.append(button, text);
    });
    assert.deepEqual(
      (await poorContrast(panel.page)).map(({ text }) => text),
      ['barely there'],
    );
    assert.deepEqual(await namelessControls(panel.page), ['button.']);
  });
});
