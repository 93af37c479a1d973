// Connecting and looking, in a real VS Code on a real Redis: the whole tour by mouse and by keyboard, what is said when things go
// wrong, and pictures in every theme. What each row says is proved in test/bus/tree*.test.ts.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { useWindow } from './support/useWindow';

const password = 'hunter2-secret';
const hour = 3_600_000;

/** Two shops' worth of streams: `orders` with two groups, three pending entries (one without its message) and a dead letter. */
async function seed(client: Redis): Promise<readonly string[]> {
  const now = Date.now();
  const ids = [`${now - 3 * hour}-0`, `${now - 3 * hour}-1`, `${now - 2 * hour}-0`, `${now - hour}-0`];
  for (const [index, id] of ids.entries()) await client.xadd('orders', id, 'slug', `shoe-${index}`, 'n', String(index));
  await client.xgroup('CREATE', 'orders', 'billing', '0');
  await client.xgroup('CREATE', 'orders', 'shipping', '0');
  await client.xreadgroup('GROUP', 'billing', 'worker-1', 'COUNT', 3, 'STREAMS', 'orders', '>');
  for (const [index, id] of ids.slice(0, 3).entries()) {
    const deliveries = index === 1 ? '4' : '1';
    const claim = [
      'orders',
      'billing',
      'worker-1',
      '0',
      id,
      'IDLE',
      String(2 * hour),
      'RETRYCOUNT',
      deliveries,
      'JUSTID',
    ];
    await client.call('XCLAIM', ...claim);
  }
  await client.xdel('orders', ids[0] ?? '');
  const block = {
    id: '1-1',
    entry: '1-1',
    stream: 'orders',
    group: 'billing',
    consumer: 'worker-1',
    reason: 'handler-error',
  };
  const failure = {
    'error.type': 'TypeError',
    'error.message': 'Invalid slug',
    deliveries: '3',
    at: new Date().toISOString(),
    replays: '0',
  };
  const pairs = Object.entries({ ...block, ...failure }).flatMap(([name, value]) => [`dl.${name}`, value]);
  await client.xadd('orders:dlq', '*', 'slug', '', ...pairs);
  for (const region of ['eu', 'us']) await client.xadd(`carts:${region}`, '*', 'n', '1');
  return ids;
}

describe('Seeing a Redis in VS Code', () => {
  let server: RedisServer;
  let client: Redis;
  let ids: readonly string[];
  const window = useWindow({ settings: { 'redisStreams.autoRefreshSeconds': 0 } });
  const tree = (): ReturnType<ReturnType<typeof window>['tree']> => window().tree('Explorer');

  before(async () => {
    server = await startRedis({ password });
    client = new Redis({ port: server.port, host: server.host, password });
    ids = await seed(client);
  });
  after(async () => {
    client.disconnect();
    await server.stop();
  });

  it('adds a connection from the welcome, asks for the password that the server wants, and shows the streams', async () => {
    const { quickInput } = window();
    await window().openView('Redis Streams');
    await tree().pressWelcome('Add Connection…');
    await quickInput.answer(`redis://${server.host}:${server.port}`, 'Add Connection (1/3)');
    assert.ok((await quickInput.read('Add Connection (2/3)')).message.startsWith('Name of the connection'));
    assert.match((await quickInput.buttons()).join(), /^Back/);
    await quickInput.answer('shop', 'Add Connection (2/3)');
    const environments = await quickInput.read('Add Connection (3/3)');
    assert.deepEqual(
      environments.items.map(({ label }) => label),
      ['local', 'development', 'staging', 'production'],
    );
    await quickInput.choose('production');
    await quickInput.says(/^Password of user default/);
    await quickInput.type('wrong');
    await quickInput.accept();
    await quickInput.says(/the server refused the password of user default/);
    await quickInput.type(password);
    await quickInput.accept();
    await window().statusBar.find(/^Connected to shop: \d/);
    await eventually(async () => assert.ok(await tree().has(['shop', 'orders'])));
  });

  it('shows environment, server and read-only on the connection, in the tree and in the status bar', async () => {
    const [row] = await tree().rows();
    assert.match(row?.description ?? '', /^production · \d+\.\d+\.\d+ · read-only$/);
    assert.equal(row?.icon, 'server-environment');
    await window().statusBar.find('$(server-environment) production · shop');
  });

  it('opens every level by mouse', async () => {
    for (const path of [
      ['shop', 'carts:'],
      ['shop', 'orders'],
      ['shop', 'orders', 'billing'],
      ['shop', 'orders', 'billing', 'worker-1'],
      ['shop', 'orders', 'Dead letters'],
    ])
      await tree().expand(path);
    const text = (await tree().text({ icons: true }))
      .replace(/production · \S+/, 'production · x')
      .replace(/newest .* ago/, 'newest …')
      .replace(/worker-1 {2}.*/, 'worker-1  …')
      .replace(/\$\(circle-slash\) \d+-\d+/, '$(circle-slash) id');
    assert.equal(
      text,
      [
        '▾ $(server-environment) shop  production · x · read-only',
        '  ▾ $(folder) carts:  2 streams',
        '    ▸ $(layers) carts:eu  1 · no groups',
        '    ▸ $(layers) carts:us  1 · no groups',
        '  ▾ $(layers) orders  3 · 2 groups · 3 pending',
        '    ▾ $(organization) billing  lag 1 · 3 pending · oldest 3 h',
        '      ▾ $(person) worker-1  …',
        `          $(trash) ${ids[0] ?? ''}  ×1 · idle 2 h · message gone`,
        `          $(warning) ${ids[1] ?? ''}  ×4 · idle 2 h`,
        `          $(watch) ${ids[2] ?? ''}  ×1 · idle 2 h`,
        '    ▸ $(organization) shipping  lag 3 · 0 pending',
        '    ▾ $(inbox) Dead letters  1 · newest …',
        '        $(circle-slash) id  handler-error · Invalid slug',
        '  ▸ $(layers) orders:dlq  1 · no groups',
      ].join('\n'),
    );
  });

  it('explains the figures in tooltips, with their sources', async () => {
    const tooltip = await tree().tooltip(['shop', 'orders', 'billing']);
    assert.match(tooltip, /Lag 1: entries that were not delivered to this group yet/);
    assert.match(tooltip, /XINFO GROUPS/);
    assert.match(tooltip, /Read at .* by the clock of the server\./);
    const gone = await tree().tooltip(['shop', 'orders', 'billing', 'worker-1', ids[0] ?? '']);
    assert.match(gone, /Its message is gone/);
  });

  it('looks right in every theme', async () => {
    await window().page.mouse.move(900, 500);
    await window().screenshots('see-tree');
  });

  it('keeps expansion and selection over a refresh, and shows the new figures', async () => {
    const pending = ['shop', 'orders', 'billing', 'worker-1', ids[2] ?? ''];
    await tree().select(['shop', 'orders', 'billing', 'worker-1']);
    await tree().expand(['shop', 'orders', 'billing', 'worker-1']);
    await client.xadd('orders', '*', 'n', '5');
    await tree().pressTitleAction('Refresh All');
    await eventually(async () => {
      const rows = await tree().rows();
      assert.equal(rows.find(({ label }) => label === 'orders')?.description, '4 · 2 groups · 3 pending');
      assert.match(rows.find(({ label }) => label === 'billing')?.description ?? '', /^lag 2 /);
    });
    assert.deepEqual(await tree().selection(), ['worker-1']);
    assert.ok(await tree().has(pending));
  });

  it('refreshes by itself at the interval that the row shows, production only when it is asked for', async () => {
    const { bridge } = window();
    const figures = async (): Promise<string | undefined> =>
      (await tree().rows()).find(({ label }) => label === 'orders')?.description;
    assert.doesNotMatch((await tree().rows())[0]?.description ?? '', /every/);
    await bridge.updateSetting('redisStreams.autoRefreshProductionSeconds', 1);
    await eventually(async () => assert.match((await tree().rows())[0]?.description ?? '', /every 1 s$/));
    await client.xadd('orders', '*', 'n', '6');
    await eventually(async () => assert.equal(await figures(), '5 · 2 groups · 3 pending'));
    await bridge.updateSetting('redisStreams.autoRefreshProductionSeconds', undefined);
    await eventually(async () => assert.doesNotMatch((await tree().rows())[0]?.description ?? '', /every/));
  });

  it('copies names, ids, payloads and redis-cli lines, of several rows at once', async () => {
    const worker = ['shop', 'orders', 'billing', 'worker-1'];
    await (await tree().contextMenu(['shop', 'orders'])).choose('Copy Name');
    await eventually(async () => assert.equal(await window().readClipboard(), 'orders'));
    await tree().select([...worker, ids[1] ?? ''], [...worker, ids[2] ?? '']);
    await (await tree().contextMenu([...worker, ids[2] ?? ''])).choose('Copy ID');
    await eventually(async () => assert.equal(await window().readClipboard(), `${ids[1] ?? ''}\n${ids[2] ?? ''}`));
    await (await tree().contextMenu([...worker, ids[2] ?? ''])).choose('Copy as redis-cli');
    await eventually(async () => {
      const lines = (await window().readClipboard()).split('\n');
      assert.equal(lines.length, 4);
      const address = `redis-cli -u redis://${server.host}:${server.port} --askpass`;
      assert.equal(lines[0], `${address} XPENDING orders billing ${ids[1] ?? ''} ${ids[1] ?? ''} 1`);
      assert.equal(lines[1], `${address} XRANGE orders ${ids[1] ?? ''} ${ids[1] ?? ''}`);
    });
    await tree().select([...worker, ids[2] ?? '']);
    await (await tree().contextMenu([...worker, ids[2] ?? ''])).choose('Copy Payload');
    await eventually(async () =>
      assert.deepEqual(JSON.parse(await window().readClipboard()), [
        ['slug', 'shoe-2'],
        ['n', '2'],
      ]),
    );
  });

  it('offers in each context menu only what fits the row', async () => {
    const itemsOf = async (...path: string[]): Promise<string[]> => {
      const menu = await tree().contextMenu(path);
      const items = await menu.items();
      await menu.close();
      return items;
    };
    const worker = ['shop', 'orders', 'billing', 'worker-1'];
    const gone = await itemsOf(...worker, ids[0] ?? '');
    assert.deepEqual(gone.slice(0, 3), ['Open Entry', 'Copy ID', 'Copy as redis-cli'], 'there is no payload to copy');
    assert.ok((await itemsOf(...worker, ids[1] ?? '')).includes('Copy Payload'));
    const group = await itemsOf('shop', 'orders', 'billing');
    assert.deepEqual(group.slice(0, 4), ['Copy Name', 'Copy as redis-cli', '---', 'Refresh']);
    assert.deepEqual(await tree().inlineActions(['shop', 'orders']), ['Open Stream', 'Refresh']);
  });

  it('opens the entry of a pending row in the panel, by click and by keyboard alone', async () => {
    await tree().click(['shop', 'orders', 'billing', 'worker-1', ids[1] ?? '']);
    const frame = await window().webview();
    await frame
      .getByText(ids[1] ?? '')
      .first()
      .waitFor();
    await window().bridge.executeCommand('workbench.action.closeAllEditors');
    await window().bridge.executeCommand('redisStreams.explorer.focus');
    await window().press('Home', 'ArrowRight');
    await eventually(async () => {
      await window().press('ArrowDown');
      const focused = await window().page.locator('.customview-tree .monaco-list-row.focused').textContent();
      assert.ok(focused?.includes(ids[2] ?? ''), focused ?? '');
    });
    await window().press('Enter');
    const again = await window().webview();
    await again
      .getByText(ids[2] ?? '')
      .first()
      .waitFor();
    await window().screenshots('see-panel');
    await window().bridge.executeCommand('workbench.action.closeAllEditors');
  });

  it('finds an entry by an id pasted from a log line', async () => {
    await window().runCommand('Redis Streams: Find Entry by ID…');
    await window().quickInput.answer(`12:00 worker-1 failed on ${ids[3] ?? ''}: boom`, 'Find Entry by ID');
    const frame = await window().webview();
    await frame
      .getByText(ids[3] ?? '')
      .first()
      .waitFor();
    await window().bridge.executeCommand('workbench.action.closeAllEditors');
    await window().runCommand('Redis Streams: Find Entry by ID…');
    await window().quickInput.answer('999-9', 'Find Entry by ID');
    await window().notifications.find(/^No stream of shop has the entry 999-9/);
    await window().notifications.clear();
  });

  it('narrows the streams by a filter and says so', async () => {
    await (await tree().contextMenu('shop')).choose('Filter Streams…');
    await window().quickInput.answer('*:eu');
    await eventually(async () => assert.ok(!(await tree().has(['shop', 'orders']))));
    assert.ok(await tree().has(['shop', 'carts:eu']));
    assert.match((await tree().rows())[0]?.description ?? '', /filter \*:eu$/);
    await (await tree().contextMenu('shop')).choose('Filter Streams…');
    await window().quickInput.type('');
    await window().quickInput.accept();
    await eventually(async () => assert.ok(await tree().has(['shop', 'orders'])));
  });

  it('shows hostile names as text and runs nothing of them', async () => {
    const names = [
      '<img src=x onerror=alert(1)>',
      '[quit](command:workbench.action.quit)',
      '$(trash) icon',
      '\u202egnp',
      '__proto__',
      '',
    ];
    for (const name of names) await client.xadd(name, '1-1', 'n', '1');
    await tree().pressTitleAction('Refresh All');
    const shown = names.map((name) => (name === '' ? '""' : name.replace('\u202e', String.raw`\u202e`)));
    await eventually(async () => {
      const labels = (await tree().rows()).map(({ label }) => label);
      assert.deepEqual(
        shown.filter((name) => !labels.includes(name)),
        [],
      );
    });
    const tooltip = await tree().tooltip(['shop', '[quit](command:workbench.action.quit)']);
    assert.ok(tooltip.startsWith('[quit](command:workbench.action.quit)'), tooltip);
    assert.equal(await window().page.locator('.workbench-hover-container a').count(), 0);
    await client.del(...names);
    await tree().pressTitleAction('Refresh All');
  });

  it('shows a lost link where it was, connects again by itself, and goes on', async () => {
    await server.kill();
    await tree().pressTitleAction('Refresh All');
    await eventually(async () => assert.match((await tree().rows())[0]?.description ?? '', /^lost, retry in/));
    assert.ok(await tree().has(['shop', 'orders']), 'what was read stays');
    await window().screenshot('see-lost');
    await server.restart();
    await eventually(async () => assert.match((await tree().rows())[0]?.description ?? '', /^production/), {
      timeoutMs: 40_000,
    });
  });

  it('disconnects and connects again only when asked', async () => {
    await (await tree().contextMenu('shop')).choose('Disconnect');
    await eventually(async () => assert.equal((await tree().rows())[0]?.description, 'production · not connected'));
    await tree().pressInline('shop', 'Connect');
    await eventually(async () => assert.match((await tree().rows())[0]?.description ?? '', /^production · \d/));
  });

  it('refuses a password in the settings, moves it to the secret storage, and connects with it', async () => {
    const { bridge } = window();
    const url = `redis://:${password}@${server.host}:${server.port}`;
    await bridge.updateSetting('redisStreams.connections', [{ name: 'from settings', url, environment: 'local' }]);
    const problem = /holds a password: move it to the secret storage/;
    await tree().pressInline(problem, 'Move Password to Secret Storage');
    await eventually(async () => {
      const setting = JSON.stringify(await bridge.setting('redisStreams.connections'));
      assert.ok(setting.includes('from settings') && !setting.includes(password), 'the password left the settings');
    });
    await tree().expand('from settings');
    await eventually(async () => {
      const row = (await tree().rows()).find(({ label }) => label === 'from settings');
      assert.match(row?.description ?? '', /^local · \d/);
    });
    await bridge.updateSetting('redisStreams.connections', undefined);
    await eventually(async () => assert.ok(!(await tree().has('from settings'))));
  });

  it('shows what the workspace names without connecting, until somebody asks', async () => {
    const folder = join(window().workspace, '.vscode');
    mkdirSync(folder, { recursive: true });
    const named = { name: 'theirs', url: `redis://${server.host}:${server.port}`, environment: 'local' };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ 'redisStreams.connections': [named] }));
    await eventually(async () => assert.ok(await tree().has('theirs')));
    await tree().expand('theirs');
    await tree().element(['theirs', 'theirs is not connected.']);
    await tree().click(['theirs', 'theirs is not connected.']);
    assert.ok((await window().quickInput.read('Password for theirs')).isPassword);
    await window().quickInput.type(password);
    await window().quickInput.accept();
    await tree().element(['theirs', 'No streams here yet.']);
    rmSync(folder, { recursive: true });
    await eventually(async () => assert.ok(!(await tree().has('theirs'))));
  });

  it('never wrote the password to the log', async () => {
    await window().runCommand('Redis Streams: Open Log');
    const log = await window().output.reads(/Connected to shop/);
    assert.doesNotMatch(log, new RegExp(password));
    await window().bridge.executeCommand('workbench.action.closePanel');
  });

  it('removes a connection after asking', async () => {
    await (await tree().contextMenu('shop')).choose('Remove Connection');
    const dialog = await window().dialog.read();
    assert.equal(dialog.message, 'Remove connection shop?');
    assert.deepEqual([...dialog.buttons].sort(), ['Cancel', 'Remove']);
    await window().dialog.dismiss();
    assert.ok(await tree().has('shop'));
    await (await tree().contextMenu('shop')).choose('Remove Connection');
    await window().dialog.press('Remove');
    await eventually(async () => assert.match(await tree().welcome(), /\[Add Connection…\]/));
  });

  it('has left no error in the extension host', () => {
    const ours = window()
      .extensionHostErrors()
      .filter((error) => /redis-?streams/i.test(error));
    assert.deepEqual(ours, []);
  });
});
