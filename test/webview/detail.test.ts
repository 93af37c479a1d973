/** The detail of an entry in a real browser: its values, its history, its groups, and payloads that mean harm. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { fieldViews } from '../../src/panels/values';
import { eventually } from '../support/eventually';
import { launchBrowser, openPanel, ShownError } from './support/panelPage';
import type { PanelPage } from './support/panelPage';
import { nameView, SampleStream } from './support/sampleStream';
import type { SampleOptions } from './support/sampleStream';

describe('the stream panel, one entry', function () {
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

  /** Opens the panel with the newest entry selected. */
  async function open(sample: SampleOptions = {}): Promise<SampleStream> {
    const selectedId = new SampleStream(sample).newestId;
    const stream = new SampleStream({ ...sample, session: { selectedId } });
    panel = await openPanel(browser, { handlers: stream.handlers() });
    await panel.page.getByRole('tabpanel').waitFor();
    return stream;
  }

  const fieldsOf = (...pairs: (string | Uint8Array)[]): NonNullable<SampleOptions['detail']> => {
    const fields = fieldViews(pairs.map((part) => Buffer.from(part)));
    return () => ({ fields, fieldCount: pairs.length / 2 });
  };
  const field = (name: string): ReturnType<PanelPage['page']['locator']> => panel.page.getByRole('region', { name });

  it('shows JSON indented, with every digit, and folds it', async () => {
    await open();
    const json = field('payload').getByRole('group', { name: 'JSON' });
    assert.match(await json.innerText(), /"trace": 9007199254740993/);
    assert.match((await json.innerText()).replace(/\s+/g, ' '), /"address": \{ "city": "Zürich"/);
    await json.getByRole('button', { name: 'Fold 2 values' }).nth(1).click();
    await eventually(async () => !(await json.innerText()).includes('BK-2041'));
    await json.getByRole('button', { name: 'Unfold 2 values' }).press('Enter');
    await eventually(async () => (await json.innerText()).includes('BK-2041'));
  });

  it('shows bytes that are no text as a dump, and text as it is', async () => {
    await open();
    assert.match(await field('thumbnail').innerText(), /00000000 {2}89 50 4e 47/);
    assert.match(await field('type').innerText(), /OrderPlaced/);
  });

  it('says when only the beginning of a value is shown and opens the whole one', async () => {
    const stream = await open({ detail: fieldsOf('blob', 'x'.repeat(10_000_000), 'small', 'y') });
    await field('blob').getByText('Only the beginning of 9.5 MB is shown.').waitFor();
    await field('blob').getByRole('button', { name: 'Open Whole Value' }).click();
    await eventually(() => stream.callsOf('openValue').length === 1);
    assert.deepEqual(stream.callsOf('openValue'), [{ id: stream.newestId, field: 0 }]);
    assert.equal(await field('small').getByRole('button', { name: 'Open Whole Value' }).count(), 0);
  });

  it('has the host copy name, id, payload, value and redis-cli lines', async () => {
    const stream = await open();
    const { page } = panel;
    const id = stream.newestId;
    await page.getByRole('button', { name: 'Copy Name' }).click();
    await page.getByRole('button', { name: 'Copy Id' }).click();
    await page.getByRole('button', { name: 'Copy Payload' }).click();
    await page.getByRole('button', { name: 'Copy value of order' }).click();
    await page.getByRole('button', { name: 'Copy redis-cli' }).click();
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('button', { name: 'Copy Lines' }).click();
    await eventually(() => stream.callsOf('copy').length === 6);
    assert.deepEqual(stream.callsOf('copy'), [
      { what: 'stream' },
      { what: 'id', id },
      { what: 'payload', id },
      { what: 'value', id, field: 1 },
      { what: 'commands', id: null },
      { what: 'commands', id },
    ]);
    await page.getByRole('status').getByText('The redis-cli lines were copied.').waitFor();
  });

  it('says where the entry stands in every group', async () => {
    await open();
    await panel.page.getByRole('tab', { name: 'In groups 1 pending' }).click();
    const items = panel.page.getByRole('tabpanel').getByRole('listitem');
    const texts = (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    assert.match(
      texts[0] ?? '',
      /billing pending Owner worker-2 Deliveries 3 Idle 12 min Last delivered .* three times/,
    );
    assert.match(texts[1] ?? '', /shipping passed .* its consumer was deleted/);
    assert.match(texts[2] ?? '', /analytics not yet delivered/);
  });

  it('tells the history newest last, each event with the time since the one before and its source', async () => {
    const stream = await open();
    await panel.page.getByRole('tab', { name: /Delivery history/ }).click();
    const events = panel.page.getByRole('list', { name: 'Delivery history' }).getByRole('listitem');
    const texts = (await events.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    assert.match(texts[0] ?? '', /^Added to the stream server/);
    assert.match(texts[1] ?? '', /^Delivered recorded .*\+200 ms.*worker-1/);
    await events.nth(1).getByTitle('Recorded by host-1, process 4211, version 2.3.0').waitFor();
    assert.match(
      texts[2] ?? '',
      /^Failed recorded .*\+990 ms.*billing.*worker-1.*delivery 3.*took 990 ms.*Invalid slug/,
    );
    assert.match(texts[3] ?? '', /^Dead-lettered: handler-error recorded derived .*\+10 ms/);
    assert.match(texts[6] ?? '', /^Retry scheduled recorded .*in 5 s.*1764345600000-0/);
    assert.match(texts[7] ?? '', /^Last delivered, still pending server .*\+1 h/);
    await events.nth(6).getByRole('button', { name: '1764345600000-0' }).click();
    await eventually(() => stream.callsOf('openEntry').length === 1);
    assert.deepEqual(stream.callsOf('openEntry'), [{ stream: 'orders', id: '1764345600000-0' }]);
    assert.equal(await events.nth(2).getByText('handler.ts').isVisible(), false);
    await events.nth(2).getByText('Invalid slug "café"').click();
    await events.nth(2).getByText('handler.ts').waitFor();
  });

  it('says what the history does not tell, and why', async () => {
    const texts = async (): Promise<string[]> => panel.page.locator('.history-notes li').allInnerTexts();
    await open();
    await panel.page.getByRole('tab', { name: /Delivery history/ }).click();
    const [since = '', malformed = '', ending = ''] = await texts();
    assert.match(since, /^The delivery journal goes back to .*:.* What was before is not known\.$/);
    assert.equal(malformed, '1 entry of the journal is no event.');
    assert.match(ending, /^The group audit is past it .* not known\.$/);
    const limits = { malformed: 0, hidden: 0, unknownEndings: [] };
    for (const [historyLimits, told] of [
      [{ ...limits, journal: 'none' as const }, /no delivery journal.*Acknowledgements leave no trace/],
      [{ ...limits, journal: 'not-permitted' as const }, /may not read it/],
      [
        { ...limits, journal: 'read' as const, skipped: { fromMs: 1, toMs: 2 } },
        /long: from .* to .* not looked through/,
      ],
      [{ ...limits, journal: 'read' as const, hidden: 1200 }, /^1,200 events in between are not shown/],
    ] as const) {
      await open({ detail: () => ({ historyLimits }) });
      await panel.page.getByRole('tab', { name: /Delivery history/ }).click();
      const [only = ''] = await texts();
      assert.match(only, told);
    }
  });

  it('says that the message is gone when it is only pending', async () => {
    await open({
      detail: () => ({
        fields: null,
        fieldCount: 0,
        standings: [
          { group: nameView('billing'), state: 'gone', deliveryCount: 2, explanation: 'Its message was trimmed.' },
        ],
      }),
    });
    await panel.page.getByText('The message is gone').waitFor();
    await panel.page.getByText('There is no payload to show.').waitFor();
    assert.equal(await panel.page.getByRole('button', { name: 'Copy Payload' }).count(), 0);
  });

  it('shows a dead letter with reason, error and origin, and leads to the original', async () => {
    const stream = await open({
      detail: () => ({
        deadLetter: {
          originalId: '1700000000000-3',
          stream: nameView('orders'),
          group: nameView('billing'),
          consumer: nameView('worker-1'),
          reason: 'handler-error',
          errorType: 'TypeError',
          errorMessage: 'Invalid slug "<b>café</b>"',
          deliveries: 3,
          atMs: 1_700_000_000_000,
          replays: 0,
          format: 'own',
        },
      }),
    });
    const banner = panel.page.locator('.banner.dead-letter');
    const text = (await banner.innerText()).replace(/\s+/g, ' ');
    assert.match(
      text,
      /Dead letter: handler-error TypeErrorInvalid slug "<b>café<\/b>"|Dead letter: handler-error TypeError Invalid slug "<b>café<\/b>"/,
    );
    assert.match(text, /Group billing Consumer worker-1 Deliveries 3 Replays 0/);
    await banner.getByRole('button', { name: 'orders 1700000000000-3' }).click();
    await eventually(() => stream.callsOf('openEntry').length === 1);
    assert.deepEqual(stream.callsOf('openEntry'), [{ stream: 'orders', id: '1700000000000-3' }]);
  });

  it('shows an action that failed, and goes on', async () => {
    const stream = await open();
    stream.before = (method) => {
      if (method === 'copy')
        throw new ShownError({ reason: 'x', message: 'The clipboard is not there.', retriable: false });
    };
    await panel.page.getByRole('button', { name: 'Copy Id' }).click();
    await panel.page.getByRole('alert').getByText('The clipboard is not there.').waitFor();
    stream.before = () => undefined;
    await panel.page.getByRole('button', { name: 'Copy Id' }).click();
    await eventually(async () => (await panel.page.getByRole('alert').count()) === 0);
  });

  it('shows a failed detail in its place with Retry, and the next entry without it', async () => {
    const stream = await open();
    stream.before = (method) => {
      if (method === 'entry')
        throw new ShownError({ reason: 'timeout', message: 'The server did not answer.', retriable: true });
    };
    await panel.page.getByRole('grid').focus();
    await panel.page.getByRole('grid').press('ArrowDown');
    const alert = panel.page.getByRole('region', { name: 'Selected entry' }).getByRole('alert');
    await alert.waitFor();
    stream.before = () => undefined;
    await alert.getByRole('button', { name: 'Retry' }).click();
    await panel.page.getByRole('tabpanel').waitFor();
    assert.equal(await alert.count(), 0);
  });

  it('aborts at the host what a newer selection overtakes', async () => {
    const stream = await open();
    const gates: (() => void)[] = [];
    stream.before = (method) => (method === 'entry' ? new Promise((resolve) => gates.push(resolve)) : undefined);
    await panel.page.locator(`#row-${stream.idAt(stream.length - 3)}`).click();
    await eventually(() => gates.length === 1);
    await panel.page.locator(`#row-${stream.idAt(stream.length - 6)}`).click();
    await eventually(() => gates.length === 2);
    await eventually(() => stream.aborted.length === 1);
    for (const release of gates) release();
    await panel.page.getByRole('heading', { name: stream.idAt(stream.length - 6) }).waitFor();
  });

  const hostile = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script><style>*{display:none}</style>';

  it('draws markup as text, wherever it comes from, and runs none of it', async () => {
    const name = nameView(hostile);
    await open({
      overview: {
        stream: name,
        connection: { name: hostile, environment: 'local', state: 'connected', isReadOnly: false },
        groups: [{ name, lag: { kind: 'unknown', reason: hostile }, pending: 1, consumers: 1, lastDeliveredId: '0-0' }],
        deadLetters: { stream: name, length: 1 },
      },
      row: () => ({ preview: [{ name: hostile, value: hostile }] }),
      detail: () => ({
        fields: fieldViews(
          [hostile, hostile, 'json', JSON.stringify({ [hostile]: [hostile] })].map((text) => Buffer.from(text)),
        ),
        fieldCount: 2,
        standings: [{ group: name, state: 'pending', consumer: name, explanation: hostile }],
        history: [
          {
            atMs: null,
            title: hostile,
            sources: ['server'],
            entry: { stream: hostile, id: hostile },
            writer: hostile,
            outcome: 'bad',
            group: name,
            consumer: name,
            error: { type: hostile, message: hostile, stack: hostile },
          },
        ],
        deadLetter: {
          originalId: '1-0',
          stream: name,
          group: name,
          consumer: name,
          reason: hostile,
          errorType: hostile,
          errorMessage: hostile,
          format: 'foreign',
        },
        raw: { text: hostile, truncated: false },
        commands: [hostile],
      }),
    });
    for (const tab of ['Payload', /Delivery history/, /In groups/, 'Raw']) {
      await panel.page.getByRole('tab', { name: tab }).click();
      await panel.page.getByRole('tabpanel').getByText('<img src=x').first().waitFor();
    }
    assert.equal(await panel.page.locator('img, #root script, #root style').count(), 0);
    assert.equal(await panel.page.evaluate(() => 'hurt' in window), false);
    assert.equal(await panel.page.locator('#root [style*="url"]').count(), 0);
  });

  it('makes control and direction characters visible, so that text cannot disguise itself', async () => {
    const disguised = 'user\u202egnp.exe\u2066\u0007\u001b[31m\u200b';
    await open({
      overview: { stream: { text: disguised, display: disguised } },
      row: () => ({ preview: [{ name: disguised, value: disguised }] }),
      detail: fieldsOf(
        'text',
        `${disguised} and quite some ordinary text after it`,
        'json',
        JSON.stringify({ a: disguised }),
      ),
    });
    const shown = await panel.page.locator('#root').innerText();
    assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
    for (const escape of ['\\u202e', '\\u2066', '\\x07', '\\x1b', '\\u200b']) assert.ok(shown.includes(escape), escape);
    const isolation = await panel.page
      .locator('.row .preview .pair')
      .first()
      .evaluate((cell) => getComputedStyle(cell).unicodeBidi);
    assert.equal(isolation, 'isolate');
  });

  it('shows fields and members named like those of every object as any other', async () => {
    await open({
      detail: fieldsOf(
        '__proto__',
        '{"__proto__":{"x":1},"constructor":2,"__proto__":3}',
        'constructor',
        'c',
        'constructor',
        'd',
      ),
    });
    assert.match(
      await field('__proto__').innerText(),
      /"__proto__": \{\s*"x": 1\s*\},\s*"constructor": 2,\s*"__proto__": 3/,
    );
    assert.equal(await field('constructor').count(), 2);
  });

  it('stays usable with JSON nested thirty thousand times and with thirty thousand members', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const wide = `[${'1,'.repeat(29_999)}1]`;
    await open({ detail: fieldsOf('deep', deep, 'wide', wide) });
    assert.ok((await panel.page.locator('.json-line').count()) <= 1000);
    await field('wide').getByRole('button', { name: 'Show more of 30,002 lines' }).click();
    await eventually(async () => (await field('wide').locator('.json-line').count()) === 1000);
    await field('deep').getByRole('button', { name: 'Fold 1 value' }).first().click();
    await eventually(async () => (await field('deep').locator('.json-line').count()) === 1);
  });

  it('stays usable with many fields and a very long line', async () => {
    const pairs = Array.from({ length: 4000 }, (_, index) => [`field-${index}`, `value ${index}`]).flat();
    await open({ detail: fieldsOf('long', 'x'.repeat(200_000), ...pairs) });
    await panel.page.getByText('The first 500 of 4,001 fields are shown.').waitFor();
    const isWithin = await panel.page.evaluate(
      () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
    );
    assert.ok(isWithin, 'nothing makes the page scroll sideways');
  });
});
