/** The stream panel's table and header in a real browser: paging both ways, keyboard, jumping, refreshing, failing, coming back. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { eventually } from '../support/eventually';
import { launchBrowser, openPanel, ShownError } from './support/panelPage';
import type { PanelPage, PanelPageOptions } from './support/panelPage';
import { nameView, SampleStream } from './support/sampleStream';
import type { SampleOptions } from './support/sampleStream';

describe('the stream panel, browsing', function () {
  this.timeout(30_000);
  let browser: Browser;
  let panel: PanelPage;

  before(async () => {
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
  });
  afterEach(async () => {
    assert.deepEqual(panel.problems, [], 'the page had no errors and kept to its policy');
    await panel.close();
  });

  async function open(
    sample: SampleOptions = {},
    options: Partial<PanelPageOptions> & { before?: SampleStream['before'] } = {},
  ): Promise<SampleStream> {
    const stream = new SampleStream(sample);
    if (options.before) stream.before = options.before;
    panel = await openPanel(browser, { handlers: stream.handlers(), ...options });
    return stream;
  }

  const grid = (): ReturnType<PanelPage['page']['locator']> => panel.page.getByRole('grid');
  const rowOf = (id: string): ReturnType<PanelPage['page']['locator']> => panel.page.locator(`#row-${id}`);
  const selectedId = async (): Promise<string | undefined> =>
    (await grid().getAttribute('aria-activedescendant'))?.replace('row-', '');
  const isInSight = (id: string): Promise<boolean> =>
    grid().evaluate((element, wanted) => {
      const box = document.getElementById(wanted)?.getBoundingClientRect();
      const view = element.getBoundingClientRect();
      return box !== undefined && box.top >= view.top + 21 && box.bottom <= view.bottom + 1;
    }, `row-${id}`);

  it('shows where it is, how the stream stands, and its groups with what is unknown as unknown', async () => {
    await open();
    const { page } = panel;
    await page.getByRole('heading', { name: /prod-eu\s*orders\s*production\s*read-only/ }).waitFor();
    await page.getByText('1,204 entries').waitFor();
    const groups = page.getByRole('list', { name: '3 groups' }).getByRole('listitem');
    assert.match((await groups.nth(0).innerText()).replace(/\s+/g, ' '), /^billing lag 20 7 pending/);
    assert.match(await groups.nth(1).innerText(), /lag unknown/);
    assert.match((await groups.nth(1).getAttribute('title')) ?? '', /entries were deleted after the last delivered id/);
    assert.match(await groups.nth(2).innerText(), /lag ≥ 12,001/);
    await page.getByRole('button', { name: 'Dead letters 38' }).click();
  });

  it('lists a hundred thousand entries with only the rows in sight in the page', async () => {
    const stream = await open({ length: 100_000 });
    await rowOf(stream.newestId).waitFor();
    await grid().focus();
    await grid().press('End');
    await eventually(async () => (await selectedId()) === stream.idAt(0));
    await eventually(() => isInSight(stream.idAt(0)));
    assert.ok((await panel.page.getByRole('row').count()) < 100);
    assert.deepEqual(
      stream
        .callsOf('entries')
        .map((query) => (query as { at: { kind: string } }).at.kind)
        .slice(0, 2),
      ['newest', 'oldest'],
    );
    await grid().press('Home');
    await eventually(() => isInSight(stream.newestId));
  });

  it('pages to older entries while scrolling, each once, also within one millisecond', async () => {
    const stream = await open({ length: 700 });
    await rowOf(stream.newestId).waitFor();
    const seen: string[] = [];
    await eventually(
      async () => {
        const ids = await panel.page.locator('.rows .row .id').allInnerTexts();
        for (const id of ids) if (!seen.includes(id)) seen.push(id);
        await grid().evaluate((element) => {
          element.scrollTop += element.clientHeight * 0.8;
        });
        return seen.length === 700;
      },
      { intervalMs: 5 },
    );
    await eventually(async () => (await grid().getAttribute('aria-rowcount')) === '701');
  });

  it('pages to newer entries in the middle of a stream without moving what is in sight', async () => {
    const stream = await open({ length: 5000 });
    await rowOf(stream.newestId).waitFor();
    const middle = stream.idAt(2500);
    await panel.page.getByRole('textbox').fill(middle);
    await panel.page.getByRole('textbox').press('Enter');
    await eventually(() => isInSight(middle));
    const scrollBy = (rows: number): Promise<number> =>
      grid().evaluate((element, pixels) => (element.scrollTop += pixels), rows * 22);
    const topOf = (): Promise<number> => rowOf(middle).evaluate((row) => row.getBoundingClientRect().top);
    const before = await topOf();
    for (const [rows, asked] of [
      [-10, 'newerThan'],
      [20, 'olderThan'],
    ] as const) {
      await scrollBy(rows);
      await eventually(
        () => stream.callsOf('entries').filter((query) => JSON.stringify(query).includes(asked)).length === 1,
      );
      await eventually(async () => (await grid().getAttribute('aria-busy')) === 'false');
    }
    assert.equal(await topOf(), before - 220);
    assert.ok(stream.callsOf('entries').length < 6, 'coming rows do not pull in further ones');
  });

  it('is walked by keyboard: arrows, pages, ends, Enter into the detail', async () => {
    const stream = await open();
    await rowOf(stream.newestId).waitFor();
    await grid().focus();
    await grid().press('ArrowDown');
    assert.equal(await selectedId(), stream.newestId);
    await grid().press('ArrowDown');
    assert.equal(await selectedId(), stream.idAt(stream.length - 2));
    await grid().press('PageDown');
    const paged = Number((await rowOf((await selectedId()) ?? '').getAttribute('aria-rowindex')) ?? '0');
    assert.ok(paged > 15, `page down went to row ${paged}`);
    await grid().press('ArrowUp');
    await grid().press('PageUp');
    await grid().press('PageUp');
    assert.equal(await selectedId(), stream.newestId);
    assert.equal(await rowOf(stream.newestId).getAttribute('aria-selected'), 'true');
    await panel.page.getByRole('tabpanel').waitFor();
    await grid().press('Enter');
    assert.equal(await panel.page.evaluate(() => document.activeElement?.id), 'detail-tab-panel');
  });

  it('asks for the detail of the entry where a held arrow key stops, not of all it passed', async () => {
    const stream = await open();
    await rowOf(stream.newestId).waitFor();
    await grid().focus();
    for (let press = 0; press < 15; press += 1) await grid().press('ArrowDown');
    const last = stream.idAt(stream.length - 15);
    await panel.page.getByRole('heading', { name: last }).waitFor();
    assert.ok(stream.callsOf('entry').length < 15, `${stream.callsOf('entry').length} details were asked`);
  });

  it('jumps to a time and selects the first entry at or after it', async () => {
    const stream = await open({ length: 100_000 }, { timezone: 'UTC' });
    await rowOf(stream.newestId).waitFor();
    const box = panel.page.getByRole('textbox', { name: 'Jump to id or time' });
    await box.fill('2026-11-29 14:00');
    await box.press('Enter');
    const expected = Date.UTC(2026, 10, 29, 14);
    await eventually(async () => {
      const ms = Number((await selectedId())?.split('-')[0]);
      return ms >= expected && ms < expected + 250;
    });
    await box.fill('5 min ago');
    await box.press('Enter');
    await eventually(async () => Number((await selectedId())?.split('-')[0]) > Date.UTC(2026, 10, 29, 16));
  });

  it('says what it takes when a jump is neither an id nor a time, and asks nothing', async () => {
    const stream = await open();
    await rowOf(stream.newestId).waitFor();
    const asked = stream.calls.length;
    const box = panel.page.getByRole('textbox');
    await box.fill('yesterday-ish');
    await box.press('Enter');
    await panel.page.getByRole('alert').getByText('15 min ago').waitFor();
    assert.equal(stream.calls.length, asked);
    await box.fill('newest');
    await eventually(async () => (await panel.page.getByRole('alert').count()) === 0);
  });

  it('shows an entry that the tree chose, and its neighbours when the stream has it no more', async () => {
    const stream = await open({ length: 3000 }, {});
    await rowOf(stream.newestId).waitFor();
    panel.host.post('select', { id: stream.idAt(700) });
    await eventually(() => isInSight(stream.idAt(700)));
    assert.equal(await selectedId(), stream.idAt(700));
    const [ms = ''] = stream.idAt(1500).split('-');
    panel.host.post('select', { id: `${ms}-77` });
    await panel.page.getByRole('heading', { name: `${ms}-77` }).waitFor();
    await eventually(() => isInSight(`${ms}-1`));
  });

  it('opens at the entry that the session names', async () => {
    const stream = new SampleStream({ length: 3000 });
    const id = stream.idAt(1234);
    const chosen = new SampleStream({ length: 3000, session: { selectedId: id } });
    panel = await openPanel(browser, { handlers: chosen.handlers() });
    await eventually(() => isInSight(id));
    await panel.page.getByRole('heading', { name: id }).waitFor();
  });

  it('keeps place, selection, tab and folds on refresh, and shows what is new', async () => {
    const stream = await open({ length: 600 });
    await rowOf(stream.newestId).waitFor();
    const chosen = stream.idAt(575);
    await rowOf(chosen).click();
    await panel.page.getByRole('button', { name: 'Fold 2 values' }).first().click();
    await panel.page.getByRole('button', { name: 'Unfold 2 values' }).waitFor();
    const top = await rowOf(chosen).evaluate((row) => row.getBoundingClientRect().top);
    stream.length += 40;
    await panel.page.getByRole('button', { name: 'Refresh' }).click();
    await panel.page.getByText('640 entries', { exact: true }).waitFor();
    await panel.page.getByRole('status').getByText('Refreshed: 640 entries').waitFor();
    assert.equal(await rowOf(chosen).evaluate((row) => row.getBoundingClientRect().top), top);
    assert.equal(await selectedId(), chosen);
    assert.equal(await panel.page.getByRole('button', { name: 'Unfold 2 values' }).count(), 1);
    await grid().press('Home');
    await eventually(() => isInSight(stream.newestId));
  });

  it('shows new entries at once on refresh when the newest are in sight', async () => {
    const stream = await open({ length: 600 });
    await rowOf(stream.newestId).waitFor();
    stream.length += 3;
    await panel.page.getByRole('button', { name: 'Refresh' }).click();
    await eventually(() => isInSight(stream.newestId));
  });

  it('shows skeletons only when an answer takes long, and never over old data', async () => {
    const gate: { release: () => void } = { release: () => undefined };
    const stream = await open(
      {},
      {
        before: (method) =>
          method === 'entries' ? new Promise((resolve) => Object.assign(gate, { release: resolve })) : undefined,
      },
    );
    await panel.page.locator('.row-skeleton').first().waitFor();
    gate.release();
    await rowOf(stream.newestId).waitFor();
    assert.equal(await panel.page.locator('.skeleton').count(), 0);
    await panel.page.getByRole('button', { name: 'Refresh' }).click();
    await eventually(() => stream.callsOf('entries').length >= 2);
    await eventually(async () => (await grid().getAttribute('aria-busy')) === 'true');
    assert.equal(await panel.page.locator('.skeleton').count(), 0);
    assert.ok(await rowOf(stream.newestId).isVisible());
    gate.release();
  });

  it('shows a failure where it happened, with Retry and the next step, and recovers', async () => {
    let isDown = true;
    const error = {
      reason: 'no-permission',
      message: 'Cannot read entries of orders on prod-eu: the user reader has no XREVRANGE permission.',
      retriable: true,
      nextStep: { title: 'Show Minimal ACL', command: 'redisStreams.showMinimalAcl' },
    };
    const stream = await open(
      {},
      {
        before: (method) => {
          if (isDown && method === 'entries') throw new ShownError(error);
        },
      },
    );
    const alert = panel.page.getByRole('alert').filter({ hasText: error.message });
    await alert.getByRole('button', { name: 'Show Minimal ACL' }).click();
    await eventually(() => stream.callsOf('nextStep').length === 1);
    await panel.page.getByText('1,204 entries').waitFor();
    isDown = false;
    assert.equal(stream.callsOf('connect').length, 0, 'only a person who asks for it connects');
    await alert.getByRole('button', { name: 'Retry' }).click();
    await rowOf(stream.newestId).waitFor();
    assert.equal(stream.callsOf('connect').length, 1);
    assert.equal(await alert.count(), 0);
  });

  it('keeps what is loaded when a further page fails, and goes on after Retry', async () => {
    let isDown = false;
    const stream = await open(
      { length: 900 },
      {
        before: (method, params) => {
          if (isDown && method === 'entries' && JSON.stringify(params).includes('olderThan'))
            throw new ShownError({ reason: 'timeout', message: 'The server did not answer.', retriable: true });
        },
      },
    );
    await rowOf(stream.newestId).waitFor();
    isDown = true;
    await grid().evaluate((element) => (element.scrollTop = element.scrollHeight));
    await panel.page.getByRole('alert').getByText('The server did not answer.').waitFor();
    assert.ok((await panel.page.locator('.rows .row').count()) > 10);
    isDown = false;
    await panel.page.getByRole('alert').getByRole('button', { name: 'Retry' }).click();
    await eventually(async () => (await panel.page.getByRole('alert').count()) === 0);
  });

  it('says when the connection is lost, keeps what it shows, and reads again when it is back', async () => {
    const stream = await open();
    await rowOf(stream.newestId).waitFor();
    const connection = { name: 'prod-eu', environment: 'production', isReadOnly: true } as const;
    panel.host.post('connection', { ...connection, state: 'lost', problem: 'The link to prod-eu broke.' });
    await panel.page.getByText(/The link to prod-eu broke\. What is shown was read at/).waitFor();
    assert.ok(await rowOf(stream.newestId).isVisible());
    const asked = stream.callsOf('overview').length;
    panel.host.post('connection', { ...connection, state: 'connected' });
    await eventually(() => stream.callsOf('overview').length > asked);
    await eventually(async () => (await panel.page.getByText('The link to prod-eu broke.').count()) === 0);
  });

  it('connects before it reads again when Retry is pressed, also when that fails', async () => {
    let isConnected = false;
    const down = { reason: 'connection-refused', message: 'Cannot connect to prod-eu.', retriable: true };
    const stream = await open(
      {},
      {
        before: (method) => {
          if (method === 'connect' && stream.callsOf('connect').length > 1) isConnected = true;
          else if (!isConnected && method !== 'session' && method !== 'selected') throw new ShownError(down);
        },
      },
    );
    const retry = panel.page.getByRole('alert').first().getByRole('button', { name: 'Retry' });
    await retry.click();
    await eventually(() => stream.callsOf('connect').length === 1);
    await retry.click();
    await rowOf(stream.newestId).waitFor();
  });

  it('keeps only ids and layout while hidden, and asks everything anew when it is shown again', async () => {
    const stream = await open({ length: 3000 });
    await rowOf(stream.newestId).waitFor();
    const id = stream.idAt(2800);
    panel.host.post('select', { id });
    await panel.page.getByRole('tab', { name: /In groups/ }).click();
    await panel.page.getByRole('button', { name: 'Local time' }).click();
    await panel.page.getByRole('separator').focus();
    await panel.page.getByRole('separator').press('ArrowRight');
    await eventually(() => (panel.state() as { zone: string }).zone === 'utc');
    assert.deepEqual(panel.state(), {
      identity: { connectionId: 'c1', stream: 'orders' },
      tab: 'groups',
      zone: 'utc',
      split: 0.52,
      selectedId: id,
      folds: [],
    });
    const before = stream.calls.length;
    await panel.reload();
    await eventually(() => isInSight(id));
    assert.equal(await selectedId(), id);
    assert.equal(await panel.page.getByRole('tab', { name: /In groups/ }).getAttribute('aria-selected'), 'true');
    await panel.page.getByRole('button', { name: 'UTC' }).waitFor();
    const anew = stream.calls.slice(before).map(({ method }) => method);
    for (const method of ['session', 'overview', 'entries', 'entry']) assert.ok(anew.includes(method), method);
  });

  it('starts a new generation when the window is shown again, without losing what it shows', async () => {
    const stream = await open();
    await rowOf(stream.newestId).waitFor();
    const hellos = (): number => panel.received.filter(({ kind }) => kind === 'hello').length;
    assert.equal(hellos(), 1);
    stream.length += 5;
    await panel.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await panel.page.getByText('1,209 entries', { exact: true }).waitFor();
    assert.equal(hellos(), 2);
    await rowOf(stream.newestId).waitFor();
  });

  it('says what to do when the stream is empty', async () => {
    await open({ length: 0, overview: { length: 0, groups: [], deadLetters: null, firstId: null, lastId: null } });
    await panel.page.getByText('The stream has no entries.').waitFor();
    await panel.page.getByText('0 entries').waitFor();
  });

  it('folds many groups away and shows them on request', async () => {
    const group = (index: number) => ({
      name: nameView(`group-${index}`),
      lag: { kind: 'exact' as const, value: index, source: 'XINFO GROUPS' },
      pending: 0,
      consumers: 1,
      lastDeliveredId: '0-0',
    });
    await open({ overview: { groups: Array.from({ length: 40 }, (_, index) => group(index)) } });
    await panel.page.getByRole('button', { name: '32 more groups' }).click();
    assert.equal(await panel.page.getByRole('list', { name: '40 groups' }).getByRole('listitem').count(), 40);
  });

  it('moves its divider by pointer and keyboard, beside or below, within limits', async () => {
    await open({}, { width: 900 });
    const { page } = panel;
    const divider = page.getByRole('separator');
    const value = async (): Promise<number> => Number(await divider.getAttribute('aria-valuenow'));
    const box = await divider.boundingBox();
    assert.ok(box);
    assert.equal(await divider.getAttribute('aria-orientation'), 'vertical');
    await page.mouse.move(box.x + 2, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 2 + 180, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await eventually(async () => Math.abs((await value()) - 70) <= 1);
    await page.setViewportSize({ width: 600, height: 800 });
    await eventually(async () => (await divider.getAttribute('aria-orientation')) === 'horizontal');
    await divider.press('ArrowUp');
    await eventually(async () => Math.abs((await value()) - 68) <= 1);
    await divider.press('Home');
    await eventually(async () => (await value()) === 15);
    const panes = await page.evaluate(() =>
      ['.table-pane', '.detail-pane'].map((name) => document.querySelector(name)?.getBoundingClientRect().top ?? 0),
    );
    assert.ok((panes[1] ?? 0) > (panes[0] ?? 0), 'the detail is below the table');
  });
});
