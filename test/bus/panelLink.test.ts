// A panel and its connection: what VS Code brought back connects to nothing that only the workspace names, and Retry connects.
import assert from 'node:assert/strict';
import { englishLocalizer as l10n } from '../../src/base/localize';
import { streamKey } from '../../src/bus';
import { ConnectionError } from '../../src/connections/connectionFailure';
import { InspectReader } from '../../src/panels/inspectReader';
import { PanelError } from '../../src/panels/panelError';
import { PanelLink } from '../../src/panels/panelLink';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { openTree } from '../support/treeText';
import type { TestTree } from '../support/treeText';

const never = new AbortController().signal;

describe('a panel', () => {
  let server: RedisServer;
  let tree: TestTree;

  beforeEach(async () => {
    server = await startRedis();
    tree = await openTree(server.url, {
      setting: { user: undefined, workspace: [{ name: 'theirs', url: server.url }] },
    });
  });
  afterEach(async () => {
    tree.dispose();
    await server.stop();
  });

  const connectionOf = (name: string): ReturnType<TestTree['connections']['list']>[number] => {
    const found = tree.connections.list().find(({ profile }) => profile.name === name);
    assert.ok(found);
    return found;
  };

  it('that was restored connects to what only the workspace names when it is asked to, not when it reads again', async () => {
    const theirs = connectionOf('theirs');
    const link = new PanelLink(true, l10n);
    for (let page = 0; page < 3; page += 1) {
      assert.throws(
        () => {
          link.check(theirs);
        },
        (error) =>
          PanelError.is(error, 'disconnected') && error.data.retriable && error.message.includes('Retry connects'),
      );
    }
    assert.equal(tree.ports.length, 0);
    await link.connect(theirs, never);
    link.check(theirs);
    const reader = new InspectReader(theirs, streamKey('orders'));
    assert.deepEqual((await reader.entries({ at: { kind: 'newest' }, count: 1 }, never)).entries, []);
  });

  it('that was restored reads at once over a connection of the user, and where somebody connected already', async () => {
    new PanelLink(true, l10n).check(connectionOf('test'));
    const theirs = connectionOf('theirs');
    await theirs.connect();
    const link = new PanelLink(true, l10n);
    link.check(theirs);
    theirs.disconnect();
    link.check(theirs);
  });

  it('connects on Retry after an attempt that failed, which reading alone never does', async () => {
    const mine = connectionOf('test');
    const reader = new InspectReader(mine, streamKey('orders'));
    const read = (): Promise<unknown> => reader.entries({ at: { kind: 'newest' }, count: 1 }, never);
    const link = new PanelLink(false, l10n);
    await server.kill();
    const isRefused = (error: unknown): boolean => ConnectionError.is(error, 'connection-refused');
    await assert.rejects(read(), isRefused);
    await assert.rejects(link.connect(mine, never), isRefused);
    await server.restart();
    await assert.rejects(read(), isRefused);
    await link.connect(mine, never);
    await read();
  });
});
