/**
 * The tree: round trips for each level, and the time from a click on a connection to its first stream row with 1,000 streams among
 * 10,000 keys, next to redis-cli asking for the same.
 */
import { execFileSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redisServer';
import type { RedisServer } from '../test/support/redisServer';
import { nodeAt, openTree } from '../test/support/treeText';
import type { TestTree } from '../test/support/treeText';
import type { TreeNode } from '../src/tree/treeNode';
import { figureOf, readBenchFlags, report } from './support/report';
import type { Figure } from './support/report';

const flags = readBenchFlags();
const rounds = flags.quick ? 5 : 21;
const streams = 1000;

async function main(): Promise<void> {
  const server = await startRedis();
  try {
    await seed(server);
    report('Tree', [...(await measureRoundTrips(server)), ...(await measureFirstRow(server))], flags);
  } finally {
    await server.stop();
  }
}

async function seed({ port, host }: RedisServer): Promise<void> {
  const client = new Redis(port, host);
  const commands = client.pipeline();
  for (let index = 0; index < 9 * streams; index += 1) commands.set(`cache:${index}`, 'x');
  for (let index = 0; index < streams; index += 1) {
    const key = `stream:${String(index).padStart(4, '0')}`;
    commands.xadd(key, '*', 'n', '1');
    commands.xgroup('CREATE', key, 'group', '0');
  }
  const busy = 'stream:0000';
  for (let index = 0; index < 2000; index += 1) commands.xadd(busy, '*', 'n', '1');
  for (let index = 0; index < 100; index += 1) {
    commands.xgroup('CREATE', busy, `group-${index}`, '0');
    commands.xreadgroup('GROUP', 'group', `consumer-${index}`, 'COUNT', index === 0 ? 500 : 5, 'STREAMS', busy, '>');
    commands.xadd(`${busy}:dlq`, '*', 'n', '1');
  }
  await commands.exec();
  client.disconnect();
}

/** The tree as it is asked for by whoever scrolls down: pages of 100, no folders, connected. */
async function connectedTree({ url }: RedisServer): Promise<TestTree> {
  const tree = await openTree(url, { settings: { keySeparator: '' } });
  await tree.root.connection.connect();
  return tree;
}

async function measureRoundTrips(to: RedisServer): Promise<Figure[]> {
  const tree = await connectedTree(to);
  const cost = async (level: string, node: TreeNode): Promise<Figure> => {
    const before = tree.roundTrips();
    const rows = (await node.children()).length;
    const trips = tree.roundTrips() - before;
    const isScan = level === 'connection';
    return figureOf(`round trips, ${level} (${rows} rows)`, '', [trips], {
      text: isScan ? 'one describes all rows, a scan step each 1,000 keys' : 'at most 2',
      met: (value) => value <= (isScan ? 12 : 2),
    });
  };
  const stream = 'stream:0000';
  const figures = [
    await cost('connection', tree.root),
    await cost('stream', await nodeAt(tree.root, stream)),
    await cost('group', await nodeAt(tree.root, stream, 'group')),
    await cost('consumer', await nodeAt(tree.root, stream, 'group', 'consumer-0')),
    await cost('dead letters', await nodeAt(tree.root, stream, 'Dead letters')),
  ];
  tree.dispose();
  return figures;
}

async function measureFirstRow(to: RedisServer): Promise<Figure[]> {
  const cold: number[] = [];
  const warm: number[] = [];
  const cli: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const tree = await openTree(to.url, { settings: { keySeparator: '' } });
    cold.push(await timed(() => tree.root.children()));
    tree.root.markStale();
    warm.push(await timed(() => tree.root.children()));
    tree.dispose();
    cli.push(
      await timed(async () => {
        askByCli(to);
      }),
    );
  }
  return [
    figureOf('first stream row, connecting included', 'ms', cold, { text: 'under 500', met: (value) => value < 500 }),
    figureOf('the same, refreshed', 'ms', warm),
    figureOf('redis-cli: scan, then XLEN and XINFO GROUPS of 100', 'ms', cli),
  ];
}

/** What the first page shows, asked for by hand: SCAN until its end, then XLEN and XINFO GROUPS of the first 100. */
function askByCli({ port }: RedisServer): void {
  const options = ['-p', String(port)];
  const keys: string[] = [];
  let cursor = '0';
  do {
    const scan = ['SCAN', cursor, 'TYPE', 'stream', 'COUNT', '10000'];
    const [next = '0', ...found] = execFileSync('redis-cli', [...options, ...scan], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
    keys.push(...found);
    cursor = next;
  } while (cursor !== '0');
  const first = keys.sort().slice(0, 100);
  execFileSync('redis-cli', options, { input: first.map((key) => `XLEN ${key}\nXINFO GROUPS ${key}\n`).join('') });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
