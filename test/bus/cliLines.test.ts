// "Copy as redis-cli": the lines run in a shell, whatever the names hold, and show what the node shows.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { openTree } from '../support/treeText';
import type { TestTree } from '../support/treeText';
import { redisCliLine } from '../../src/base/redisCli';
import { cliConnection } from '../../src/connections/cliConnection';
import type { ConnectionProfile } from '../../src/connections/profiles';
import { cliLinesOf } from '../../src/tree/cliLines';
import type { TreeNode } from '../../src/tree/treeNode';

const run = promisify(execFile);

describe('the redis-cli lines of nodes', () => {
  let server: RedisServer;
  let client: Redis;
  let tree: TestTree;

  before(async () => {
    server = await startRedis();
    client = new Redis(server.port, server.host);
    tree = await openTree(server.url);
    tree.settings.keySeparator = '';
  });
  after(async () => {
    tree.dispose();
    client.disconnect();
    await server.stop();
  });

  const names: readonly Buffer[] = [
    Buffer.from('orders'),
    Buffer.from('it\'s $(touch x) `y` "z"'),
    Buffer.from([0xff, 0x00, 0x22, 0x0a, 0x5c]),
    Buffer.from('\u202egnp.exe'),
    Buffer.from(''),
    Buffer.from('"quoted"'),
  ];
  for (const name of names) {
    it(`show the same for ${JSON.stringify(name.toString('latin1'))}`, async () => {
      await client.flushall();
      await client.xadd(name, '1-1', 'field', 'the value');
      await client.xgroup('CREATE', name, name, '0');
      await client.xreadgroup('GROUP', name, name, 'COUNT', 1, 'STREAMS', name, '>');
      tree.model.refresh(undefined);
      const seen: string[] = [];
      const visit = async (node: TreeNode): Promise<void> => {
        const lines = cliLinesOf(node, tree.root.profile, false);
        assert.ok(lines.length > 0, node.row().kind);
        for (const line of lines) {
          const { stdout } = await run('sh', ['-c', line]);
          assert.doesNotMatch(stdout, /^(?:ERR|NOGROUP|WRONGTYPE|Invalid)/m, line);
          seen.push(stdout);
        }
        for (const child of await node.children()) await visit(child);
      };
      await visit(tree.root);
      assert.equal(seen.filter((output) => output.includes('the value')).length, 2, 'XREVRANGE and XRANGE');
      assert.equal(seen.filter((output) => /^1-1$/m.test(output)).length >= 3, true);
    });
  }

  it('reach the same server, database and user, and never hold a password', async () => {
    const users = ['it/s on >look:1 ~* +@all', 'open on nopass ~* +@all'];
    const guarded = await startRedis({ password: 'pw', users });
    const profileOf = (url: string, source: ConnectionProfile['source'] = 'saved'): ConnectionProfile => ({
      ...tree.root.profile,
      url,
      source,
    });
    const at = `${guarded.host}:${guarded.port}`;
    const cases: readonly (readonly [ConnectionProfile, boolean, string, string])[] = [
      [profileOf(`redis://${at}/3`), true, 'pw', 'default db=3'],
      [profileOf(`valkey://it%2Fs@${at}?db=2`), true, 'look:1', 'it/s db=2'],
      [profileOf(`redis://open@${at}`), false, '', 'open db=0'],
      [profileOf(`redis://it%2Fs:\${env:PW}@${at}`, 'user setting'), false, 'look:1', 'it/s db=0'],
    ];
    try {
      for (const [profile, hasKept, password, expected] of cases) {
        const options = cliConnection(profile, hasKept);
        assert.doesNotMatch(options.join(' '), /pw|look|PW/);
        const line = redisCliLine(options, ['CLIENT', 'LIST']);
        const child = run('sh', ['-c', line]);
        child.child.stdin?.end(`${password}\n`);
        const { stdout } = await child;
        // Its own row; CLIENT INFO is younger than the oldest server.
        const own = stdout.split('\n').find((row) => row.includes(' cmd=client')) ?? '';
        const told = `${/ user=(\S+)/.exec(own)?.[1]} db=${/ db=(\d+)/.exec(own)?.[1]}`;
        assert.equal(told, expected, `${line}: ${stdout}`);
      }
      assert.deepEqual(cliConnection(profileOf('rediss://[::1]:7000/1'), false), [
        ...['-h', '::1', '-p', '7000', '-n', '1', '--tls'],
      ]);
      assert.deepEqual(cliConnection(profileOf('redis+cluster://a:1,b:2'), false), ['-u', 'redis://a:1', '-c']);
    } finally {
      await guarded.stop();
    }
  });
});
