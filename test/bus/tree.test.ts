// Whole trees of the explorer as text, on a real server: what each row says, how many round trips a level takes, what stays the
// same object over a refresh. Hostile names and failures are in treeFailures.test.ts.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { isBefore7, serverUnderTest, startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { LoadMoreNode } from '../../src/tree/nodes/smallNodes';
import type { TreeNode } from '../../src/tree/treeNode';
import { nodeAt, openTree, treeText } from '../support/treeText';
import type { TestTree } from '../support/treeText';

const minute = 60_000;
const hour = 60 * minute;

describe('the tree on a server', () => {
  let server: RedisServer;
  let client: Redis;
  let tree: TestTree;

  before(async () => {
    server = await startRedis();
    client = new Redis(server.port, server.host);
  });
  after(async () => {
    client.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await client.flushall();
    tree = await openTree(server.url, { environment: 'production' });
  });
  afterEach(() => {
    tree.dispose();
  });

  /** `orders` with two groups: one up to date, one with three pending entries of which one has lost its message; a dead letter. */
  async function seedOrders(): Promise<{ readonly ids: readonly string[]; readonly deadId: string }> {
    const now = Date.now();
    const ids = [`${now - 3 * hour}-0`, `${now - 3 * hour}-1`, `${now - 2 * hour}-0`, `${now - hour}-0`];
    for (const [index, id] of ids.entries()) await client.xadd('orders', id, 'n', String(index));
    await client.xgroup('CREATE', 'orders', 'billing', '0');
    await client.xgroup('CREATE', 'orders', 'shipping', '0');
    await client.xreadgroup('GROUP', 'billing', 'worker-1', 'COUNT', 3, 'STREAMS', 'orders', '>');
    await client.xreadgroup('GROUP', 'shipping', 'truck', 'COUNT', 10, 'STREAMS', 'orders', '>');
    await client.xack('orders', 'shipping', ...ids);
    const [first = '', second = '', third = ''] = ids;
    const idle = (id: string, ms: number, count: number): Promise<unknown> =>
      client.call(
        'XCLAIM',
        'orders',
        'billing',
        'worker-1',
        '0',
        id,
        'IDLE',
        String(ms),
        'RETRYCOUNT',
        String(count),
        'JUSTID',
      );
    await idle(first, 2 * hour + 5.5 * minute, 1);
    await idle(second, 2 * hour + 5.5 * minute, 4);
    await idle(third, 41.5 * minute, 1);
    await client.xdel('orders', first);
    const deadId = `${now - 2.5 * minute}-0`;
    const block: readonly (readonly [string, string])[] = [
      ['dl.id', '1-1'],
      ['dl.entry', '1-1'],
      ['dl.stream', 'orders'],
      ['dl.group', 'billing'],
      ['dl.consumer', 'worker-1'],
      ['dl.reason', 'handler-error'],
      ['dl.error.type', 'TypeError'],
      ['dl.error.message', 'Invalid slug'],
      ['dl.deliveries', '3'],
      ['dl.at', new Date(now).toISOString()],
      ['dl.replays', '0'],
    ];
    await client.xadd('orders:dlq', deadId, 'n', '0', ...block.flat());
    return { ids, deadId };
  }

  it('shows every level with its figures', async () => {
    const { ids, deadId } = await seedOrders();
    const [first, second, third] = ids;
    await tree.root.connection.connect();
    const text = await treeText(tree.root);
    const { name, version } = serverUnderTest();
    const shownVersion = name === 'Redis' ? version : `${name.toLowerCase()} ${version}`;
    assert.equal(
      text
        .replace(/worker-1 \| 3 pending · idle .*/, 'worker-1 | 3 pending · idle …')
        .replace(/truck \| .*/, 'truck | …'),
      [
        `$(server-environment) test | production · ${shownVersion} · read-only <connection+connected+saved+readOnly>`,
        '  $(layers) orders | 3 · 2 groups · 3 pending',
        `    $(organization) billing | lag ${isBefore7() ? 'unknown' : '1'} · 3 pending · oldest 3 h <group+pending>`,
        '      $(person) worker-1 | 3 pending · idle …',
        `        $(trash) ${first} | ×1 · idle 2 h 5 min · message gone <pending+gone>`,
        `        $(warning) ${second} | ×4 · idle 2 h 5 min`,
        `        $(watch) ${third} | ×1 · idle 41 min`,
        '    $(organization) shipping | lag 0 · 0 pending',
        '      $(person) truck | …',
        '        $(info) Nothing is pending for this consumer.',
        '    $(inbox) Dead letters | 1 · newest 2 min 30 s ago',
        `      $(circle-slash) ${deadId} | handler-error · Invalid slug`,
        '  $(layers) orders:dlq | 1 · no groups',
        '    $(info) No groups: nothing reads this stream in a consumer group.',
      ].join('\n'),
    );
  });

  it('tells a delivery journal from a stream that is consumed, by its name and by nobody reading it', async () => {
    for (const key of ['{a}', '{a}:journal', '{b}:journal', 'bank:journal', 'orders:journal'])
      await client.xadd(key, '1-1', 'event', 'delivered', 'id', '1-1');
    await client.xgroup('CREATE', 'bank:journal', 'books', '0');
    tree.settings.keySeparator = '';
    await tree.root.connection.connect();
    const rows = (await tree.root.children()).map((node) => node.row());
    assert.deepEqual(
      rows.map(({ icon, label, description }) => `$(${icon.id}) ${label} | ${description}`),
      [
        '$(layers) bank:journal | 1 · 1 group · 0 pending',
        '$(history) orders:journal | 1 · delivery journal of orders',
        '$(layers) {a} | 1 · no groups',
        '$(history) {a}:journal | 1 · delivery journal of {a}',
        '$(history) {b}:journal | 1 · delivery journal of b',
      ],
    );
    const [only] = await (await nodeAt(tree.root, 'orders:journal')).children();
    assert.match(only?.row().label ?? '', /^What became of the entries of orders/);
  });

  it('puts companions of a stream beside it and into no folder of their own', async () => {
    const keys = [
      'shop:orders',
      'shop:orders-old',
      'shop:orders:dlq',
      'shop:orders:journal',
      'shop:pay:dlq',
      'shop:pay:in',
    ];
    for (const key of keys) await client.xadd(key, '1-1', 'n', '1');
    await tree.root.connection.connect();
    const rows = (await treeText(tree.root)).split('\n').map((line) => line.replace(/ \|.*/, ''));
    assert.deepEqual(rows.filter((row) => !row.includes('$(info)')).slice(1), [
      '  $(folder) shop:',
      '    $(layers) shop:orders',
      '      $(inbox) Dead letters',
      '        $(circle-slash) 1-1',
      '    $(layers) shop:orders:dlq',
      '    $(history) shop:orders:journal',
      '    $(layers) shop:orders-old',
      '    $(folder) pay:',
      '      $(layers) shop:pay:dlq',
      '      $(layers) shop:pay:in',
    ]);
  });

  it('opens a level in at most two round trips, however many rows it shows', async () => {
    const commands = client.pipeline();
    for (let index = 0; index < 300; index += 1) {
      commands.xadd(`s:${index}`, '*', 'n', '1');
      commands.xgroup('CREATE', `s:${index}`, 'g', '0');
    }
    for (let index = 0; index < 50; index += 1) commands.xgroup('CREATE', 's:0', `group-${index}`, '0');
    for (let index = 0; index < 250; index += 1) commands.xadd('s:0', '*', 'n', '1');
    for (let index = 0; index < 120; index += 1)
      commands.xreadgroup('GROUP', 'g', `c-${index}`, 'COUNT', 2, 'STREAMS', 's:0', '>');
    for (let index = 0; index < 150; index += 1) commands.xadd('s:0:dlq', '*', 'n', '1');
    await commands.exec();
    tree.settings.keySeparator = '';
    tree.settings.pageSize = 500;
    await tree.root.connection.connect();
    const cost = async (node: TreeNode): Promise<number> => {
      const before = tree.roundTrips();
      await node.children();
      return tree.roundTrips() - before;
    };
    const costs = {
      connection: await cost(tree.root),
      stream: await cost(await nodeAt(tree.root, 's:0')),
      group: await cost(await nodeAt(tree.root, 's:0', 'g')),
      consumer: await cost(await nodeAt(tree.root, 's:0', 'g', 'c-0')),
      deadLetters: await cost(await nodeAt(tree.root, 's:0', 'Dead letters')),
    };
    assert.equal((await tree.root.children()).length, 301);
    for (const [level, trips] of Object.entries(costs)) assert.ok(trips <= 2, `${level} took ${trips} round trips`);
  });

  it('keeps the same objects, loaded pages and order over a refresh, and takes new figures', async () => {
    await seedOrders();
    const path = ['orders', 'billing', 'worker-1'] as const;
    const consumer = await nodeAt(tree.root, ...path);
    const entries = await consumer.children();
    await client.xadd('orders', '*', 'n', '9');
    tree.model.refresh(undefined);
    assert.equal(await nodeAt(tree.root, ...path), consumer);
    assert.deepEqual(await consumer.children(), entries);
    assert.equal((await nodeAt(tree.root, 'orders')).row().description, '4 · 2 groups · 3 pending');
    assert.match(
      (await nodeAt(tree.root, 'orders', 'shipping')).row().description,
      isBefore7() ? /^lag unknown / : /^lag 1 /,
    );
  });

  it('lists entries that share a millisecond each once over pages, and a refresh keeps the pages', async () => {
    const commands = client.pipeline();
    for (let seq = 0; seq < 25; seq += 1) commands.xadd('s', `1700000000000-${seq}`, 'n', '1');
    commands.xgroup('CREATE', 's', 'g', '0');
    commands.xreadgroup('GROUP', 'g', 'c', 'COUNT', 100, 'STREAMS', 's', '>');
    await commands.exec();
    tree.settings.pageSize = 10;
    const consumer = await nodeAt(tree.root, 's', 'g', 'c');
    const labels = async (): Promise<string[]> => (await consumer.children()).map((node) => node.row().label);
    const expected = (count: number): string[] => Array.from({ length: count }, (_, seq) => `1700000000000-${seq}`);
    assert.deepEqual(await labels(), [...expected(10), 'Load 10 more…']);
    for (const count of [20, 25]) {
      const more = (await consumer.children()).at(-1);
      assert.ok(more instanceof LoadMoreNode);
      assert.equal(more.row().description, 'of 25');
      more.parent.wantMore();
      assert.deepEqual(await labels(), count === 25 ? expected(25) : [...expected(20), 'Load 10 more…']);
    }
    tree.model.refresh(tree.root);
    await nodeAt(tree.root, 's', 'g', 'c');
    assert.deepEqual(await labels(), expected(25));
  });

  it('puts streams that share a prefix into folders, and a stream stays itself when it moves into one', async () => {
    await client.xadd('shop:orders:eu', '*', 'n', '1');
    const alone = await nodeAt(tree.root, 'shop:orders:eu');
    for (const key of ['shop:orders:us', 'shop:carts', 'other']) await client.xadd(key, '*', 'n', '1');
    tree.model.refresh(tree.root);
    assert.equal(
      (await treeText(tree.root))
        .split('\n')
        .filter((line) => !line.includes('No groups'))
        .slice(1)
        .join('\n'),
      [
        '  $(layers) other | 1 · no groups',
        '  $(folder) shop: | 3 streams',
        '    $(layers) shop:carts | 1 · no groups',
        '    $(folder) orders: | 2 streams',
        '      $(layers) shop:orders:eu | 1 · no groups',
        '      $(layers) shop:orders:us | 1 · no groups',
      ].join('\n'),
    );
    const inFolder = await nodeAt(tree.root, 'shop:', 'orders:', 'shop:orders:eu');
    assert.equal(inFolder, alone);
    assert.equal(inFolder.parent?.row().label, 'orders:');
  });

  it('shows only what a filter lets through, and says so', async () => {
    for (const key of ['orders', 'orders:dlq', 'carts']) await client.xadd(key, '*', 'n', '1');
    const labels = async (): Promise<string[]> => (await tree.root.children()).map((node) => node.row().label);
    tree.root.setFilter('orders');
    assert.deepEqual(await labels(), ['orders', 'orders:dlq']);
    assert.match(tree.root.row().description, /filter orders$/);
    tree.root.setFilter('*:dlq');
    assert.deepEqual(await labels(), ['orders:dlq']);
    tree.root.setFilter('nothing');
    assert.deepEqual(await labels(), ['No streams whose keys match nothing*.']);
    tree.root.setFilter(undefined);
    assert.equal((await labels()).length, 3);
  });

  it('says what it looked at when there is nothing', async () => {
    await client.set('a', '1');
    const [row] = (await tree.root.children()).map((node) => node.row());
    assert.equal(row?.label, 'No streams here yet.');
    assert.equal(row.description, 'every key was looked at');
  });

  it('shows a lag that the server does not know as unknown, with the reason', async () => {
    const now = Date.now();
    for (const seq of [1, 2, 3, 4]) await client.xadd('s', `${now}-${seq}`, 'n', '1');
    await client.xgroup('CREATE', 's', 'g', `${now}-2`);
    await client.xdel('s', `${now}-3`);
    const group = await nodeAt(tree.root, 's', 'g');
    assert.equal(group.row().description, 'lag unknown · 0 pending');
    assert.match(
      group.row().tooltip,
      isBefore7()
        ? /Lag \*\*unknown\*\*: servers before Redis 7/
        : /Lag \*\*unknown\*\*: entries were deleted at or after/,
    );
  });

  it('does not call the age of ids known that are ahead of the clock of the server', async () => {
    const ahead = `${Date.now() + 86_400_000}-0`;
    for (const key of ['ahead', 'ahead:dlq']) await client.xadd(key, ahead, 'n', '1');
    await client.xgroup('CREATE', 'ahead', 'g', '0');
    await client.xreadgroup('GROUP', 'g', 'c', 'STREAMS', 'ahead', '>');
    tree.settings.keySeparator = '';
    tree.model.refresh(undefined);
    const group = await nodeAt(tree.root, 'ahead', 'g');
    assert.match(group.row().description, /oldest unknown$/);
    assert.match(group.row().tooltip, /its id is ahead of the clock of the server/);
    assert.equal((await nodeAt(tree.root, 'ahead', 'Dead letters')).row().description, '1');
    assert.match((await nodeAt(group, 'c', ahead)).row().tooltip, /Age \*\*unknown\*\*/);
  });

  it('does not call the age of ids known that are no times', async () => {
    await client.xadd('s', '9007199254740993-18446744073709551615', 'n', '1');
    await client.xgroup('CREATE', 's', 'g', '0');
    await client.xreadgroup('GROUP', 'g', 'c', 'COUNT', 1, 'STREAMS', 's', '>');
    const group = await nodeAt(tree.root, 's', 'g');
    assert.equal(group.row().description, 'lag 0 · 1 pending · oldest unknown');
    const [entry] = await (await nodeAt(group, 'c')).children();
    assert.equal(entry?.row().label, '9007199254740993-18446744073709551615');
  });
});
