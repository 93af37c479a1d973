/** What can be done to an entry from its groups, in a real browser: the page asks its host, which asks people. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { eventually } from '../support/eventually';
import { launchBrowser, openPanel } from './support/panelPage';
import type { PanelPage } from './support/panelPage';
import { nameView, SampleStream } from './support/sampleStream';
import type { SampleOptions } from './support/sampleStream';

describe('the stream panel, acting on an entry', function () {
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

  async function openGroups(sample: SampleOptions = {}): Promise<SampleStream> {
    const selectedId = new SampleStream(sample).newestId;
    const stream = new SampleStream({ ...sample, session: { selectedId } });
    panel = await openPanel(browser, { handlers: stream.handlers() });
    await panel.page.getByRole('tab', { name: /^In groups/ }).click();
    return stream;
  }

  const buttonsOf = (group: string): Promise<string[]> =>
    panel.page
      .getByRole('tabpanel')
      .getByRole('listitem')
      .filter({ hasText: group })
      .locator('vscode-button')
      .allInnerTexts()
      .then((texts) => texts.map((text) => text.trim()));

  it('offers the verbs safest first, only where the entry is pending', async () => {
    await openGroups();
    await eventually(async () =>
      assert.deepEqual(await buttonsOf('billing'), [
        'Make Reclaimable…',
        'Claim…',
        'Acknowledge…',
        'Move to Dead Letters…',
      ]),
    );
    assert.deepEqual(await buttonsOf('shipping'), []);
    assert.deepEqual(await buttonsOf('analytics'), []);
  });

  it('asks the host by the name without loss, and reads everything again afterwards', async () => {
    const group = nameView('bill\udcff');
    const standing = { group, state: 'pending', explanation: 'Pending.' } as const;
    const stream = await openGroups({ detail: () => ({ standings: [standing] }) });
    const id = stream.newestId;
    const before = stream.callsOf('entry').length;
    await panel.page.getByRole('button', { name: 'Acknowledge…' }).click();
    await eventually(() => {
      assert.deepEqual(stream.callsOf('act'), [{ verb: 'acknowledge', id, group: 'bill\udcff' }]);
    });
    await eventually(() => stream.callsOf('entry').length > before);
    await panel.page.getByRole('button', { name: 'Replay…' }).click();
    await panel.page.getByRole('button', { name: 'Delete…' }).click();
    await eventually(() => {
      assert.deepEqual(stream.callsOf('act').slice(1), [
        { verb: 'replay', id },
        { verb: 'delete', id },
      ]);
    });
  });

  it('offers only to acknowledge what has lost its message', async () => {
    const standing = { group: nameView('billing'), state: 'gone', explanation: 'Trimmed.' } as const;
    await openGroups({ detail: () => ({ fields: null, fieldCount: 0, standings: [standing] }) });
    await eventually(async () => assert.deepEqual(await buttonsOf('billing'), ['Acknowledge…']));
    assert.equal(await panel.page.getByRole('button', { name: 'Delete…' }).count(), 0);
  });

  it('shows why it could not be done', async () => {
    const stream = await openGroups();
    stream.before = (method) => {
      if (method === 'act') throw new Error('nothing must be shown of this');
    };
    await panel.page.getByRole('button', { name: 'Claim…' }).click();
    await panel.page.getByRole('alert').first().waitFor();
  });
});
