/** Operating a stream from the command line, on a real server: what is printed, for people and for programs, and what changes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { consumerName, createBus, entryId, groupName, streamKey } from '../../src/bus';
import type { Bus, EntryId } from '../../src/bus';
import { eventually } from '../support/eventually';
import { endWorkers, startWorker, workerFile } from './support/workerProcess';
import { WorkerWorld } from './support/workerWorld';
import type { WorkerStream } from './support/workerWorld';

interface Printed {
  readonly code: number | NodeJS.Signals;
  readonly text: string;
  /** The lines, when they are JSON. */
  readonly objects: readonly Readonly<Record<string, unknown>>[];
}

describe('The commands that operate a stream', () => {
  let world: WorkerWorld;
  let bus: Bus;
  before(async () => {
    world = await WorkerWorld.start();
    bus = createBus({ port: world.port });
  });
  afterEach(endWorkers);
  after(() => world.end());

  const run = async (stream: Pick<WorkerStream, 'key'>, ...args: readonly string[]): Promise<Printed> => {
    const process = startWorker([...args, '--stream', stream.key], {
      env: { REDIS_STREAMS_URL: world.server.url },
    });
    const code = await process.ended;
    const text = process.output();
    const lines = text.trim().split('\n');
    const isJson = args.includes('--json') && code !== 2 && text.trim() !== '';
    return { code, text, objects: isJson ? lines.map((line) => JSON.parse(line) as Record<string, unknown>) : [] };
  };

  /** A stream with dead letters of runs that failed, oldest first. */
  const withDeadLetters = async (count: number): Promise<{ stream: WorkerStream; ids: readonly EntryId[] }> => {
    const stream = await world.stream();
    const consumer = bus.consume(
      { exact: stream.key },
      { group: stream.group, retry: { maxDeliveries: 1 } },
      ({ fields }) => {
        throw fields.n === '1' ? new RangeError('one\u001b[31m') : new TypeError('no amount');
      },
    );
    await consumer.start();
    const deadLetters = bus.deadLetters({ exact: stream.key });
    for (let n = 1; n <= count; n += 1) {
      await stream.publish({ n: String(n), secret: 'canary' });
      await eventually(async () => (await deadLetters.count()) === n);
    }
    await consumer.close();
    return { stream, ids: (await deadLetters.list()).map(({ deadId }) => deadId) };
  };

  it('obeys no name that others gave: each is on one line, its control characters as escapes', async () => {
    const { key: usual } = await world.stream();
    const stream = { key: streamKey(`${usual}\u001b[31m\nnext`) };
    await world.port.add(stream.key, [Buffer.from('n'), Buffer.from('1')]);
    await world.port.createGroup(stream.key, groupName('up\u001b[2J\ndown\u202e'), entryId('0-0'));
    for (const command of ['inspect', 'trim --max-length 0']) {
      const { code, text } = await run(stream, ...command.split(' '));
      assert.equal(code, 0, text);
      assert.match(text, /up\\x1b\[2J\\ndown\\u202e/);
      assert.doesNotMatch(text, /\u001b|\u202e|^next|^down/m);
    }
  });

  it('ends without a word when its reader has seen enough', async () => {
    const { stream } = await withDeadLetters(1);
    const child = spawn(process.execPath, [workerFile, 'dlq', 'list', '--stream', stream.key], {
      env: { ...process.env, REDIS_STREAMS_URL: world.server.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    assert.deepEqual({ code, complaints }, { code: 0, complaints: '' });
  });

  it('inspect shows groups and consumers, and changes nothing', async () => {
    const stream = await world.stream();
    await stream.publish({}, {}, {});
    await stream.deliver('ana', 2);
    const before = await stream.pending();
    const { code, text } = await run(stream, 'inspect');
    assert.equal(code, 0, text);
    assert.match(text, new RegExp(`^${stream.key}: 3 entries, \\d+-\\d+ to \\d+-\\d+$`, 'm'));
    assert.match(text, /^billing +2 +1 +\d+-\d+/m);
    assert.match(text, /^ +ana +2 /m);
    const json = await run(stream, 'inspect', '--json');
    const [{ length, groups }] = json.objects as [{ length: number; groups: { pending: number; lag: number }[] }];
    assert.deepEqual([length, groups[0]?.pending, groups[0]?.lag], [3, 2, 1]);
    assert.deepEqual(
      (await stream.pending()).map(({ id, deliveryCount }) => [id, deliveryCount]),
      before.map(({ id, deliveryCount }) => [id, deliveryCount]),
    );
  });

  it('inspect says that there is no such stream, and ends with 1', async () => {
    const process = startWorker(['inspect', '--stream', 'nowhere'], { env: { REDIS_STREAMS_URL: world.server.url } });
    assert.equal(await process.ended, 1);
    assert.match(process.output(), /nowhere/);
  });

  it('dlq list tells of failures without the messages, and narrows', async () => {
    const { stream, ids } = await withDeadLetters(3);
    const { code, text } = await run(stream, 'dlq', 'list');
    assert.equal(code, 0, text);
    assert.equal(text.trim().split('\n').length, 4);
    assert.match(text, new RegExp(`^${ids[1] ?? ''} +\\d+-\\d+ +handler-error +1 +0 +TypeError: no amount$`, 'm'));
    assert.doesNotMatch(text, /canary|\u001b/, 'no payload, and nothing that a terminal would obey');
    const rest = await run(stream, 'dlq', 'list', '--json', '--after', ids[0] ?? '', '--limit', '1');
    assert.deepEqual(
      rest.objects.map(({ deadId }) => deadId),
      [ids[1]],
    );
    assert.deepEqual((await run(stream, 'dlq', 'list', '--json', '--reason', 'timeout')).objects, []);
  });

  it('dlq show prints one with its fields, and ends with 1 when there is none', async () => {
    const { stream, ids } = await withDeadLetters(1);
    const { code, text } = await run(stream, 'dlq', 'show', ids[0] ?? '');
    assert.equal(code, 0, text);
    assert.match(text, /^errorType +RangeError$/m);
    assert.match(text, /^ {2}secret {2}canary$/m);
    const [json] = (await run(stream, 'dlq', 'show', ids[0] ?? '', '--json')).objects;
    assert.deepEqual(json?.fields, [
      ['kind', 'test'],
      ['n', '1'],
      ['secret', 'canary'],
    ]);
    const none = await run(stream, 'dlq', 'show', '1-1');
    assert.deepEqual([none.code, none.text.trim()], [1, 'There is no dead letter 1-1']);
  });

  it('dlq replay says first what it would do, then does it, once', async () => {
    const { stream, ids } = await withDeadLetters(2);
    const dry = await run(stream, 'dlq', 'replay', '--all', '--dry-run', '--json');
    assert.deepEqual(
      dry.objects.map(({ status }) => status),
      ['would-replay', 'would-replay'],
    );
    assert.equal(await world.port.length(stream.key), 2);
    const one = await run(stream, 'dlq', 'replay', ids[0] ?? '', '--json');
    assert.deepEqual([one.code, one.objects[0]?.status], [0, 'replayed']);
    assert.equal(await world.port.length(stream.key), 3);
    const again = await run(stream, 'dlq', 'replay', ids[0] ?? '');
    assert.equal(again.code, 1, 'what was asked for could not be done');
    assert.equal(await world.port.length(stream.key), 3);
    assert.equal((await run(stream, 'dlq', 'replay', '--all', '--rate', '100')).code, 0);
    assert.equal(await bus.deadLetters({ exact: stream.key }).count(), 0);
  });

  it('dlq discard removes for good, but nothing by a dry run', async () => {
    const { stream, ids } = await withDeadLetters(3);
    const dry = await run(stream, 'dlq', 'discard', '--all', '--limit', '2', '--dry-run', '--json');
    assert.deepEqual(dry.objects, [{ wouldDiscard: 2, asked: 2 }]);
    assert.deepEqual((await run(stream, 'dlq', 'discard', ids[1] ?? '', '--json')).objects, [
      { discarded: 1, asked: 1 },
    ]);
    assert.equal((await run(stream, 'dlq', 'discard', ids[1] ?? '')).code, 1);
    assert.equal((await run(stream, 'dlq', 'discard', '--all')).code, 0);
    assert.equal(await bus.deadLetters({ exact: stream.key }).count(), 0);
  });

  for (const args of [
    ['dlq'],
    ['dlq', 'purge'],
    ['dlq', 'replay'],
    ['dlq', 'discard', '--limit', '2'],
    ['dlq', 'discard', '1-1', '--all'],
    ['dlq', 'show', 'x'],
    ['consumers'],
    ['trim'],
    ['trim', '--max-length', '1', '--min-id', '1-1'],
    ['trim', '--min-id', 'x'],
    ['inspect', 'nonsense'],
  ]) {
    it(`${args.join(' ')} is a usage error, and touches nothing`, async () => {
      const { stream } = await withDeadLetters(1);
      const { code, text } = await run(stream, ...args);
      assert.equal(code, 2, text);
      assert.match(text, /Usage: node worker\.js/);
      assert.equal(await bus.deadLetters({ exact: stream.key }).count(), 1);
    });
  }

  it('consumers reap removes who owns nothing and is idle, and nobody else', async () => {
    const stream = await world.stream();
    await stream.publish({}, {});
    const [first] = await stream.deliver('done', 1);
    await world.port.acknowledge(stream.key, stream.group, first === undefined ? [] : [first]);
    await stream.deliver('busy', 1);
    const args = ['consumers', 'reap', '--group', stream.group, '--json'];
    const patient = await run(stream, ...args);
    assert.equal(patient.code, 0, patient.text);
    assert.deepEqual(await stream.consumers(), ['busy', 'done'], 'an hour is the default');
    const { objects } = await run(stream, ...args, '--idle-ms', '0');
    assert.equal(objects.find(({ consumer }) => consumer === 'done')?.status, 'reaped');
    assert.deepEqual(await stream.consumers(), ['busy']);
  });

  it('trim removes what nobody needs any more, and says who needs the rest', async () => {
    const stream = await world.stream();
    const ids = await stream.publish({}, {}, {}, {}, {});
    await stream.deliver('ana', 3);
    await world.port.acknowledge(stream.key, stream.group, ids.slice(0, 2));
    const { code, text } = await run(stream, 'trim', '--max-length', '1');
    assert.equal(code, 0, text);
    assert.match(
      text,
      new RegExp(`^Removed 2 entries; group billing still needs what comes from ${ids[2] ?? ''} on$`, 'm'),
    );
    assert.equal(await world.port.length(stream.key), 3);
    await world.port.readGroup(stream.key, stream.group, consumerName('ana'), { count: 10 });
    await world.port.acknowledge(stream.key, groupName(stream.group), ids);
    const json = await run(stream, 'trim', '--min-id', ids[4] ?? '', '--json');
    assert.deepEqual(json.objects, [{ removed: 2 }]);
  });
});
