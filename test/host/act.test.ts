// Acting by mouse and keyboard in a real VS Code: each verb with its questions read and answered, then checked with a plain client.
// What the verbs do on the server is proved in test/bus/act*.test.ts.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { useWindow } from './support/useWindow';

const minute = 60_000;

/** `orders` with a group whose worker died over five entries, the first of which has lost its message; and a dead letter. */
async function seed(client: Redis): Promise<readonly string[]> {
  await client.flushall();
  const now = Date.now();
  const ids = [5, 4, 3, 2, 1, 0].map((ago) => `${now - ago * minute}-0`);
  for (const [index, id] of ids.entries()) await client.xadd('orders', id, 'n', String(index));
  await client.xgroup('CREATE', 'orders', 'billing', '0');
  await client.xgroup('CREATE', 'orders', 'shipping', '0');
  await client.xreadgroup('GROUP', 'billing', 'dead', 'COUNT', 6, 'STREAMS', 'orders', '>');
  const [gone = '', ...rest] = ids;
  const setting = ['IDLE', String(10 * minute), 'RETRYCOUNT', '2', 'JUSTID'];
  await client.call('XCLAIM', 'orders', 'billing', 'dead', '0', ...ids, ...setting);
  await client.xdel('orders', gone);
  return rest;
}

describe('Acting on a Redis from VS Code', () => {
  let server: RedisServer;
  let client: Redis;
  let ids: readonly string[];
  const window = useWindow({ settings: { 'redisStreams.autoRefreshSeconds': 0 } });
  const tree = (): ReturnType<ReturnType<typeof window>['tree']> => window().tree('Explorer');
  const at = (index: number): string[] => ['local', 'orders', 'billing', 'dead', ids[index] ?? ''];

  before(async () => {
    server = await startRedis();
    client = new Redis({ port: server.port, host: server.host });
    ids = await seed(client);
    const connections = (['local', 'production'] as const).map((environment) => ({
      name: environment,
      url: `redis://${server.host}:${server.port}`,
      environment,
    }));
    await window().bridge.evaluate(
      (vscode, value) => vscode.workspace.getConfiguration().update('redisStreams.connections', value, true),
      connections,
    );
    await window().openView('Redis Streams');
    for (const path of [
      ['local'],
      ['local', 'orders'],
      ['local', 'orders', 'billing'],
      ['local', 'orders', 'billing', 'dead'],
    ])
      await tree().expand(path);
  });
  after(async () => {
    client.disconnect();
    await server.stop();
  });

  afterEach(async () => {
    // What a failed test left open would fail those after it too.
    if (await window().dialog.isOpen()) await window().dialog.dismiss();
    if (await window().quickInput.isVisible()) await window().quickInput.cancel();
  });

  const pending = async (): Promise<Record<string, [string, number]>> => {
    const rows = (await client.xpending('orders', 'billing', '-', '+', 100)) as [string, string, number, number][];
    return Object.fromEntries(rows.map(([id, consumer, , deliveries]) => [id, [consumer, deliveries]]));
  };

  /** Waits until the tree has followed: the group's row says how many are pending. */
  const treeSays = (count: number): Promise<unknown> =>
    eventually(async () => {
      const row = (await tree().rows()).find(({ label }) => label === 'billing');
      assert.match(row?.description ?? '', new RegExp(`· ${count} pending`));
    });

  it('offers the verbs in their order, the common ones as icons', async () => {
    assert.deepEqual(await tree().inlineActions(at(0)), ['Open Entry', 'Claim…', 'Acknowledge…']);
    const menu = await tree().contextMenu(at(0));
    const items = await menu.items();
    await menu.close();
    assert.deepEqual(items.slice(items.indexOf('Make Reclaimable…'), items.indexOf('Show Command…') + 1), [
      'Make Reclaimable…',
      'Claim…',
      'Acknowledge…',
      'Move to Dead Letters…',
      'Replay…',
      'Show Command…',
    ]);
  });

  it('makes an entry reclaimable after a question whose Enter changes nothing', async () => {
    await (await tree().contextMenu(at(0))).choose('Make Reclaimable…');
    const dialog = await window().dialog.read();
    assert.equal(dialog.message, 'Make 1 pending entry of group billing reclaimable?');
    assert.deepEqual(dialog.detail.split('\n').slice(0, 2), ['Connection: local (local)', 'Stream: orders']);
    assert.deepEqual(dialog.buttons.toSorted(), ['Cancel', 'Copy as redis-cli', 'Make 1 Reclaimable']);
    assert.equal(dialog.focused, 'Copy as redis-cli');
    await window().dialog.press('Make 1 Reclaimable');
    await window().statusBar.find('Made 1 reclaimable');
    const [[, consumer, idleMs, deliveries] = []] = (await client.xpending(
      'orders',
      'billing',
      ids[0] ?? '',
      ids[0] ?? '',
      1,
    )) as [string, string, number, number][];
    assert.deepEqual([consumer, deliveries], ['dead', 2]);
    assert.ok((idleMs ?? 0) > 1000 * minute);
  });

  it('claims an entry for a new consumer by its icon and says who will not see it', async () => {
    const { quickInput, dialog } = window();
    await tree().pressInline(at(1), 'Claim…');
    await quickInput.choose('New consumer…');
    await quickInput.says(/^The name of the new consumer of group billing/);
    await quickInput.answer('ana');
    await quickInput.choose('Keep the delivery count');
    const question = await dialog.read();
    assert.equal(question.message, 'Claim 1 pending entry of group billing for consumer ana?');
    assert.match(question.detail, /A consumer that reads only new entries \(>\) will not see them/);
    assert.match(question.detail, /There is no consumer ana yet: it is created\./);
    await dialog.press('Claim 1');
    await window().statusBar.find('Claimed 1');
    assert.deepEqual((await pending())[ids[1] ?? ''], ['ana', 2]);
    await eventually(async () => assert.ok(await tree().has(['local', 'orders', 'billing', 'ana'])));
  });

  it('acknowledges several selected entries, and takes it back', async () => {
    const { dialog } = window();
    await tree().select(at(2), at(3));
    await (await tree().contextMenu(at(2))).choose('Acknowledge…');
    assert.equal((await dialog.read()).message, 'Acknowledge 2 pending entries of group billing?');
    await dialog.press('Acknowledge 2');
    await window().statusBar.find('Acknowledged 2');
    const left = await pending();
    assert.deepEqual([left[ids[2] ?? ''], left[ids[3] ?? '']], [undefined, undefined]);
    await treeSays(4);
    await window().quickInput.runCommand('Redis Streams: Undo Last Action…');
    assert.equal((await dialog.read()).message, 'Undo: make 2 entries of group billing pending again?');
    await dialog.press('Undo 2');
    await window().statusBar.find('Undid 2');
    const again = await pending();
    assert.deepEqual(
      [again[ids[2] ?? ''], again[ids[3] ?? '']],
      [
        ['dead', 2],
        ['dead', 2],
      ],
    );
  });

  it('acknowledges what has lost its message, of a whole group', async () => {
    await treeSays(6);
    await (await tree().contextMenu(['local', 'orders', 'billing'])).choose('Acknowledge Gone Entries…');
    assert.equal((await window().dialog.read()).message, 'Acknowledge 1 pending entry of group billing?');
    await window().dialog.press('Acknowledge 1');
    await window().statusBar.find('Acknowledged 1');
    assert.equal(Object.keys(await pending()).length, 5);
    await treeSays(5);
  });

  it('copies the command instead, and that command does the same', async () => {
    await (await tree().contextMenu(at(4))).choose('Acknowledge…');
    await window().dialog.read();
    await window().dialog.press('Copy as redis-cli');
    await window().statusBar.find('Copied 1 command');
    const copied = await window().bridge.evaluate((vscode) => vscode.env.clipboard.readText());
    assert.match(copied, /^redis-cli -u redis:\/\/127\.0\.0\.1:\d+ EVAL '/);
    assert.ok(Object.hasOwn(await pending(), ids[4] ?? ''));
  });

  it('moves an entry to the dead letters with a reason, and replays it only to its group by the icon', async () => {
    const { quickInput, dialog } = window();
    await (await tree().contextMenu(at(4))).choose('Move to Dead Letters…');
    await quickInput.says(/^Why\?/);
    await quickInput.answer('no address');
    assert.equal((await dialog.read()).message, 'Move 1 pending entry of group billing to the dead letters?');
    await dialog.press('Move 1');
    await eventually(async () => assert.equal(await client.xlen('orders:dlq'), 1));
    await treeSays(4);
    const deadId = (await client.xrange('orders:dlq', '-', '+'))[0]?.[0] ?? '';
    await tree().expand(['local', 'orders', 'Dead letters']);
    const letter = ['local', 'orders', 'Dead letters', deadId];
    assert.deepEqual(await tree().inlineActions(letter), ['Open Entry', 'Replay…']);
    await tree().pressInline(letter, 'Replay…');
    const where = await quickInput.read('Replay Dead Letters');
    assert.deepEqual(
      where.items.map(({ label }) => label),
      ['Only the group in which they died: billing', 'Stream orders', 'Another stream…'],
    );
    assert.equal(where.items[1]?.detail, 'as new entries, which all of its 2 groups receive');
    await quickInput.choose('Only the group in which they died: billing');
    assert.equal((await dialog.read()).message, 'Replay 1 dead letter to group billing only?');
    await dialog.press('Replay 1');
    await eventually(async () => assert.equal(await client.xlen('orders:dlq'), 0));
    await treeSays(5);
    assert.deepEqual((await pending())[ids[4] ?? ''], ['replay', 0]);
    assert.equal(await client.xlen('orders'), 5);
  });

  it('publishes an entry, and refuses to delete one that a group has not read', async () => {
    const { quickInput, dialog } = window();
    await (await tree().contextMenu(['local', 'orders'])).choose('Publish Entry…');
    await quickInput.says(/^The fields as JSON/);
    await quickInput.answer('[["a","1"],["a","2"]]');
    const question = await dialog.read();
    assert.equal(question.message, 'Publish 1 entry to stream orders?');
    assert.match(question.detail, /2 groups would receive it: billing, shipping\./);
    await dialog.press('Publish 1');
    await eventually(async () => assert.equal(await client.xlen('orders'), 6));
    const [newest] = await client.xrevrange('orders', '+', '-', 'COUNT', 1);
    const id = newest?.[0] ?? '';
    assert.deepEqual(newest?.[1], ['a', '1', 'a', '2']);
    await quickInput.runCommand('Redis Streams: Delete Entry…');
    await chooseLocalOrders();
    await quickInput.says(/^The ids of the entries to delete/);
    await quickInput.answer(id);
    await window().notifications.find(/group billing has not read it: 1/);
    await window().notifications.clear();
    assert.equal(await client.xlen('orders'), 6);
  });

  it('acts on the entry that the stream panel shows, from its groups', async () => {
    const { dialog } = window();
    await tree().click(at(2));
    const frame = await window().webview();
    await frame.getByRole('tab', { name: 'In groups' }).click();
    await frame.getByRole('button', { name: 'Acknowledge…' }).click();
    assert.equal((await dialog.read()).message, 'Acknowledge 1 pending entry of group billing?');
    await dialog.press('Acknowledge 1');
    await frame.getByRole('button', { name: 'Acknowledge…' }).waitFor({ state: 'hidden' });
    assert.equal((await pending())[ids[2] ?? ''], undefined);
    await frame.getByRole('button', { name: 'Delete…' }).click();
    await window().notifications.find(/group shipping has not read it: 1/);
    await window().notifications.clear();
    await window().quickInput.runCommand('Redis Streams: Undo Last Action…');
    await dialog.read();
    await dialog.press('Undo 1');
    await eventually(async () => assert.deepEqual((await pending())[ids[2] ?? ''], ['dead', 2]));
    await treeSays(5);
    await window().editors.closeAll();
  });

  it('starts production read-only, unlocks by its name for a while, and asks for the stream with several entries', async () => {
    const { quickInput, dialog } = window();
    const production = (index: number): string[] => ['production', 'orders', 'billing', 'dead', ids[index] ?? ''];
    for (const path of [
      ['production'],
      ['production', 'orders'],
      ['production', 'orders', 'billing'],
      ['production', 'orders', 'billing', 'dead'],
    ])
      await tree().expand(path);
    await tree().select(production(2), production(3));
    await (await tree().contextMenu(production(2))).choose('Acknowledge…');
    await quickInput.choose('Unlock for 15 min');
    await quickInput.says(/Type the name of the connection to unlock writing: production/);
    await quickInput.type('production?');
    await quickInput.accept();
    await quickInput.says('This is not the name of the connection.');
    await quickInput.answer('production');
    await quickInput.says(/Type the name of the stream to go on: orders/);
    await quickInput.answer('orders');
    const question = await dialog.read();
    assert.equal(question.message, 'Acknowledge 2 pending entries of group billing?');
    assert.match(question.detail, /^Connection: production \(production\)/);
    await dialog.dismiss();
    assert.ok(Object.hasOwn(await pending(), ids[2] ?? ''));
    const [row] = (await tree().rows()).filter(({ label }) => label === 'production');
    assert.match(row?.description ?? '', /writable for 15 min$/);
    await tree().pressInline(['production'], 'Lock Writing');
    await window().statusBar.find('production is read-only again');
  });

  it('opens the action log, which has every action and no payload', async () => {
    await window().quickInput.runCommand('Redis Streams: Open Action Log');
    const text = await eventually(async () => {
      const shown = await window().bridge.evaluate(
        (vscode) => vscode.window.activeTextEditor?.document.getText() ?? '',
      );
      return shown.includes('"verb"') && shown;
    });
    const verbs = text.split('\n').flatMap((line) => /"verb":"(\w+)"/.exec(line)?.[1] ?? []);
    assert.deepEqual(verbs, [
      'makeReclaimable',
      'claim',
      'acknowledge',
      'restore',
      'acknowledge',
      'moveToDeadLetters',
      'replayToGroup',
      'publish',
      'acknowledge',
      'restore',
    ]);
    assert.doesNotMatch(text, /no address/);
  });

  /** Two connections: the palette asks which, unless the tree's selection tells. */
  async function chooseLocalOrders(): Promise<void> {
    const { quickInput } = window();
    const { items } = await quickInput.read('Delete Entry');
    if (items.some(({ label }) => label === 'local')) await quickInput.choose('local');
    await quickInput.choose('orders');
  }
});
