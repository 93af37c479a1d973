// The sandbox in a real VS Code: from the empty view to a message in its panel, with nothing installed.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually';
import { useWindow } from './support/useWindow';

describe('The sandbox', () => {
  const window = useWindow();

  it('is offered first by the empty view, and fills the tree', async () => {
    await window().openView('Redis Streams');
    const tree = window().tree('Explorer');
    assert.match(await tree.welcome(), /Start Sandbox[\s\S]*Add Connection/);
    await tree.pressWelcome('Start Sandbox');
    await tree.expand(['Sandbox']);
    await tree.expand(['Sandbox', 'shop:']);
    await tree.expand(['Sandbox', 'shop:', 'shop:orders']);
    const text = await tree.text();
    for (const name of ['analytics', 'billing', 'shipping', 'Dead letters']) assert.ok(text.includes(name), text);
  });

  it('shows a message in the panel, in every theme', async () => {
    const tree = window().tree('Explorer');
    await tree.pressInline(['Sandbox', 'shop:', 'shop:orders'], 'Open Stream');
    const frame = await window().webview();
    const rows = frame.getByRole('row');
    await eventually(async () => (await rows.count()) > 10, { what: 'the entries' });
    await rows.nth(3).click();
    await frame.getByText('payload', { exact: true }).first().waitFor();
    await window().screenshots('panel');
  });

  it('is named in the status bar when its panel comes to the front', async () => {
    const { bridge, statusBar, page } = window();
    await window().runCommand('Redis Streams: Copy Sandbox URL');
    const url = await eventually(async () => {
      const text = await window().readClipboard();
      return text.startsWith('redis://127.0.0.1:') && text;
    });
    await bridge.updateSetting('redisStreams.connections', [{ name: 'Other', url, environment: 'staging' }]);
    const tree = window().tree('Explorer');
    await tree.expand(['Other']);
    await tree.pressInline(['Other', 'audit:log'], 'Open Stream');
    await statusBar.find(/staging · Other/);
    await page.locator('.tab', { hasText: 'shop:orders' }).click();
    await statusBar.find(/local · Sandbox/);
    await bridge.updateSetting('redisStreams.connections', null);
  });

  it('is a Redis for any client, until it is stopped', async () => {
    await window().runCommand('Redis Streams: Copy Sandbox URL');
    const url = await eventually(async () => {
      const text = await window().readClipboard();
      return text.startsWith('redis://127.0.0.1:') && text;
    });
    const client = new Redis(url, { retryStrategy: null });
    try {
      assert.ok((await client.xlen('shop:orders')) > 500);
      const ended = new Promise((resolve) => client.once('close', resolve));
      await window().runCommand('Redis Streams: Stop Sandbox');
      await ended;
    } finally {
      client.disconnect();
    }
    await eventually(async () => !(await window().tree('Explorer').has(['Sandbox'])), { what: 'its row to go' });
  });
});
