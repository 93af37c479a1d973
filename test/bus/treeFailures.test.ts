// The tree where things go wrong: hostile names, what vanished between two clicks, users without permission, links that break.
// Every failure is a row where it happened, and the rest of the tree keeps working.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Redis } from 'ioredis';
import { entryId } from '../../src/bus';
import { eventually } from '../support/eventually';
import { isBefore7, serverUnderTest, startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { nodeAt, openTree, treeText } from '../support/treeText';
import type { TestTree } from '../support/treeText';
import type { TreeNode } from '../../src/tree/treeNode';

// Before 6.2 a user has no channels to begin with.
const noChannels = serverUnderTest().version.startsWith('6.0') ? '' : 'resetchannels';
const readOnlyUser = `reader on >look ~* ${noChannels} -@all +@read +@connection -@dangerous +info +command +role +time`;

describe('the tree where things go wrong', () => {
  let server: RedisServer;
  let client: Redis;
  let tree: TestTree;

  before(async () => {
    server = await startRedis({
      users: [
        readOnlyUser,
        'selector on >look ~* -@all +@read +@connection +info +command +role +time +select',
        `blind on >look ~* ${noChannels} -@all +@read -xinfo +@connection +info`,
      ],
    });
    client = new Redis(server.port, server.host);
  });
  after(async () => {
    client.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await client.flushall();
    tree = await openTree(server.url);
    tree.settings.keySeparator = '';
  });
  afterEach(() => {
    tree.dispose();
  });

  const urlOf = (user: string, password: string): string => `redis://${user}:${password}@${server.host}:${server.port}`;
  const labelsOf = async (node: TreeNode): Promise<string[]> =>
    (await node.children()).map((child) => child.row().label);

  it('shows hostile names as text that cannot disguise itself, and opens what they name', async () => {
    const names: readonly (readonly [Buffer, string])[] = [
      [Buffer.from(''), '""'],
      [Buffer.from('__proto__'), '__proto__'],
      [Buffer.from('constructor'), 'constructor'],
      [Buffer.from('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>'],
      [Buffer.from('[click](command:workbench.action.quit)'), '[click](command:workbench.action.quit)'],
      [Buffer.from('two\nlines\u0000'), String.raw`two\nlines\x00`],
      [Buffer.from('\u202egnp.exe'), String.raw`\u202egnp.exe`],
      [Buffer.from([0xff, 0x00, 0xfe]), String.raw`\xff\x00\xfe`],
      [Buffer.from('a/"b"'), 'a/"b"'],
      [Buffer.from('$(trash)'), '$(trash)'],
    ];
    for (const [name] of names) {
      await client.xadd(name, '1-1', 'n', '1');
      await client.xgroup('CREATE', name, name, '0');
      await client.xreadgroup('GROUP', name, name, 'COUNT', 1, 'STREAMS', name, '>');
    }
    const labels = await labelsOf(tree.root);
    assert.deepEqual([...labels].sort(), names.map(([, label]) => label).sort());
    const ids = new Set<string>();
    for (const [, label] of names) {
      const entry = await nodeAt(tree.root, label, label, label, '1-1');
      ids.add(entry.id);
      assert.equal(entry.row().kind, 'pending');
    }
    assert.equal(ids.size, names.length);
    for (const stream of await tree.root.children()) {
      const tooltips = [stream, ...(await stream.children())].map((node) => node.row().tooltip);
      for (const tooltip of tooltips) assert.doesNotMatch(tooltip, /<|\]\(|\$\(|\u202e/, tooltip);
    }
  });

  it('says that a group or a key is gone or no stream any more, and comes back after a refresh', async () => {
    await client.xadd('s', '1-1', 'n', '1');
    await client.xgroup('CREATE', 's', 'g', '0');
    await client.xreadgroup('GROUP', 'g', 'c', 'COUNT', 1, 'STREAMS', 's', '>');
    const stream = await nodeAt(tree.root, 's');
    const group = await nodeAt(stream, 'g');
    const consumer = await nodeAt(group, 'c');
    await client.xgroup('DESTROY', 's', 'g');
    const gone = 'the group is gone. It was destroyed, or its stream was deleted.';
    assert.deepEqual(await labelsOf(consumer), [`Cannot read pending entries of c on test: ${gone}`]);
    group.markStale();
    assert.deepEqual(await labelsOf(group), [`Cannot read consumers of g on test: ${gone}`]);
    await client.del('s');
    stream.markStale();
    assert.deepEqual(await labelsOf(stream), [
      'Cannot read groups of s on test: the key is gone. It was deleted, expired or evicted.',
    ]);
    await client.set('s', 'a string');
    assert.deepEqual(await labelsOf(stream), ['Cannot read groups of s on test: the key is not a stream any more.']);
    const [error] = await stream.children();
    assert.deepEqual(error?.row().flags, ['retry']);
    await client.del('s');
    await client.xadd('s', '1-1', 'n', '1');
    await client.xgroup('CREATE', 's', 'g', '0');
    assert.deepEqual(await labelsOf(stream), ['g'], 'an error is never kept');
    tree.model.refresh(undefined);
    assert.deepEqual(await labelsOf(tree.root), ['s']);
  });

  it('leaves out of a listing what vanished or changed its type while it was listed', async () => {
    for (const key of ['a', 'b', 'c']) await client.xadd(key, '1-1', 'n', '1');
    assert.deepEqual(await labelsOf(tree.root), ['a', 'b', 'c']);
    await client.del('a');
    await client.set('b', 'a string');
    tree.model.refresh(undefined);
    assert.deepEqual(await labelsOf(tree.root), ['c']);
  });

  it('reads only, under the documented read-only user, and trips no permission', async () => {
    await client.xadd('orders', '1-1', 'n', '1');
    await client.xgroup('CREATE', 'orders', 'g', '0');
    await client.xreadgroup('GROUP', 'g', 'c', 'COUNT', 1, 'STREAMS', 'orders', '>');
    await client.xadd('orders:dlq', '1-1', 'n', '1');
    await client.config('RESETSTAT');
    await client.call('ACL', 'LOG', 'RESET');
    const readOnly = await openTree(urlOf('reader', 'look'));
    try {
      const before = await client.xinfo('GROUPS', 'orders');
      const text = await treeText(readOnly.root);
      assert.match(text, /\$\(circle-slash\) 1-1/);
      assert.match(text, /\$\(watch\) 1-1/);
      assert.doesNotMatch(text, /\$\(error\)/);
      readOnly.model.refresh(undefined);
      await treeText(readOnly.root);
      assert.equal((await readOnly.root.reads.findEntry(entryId('1-1'), new AbortController().signal)).keys.length, 2);
      assert.deepEqual(await client.xinfo('GROUPS', 'orders'), before);
    } finally {
      readOnly.dispose();
    }
    assert.deepEqual(await client.call('ACL', 'LOG'), []);
    const stats = await client.info('commandstats');
    const used = [...stats.matchAll(/^cmdstat_([^:]+):calls=/gm)].map((match) => match[1] ?? '');
    const reads = new Set([
      'scan',
      'type',
      'xlen',
      'xinfo|groups',
      'xinfo|stream',
      'xinfo|consumers',
      'xrange',
      'xrevrange',
      'xpending',
      'time',
      'info',
    ]);
    const other = new Set([
      'command|info',
      'command|docs',
      'command',
      'auth',
      'hello',
      'ping',
      'client|setname',
      'client|setinfo',
      'client|id',
      'select',
      'role',
      'config|resetstat',
      'acl|log',
      'quit',
    ]);
    // Old servers count these as one, whatever their subcommand is.
    const withSubcommands = new Set(['xinfo', 'client', 'config', 'acl']);
    assert.deepEqual(
      used.filter((name) => !reads.has(name) && !other.has(name) && !(isBefore7() && withSubcommands.has(name))),
      [],
    );
    assert.ok(used.includes('xpending') && used.includes('scan'));
  });

  it('asks only once for keys out of reach of the user, also after its link was made anew', async () => {
    await client.xadd('mine', '1-1', 'n', '1');
    await client.xgroup('CREATE', 'mine', 'g', '0');
    await client.call('ACL', 'SETUSER', 'narrow', ...readOnlyUser.replace('~*', '~mine').split(' ').slice(1));
    await client.call('ACL', 'LOG', 'RESET');
    const denials = async (): Promise<number> => {
      const log = (await client.call('ACL', 'LOG')) as (string | number)[][];
      return log.reduce((sum, row) => sum + Number(row[row.indexOf('count') + 1]), 0);
    };
    const narrow = await openTree(urlOf('narrow', 'look'));
    try {
      assert.match(await treeText(narrow.root), /\$\(organization\) g/);
      const before = await denials();
      assert.ok(before > 0);
      await client.call('CLIENT', 'KILL', 'USER', 'narrow');
      await eventually(() => narrow.root.connection.state.kind === 'lost');
      await narrow.root.connection.connect();
      narrow.model.refresh(undefined);
      assert.match(await treeText(narrow.root), /\$\(organization\) g/);
      assert.equal(narrow.ports.length, 2);
      assert.equal(await denials(), before);
    } finally {
      narrow.dispose();
    }
  });

  it('names the permission that a user lacks, and offers the minimal ACL', async () => {
    await client.xadd('s', '1-1', 'n', '1');
    const blind = await openTree(urlOf('blind', 'look'));
    try {
      const text = await treeText(blind.root);
      assert.match(text, /\$\(lock\) s \| no permission/);
      assert.match(
        text,
        /\$\(error\) Cannot read groups of s on test: the user blind has no XINFO STREAM permission\./,
      );
      assert.match(text, /<error\+retry\+showMinimalAcl>/);
    } finally {
      blind.dispose();
    }
  });

  it('shows why a connection cannot be made, in one sentence without the password', async () => {
    const silent = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    });
    const chatty = createServer((socket) => {
      sockets.add(socket);
      socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));
      socket.on('error', () => socket.destroy());
    });
    const sockets = new Set<Socket>();
    const portOf = async (listener: typeof silent): Promise<number> => {
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      return (listener.address() as AddressInfo).port;
    };
    const closed = createServer();
    const closedPort = await portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    const silentPort = await portOf(silent);
    const httpPort = await portOf(chatty);
    const [locked, crowded] = await Promise.all([
      startRedis({ password: 'hunter2' }),
      startRedis({ password: 'hunter2', args: ['--maxclients', '1'] }),
    ]);
    const only = new Redis(crowded.port, crowded.host, { password: 'hunter2' });
    await only.ping();
    try {
      const cases: readonly (readonly [string, RegExp])[] = [
        [`redis://me:hunter2@127.0.0.1:${closedPort}`, /nothing answers there/],
        [urlOf('reader', 'hunter2'), /the server refused the password of user reader/],
        [`redis://me:hunter2@127.0.0.1:${httpPort}`, /what answers there is not Redis/],
        [`rediss://me:hunter2@${server.host}:${server.port}`, /TLS failed/],
        [`redis://me:hunter2@127.0.0.1:${silentPort}`, /it did not answer in time/],
        [`redis://selector:look@${server.host}:${server.port}/99`, /has no database with this number/],
        [`redis://me:hunter2@127.0.0.1:${closedPort}/0/1`, /its URL cannot be used/],
        [`redis://${locked.host}:${locked.port}`, /the server asks for the password of user default/],
        [`redis://:hunter2@${crowded.host}:${crowded.port}`, /the server takes no more clients/],
      ];
      const check = async (url: string, cause: RegExp): Promise<void> => {
        const failing = await openTree(url, { name: 'shop' });
        const [row] = (await failing.root.children()).map((node) => node.row());
        assert.equal(row?.kind, 'error', url);
        assert.match(row.label, /^Cannot connect to shop \(127\.0\.0\.1:\d+\): /);
        assert.match(row.label, cause);
        assert.doesNotMatch(JSON.stringify(failing.root.connection.state) + (await treeText(failing.root)), /hunter2/);
        failing.dispose();
      };
      await Promise.all(cases.map(([url, cause]) => check(url, cause)));
    } finally {
      for (const socket of sockets) socket.destroy();
      only.disconnect();
      await Promise.all([locked.stop(), crowded.stop()]);
      await Promise.all([silent, chatty].map((each) => new Promise((resolve) => each.close(resolve))));
    }
  });

  it('does not try again by itself after a failed attempt, however often it is drawn', async () => {
    const failing = await openTree(urlOf('reader', 'wrong'));
    const attempts = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
    await failing.root.children();
    const before = await attempts();
    for (let index = 0; index < 5; index += 1) {
      failing.root.markStale();
      await failing.root.children();
    }
    assert.equal(await attempts(), before);
    await assert.rejects(failing.root.connection.connect(), /refused the password/);
    assert.equal(await attempts(), before + 1);
    failing.dispose();
  });

  it('keeps what it showed when the link breaks, says so, and reads again when the server is back', async () => {
    const own = await startRedis();
    const other = new Redis(own.port, own.host, { maxRetriesPerRequest: null });
    const dying = await openTree(own.url, { name: 'shop' });
    const hold = dying.root.connection.hold();
    try {
      await other.xadd('s', '1-1', 'n', '1');
      assert.deepEqual(await labelsOf(dying.root), ['s']);
      await own.kill();
      dying.model.refresh(undefined);
      const labels = await eventually(async () => {
        dying.root.markStale();
        const found = await labelsOf(dying.root);
        return found.length === 2 && found;
      });
      assert.match(labels[0] ?? '', /^Cannot (?:connect to|read streams on) shop/);
      assert.equal(labels[1], 's');
      assert.match(dying.root.row().description, /^lost, retry in \d+ s$/);
      await own.restart();
      await other.xadd('s', '1-1', 'n', '1');
      await eventually(() => dying.root.connection.state.kind === 'connected');
      dying.model.refresh(undefined);
      assert.deepEqual(await labelsOf(dying.root), ['s']);
    } finally {
      hold.dispose();
      dying.dispose();
      other.disconnect();
      await own.stop();
    }
  });

  it('drops what it showed when the user disconnects, and connects again only when asked', async () => {
    await client.xadd('s', '1-1', 'n', '1');
    assert.deepEqual(await labelsOf(tree.root), ['s']);
    tree.root.connection.disconnect();
    assert.deepEqual(await labelsOf(tree.root), ['test is not connected.']);
    const [row] = (await tree.root.children()).map((node) => node.row());
    assert.equal(row?.command, 'redisStreams.connect');
    await tree.root.connection.connect();
    assert.deepEqual(await labelsOf(tree.root), ['s']);
  });

  it('never connects a connection that only the workspace names by itself', async () => {
    const named = await openTree(server.url, {
      setting: { user: undefined, workspace: [{ name: 'theirs', url: server.url, environment: 'local' }] },
    });
    const theirs = named.model.connectionNodes().find(({ profile }) => profile.name === 'theirs');
    assert.ok(theirs);
    assert.deepEqual(await labelsOf(theirs), ['theirs is not connected.']);
    assert.equal(named.ports.length, 0);
    await theirs.connection.connect();
    assert.deepEqual(await labelsOf(theirs), ['No streams here yet.']);
    named.dispose();
  });
});
