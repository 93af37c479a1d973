// What Redis does not bound: thousands of groups, names and errors of megabytes. Panels and rows show what fits and say what does not.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { englishLocalizer as l10n } from '../../src/base/localize';
import { streamKey } from '../../src/bus';
import { connectionView } from '../../src/panels/connectionView';
import { InspectReader } from '../../src/panels/inspectReader';
import { whyNotPostable } from '../../src/panels/postable';
import { detailView, overviewView } from '../../src/panels/streamViews';
import type { EntryDetail, StreamOverview } from '../../src/protocol/streamPanel';
import type { TreeNode } from '../../src/tree/treeNode';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { nodeAt, openTree } from '../support/treeText';
import type { TestTree } from '../support/treeText';

const never = new AbortController().signal;
const megabytes = 'x'.repeat(2 * 1024 * 1024);

describe('what has no bounds in Redis', () => {
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
    tree = await openTree(server.url, { settings: { keySeparator: '' } });
  });
  afterEach(() => {
    tree.dispose();
  });

  const overviewOf = async (key: string): Promise<StreamOverview> => {
    const { connection } = tree.root;
    const facts = await new InspectReader(connection, streamKey(key)).overview(never);
    return overviewView(streamKey(key), connectionView(connection, l10n), facts);
  };
  const detailOf = async (key: string, id: string): Promise<EntryDetail> => {
    const facts = await new InspectReader(tree.root.connection, streamKey(key)).entry(id, never);
    assert.ok(facts);
    return detailView(streamKey(key), facts, l10n);
  };

  it('is told in one message of a stream with 5,000 groups, where it is pending first', async () => {
    await client.xadd('orders', '1-1', 'n', '1');
    const names = Array.from({ length: 5000 }, (_, index) => `group-with-a-rather-long-name-${index}`);
    const pipeline = client.pipeline();
    for (const name of names) pipeline.xgroup('CREATE', 'orders', name, '$');
    pipeline.xgroup('SETID', 'orders', names[4999] ?? '', '0');
    pipeline.xreadgroup('GROUP', names[4999] ?? '', 'c', 'STREAMS', 'orders', '>');
    await pipeline.exec();
    const [overview, detail] = await Promise.all([overviewOf('orders'), detailOf('orders', '1-1')]);
    assert.equal(whyNotPostable(overview), undefined);
    assert.equal(whyNotPostable(detail), undefined);
    assert.deepEqual([overview.groupCount, detail.groupCount], [5000, 5000]);
    assert.ok(overview.groups.length >= 1000, String(overview.groups.length));
    assert.equal(detail.standings[0]?.group.text, names[4999]);
    assert.equal(detail.standings[0]?.state, 'pending');
  });

  it('leaves out a group with a name of megabytes and shows the others', async () => {
    await client.xadd('orders', '1-1', 'n', '1');
    for (const name of ['a', megabytes, 'z']) await client.xgroup('CREATE', 'orders', name, '0');
    const [overview, detail] = await Promise.all([overviewOf('orders'), detailOf('orders', '1-1')]);
    for (const view of [overview, detail]) {
      assert.equal(whyNotPostable(view), undefined);
      assert.equal(view.groupCount, 3);
    }
    assert.deepEqual(
      overview.groups.map(({ name }) => name.text),
      ['a', 'z'],
    );
    assert.deepEqual(
      detail.standings.map(({ group }) => group.text),
      ['a', 'z'],
    );
  });

  it('does not hide an entry behind dead letters with errors of megabytes', async () => {
    await client.xadd('orders', '1-1', 'n', '1');
    await client.xadd('orders:dlq', '2-1', 'originalId', '1-1', 'deliveries', '3', 'reason', megabytes);
    await client.xadd('orders:dlq', '3-1', 'original_id', '1-1', 'error', megabytes, 'payload', 'p', 'failed_at', '1');
    const origin = await detailOf('orders', '1-1');
    for (const view of [origin, await detailOf('orders:dlq', '2-1'), await detailOf('orders:dlq', '3-1')])
      assert.equal(whyNotPostable(view), undefined);
    assert.equal(origin.history.filter(({ outcome }) => outcome === 'bad').length, 2);
    for (const letter of await (await nodeAt(tree.root, 'orders', 'Dead letters')).children())
      assert.ok(letter.row().tooltip.length < 5000);
  });

  it('is cut in rows, which stay apart and can be opened', async () => {
    const keys = [`${megabytes}a`, `${megabytes}b`];
    for (const key of keys) {
      await client.xadd(key, '1-1', 'n', '1');
      await client.xgroup('CREATE', key, key, '0');
      await client.xreadgroup('GROUP', key, key, 'STREAMS', key, '>');
    }
    const ids = new Set<string>();
    const visit = async (node: TreeNode): Promise<void> => {
      const { label, description, tooltip, accessibilityLabel } = node.row();
      for (const text of [label, description, tooltip, accessibilityLabel, node.id]) assert.ok(text.length < 5000);
      ids.add(node.id);
      for (const child of await node.children()) await visit(child);
    };
    await visit(tree.root);
    assert.equal(ids.size, 1 + 2 * 4);
  });
});
