/** The reference worker as a program of its own on a real server: what it reads, what it may do, how it ends. */
import assert from 'node:assert/strict';
import { consumerName, streamKey } from '../../src/bus';
import { eventually } from '../support/eventually';
import { startWorker } from './support/workerProcess';
import { WorkerWorld } from './support/workerWorld';

/** Handlers for any file: what to do is told by the field `do`. */
const handlerText = `
export default async function (message, context) {
  const { do: what } = message.fields;
  console.log('begin', message.id, context.deliveryCount);
  if (what === 'number') throw 0.61803398;
  if (what === 'fail') throw new TypeError('no amount');
  if (what === 'exit') process.exit(7);
  if (what === 'stray') setTimeout(() => { throw new RangeError('too late'); }, 1);
  if (what === 'wait') await new Promise((resolve, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));
  if (what === 'never') await new Promise(() => {});
}`;

describe('The worker', () => {
  let world: WorkerWorld;
  let handler: string;

  before(async () => {
    world = await WorkerWorld.start();
    handler = world.handlerFile('handler.mjs', handlerText);
  });

  after(() => world.end());

  describe('reads', () => {
    it('its own pending entries first, then new ones, and acknowledges each after its handler', async () => {
      const stream = await world.stream();
      const [first] = await stream.publish({ n: '1' });
      await stream.deliver('ana', 1);
      const [second] = await stream.publish({ n: '2' });
      const args = [...stream.args, '--consumer', 'ana', '--handler', handler, '--max-messages', '2'];
      const worker = startWorker([...args, '--concurrency', '1']);
      assert.equal(await worker.ended, 0, worker.output());
      const begun = [...worker.output().matchAll(/^begin (\S+) (\d+)$/gm)].map(([, id, count]) => [id, count]);
      assert.deepEqual(begun, [
        [first, '2'],
        [second, '1'],
      ]);
      assert.deepEqual(await stream.pending(), []);
      assert.deepEqual(await stream.consumers(), [], 'a consumer that owns nothing is removed');
    });

    it('no more than it was asked to', async () => {
      const stream = await world.stream();
      await stream.publish({}, {}, {}, {}, {});
      const worker = startWorker([...stream.args, '--handler', handler, '--max-messages', '3']);
      assert.equal(await worker.ended, 0, worker.output());
      assert.equal(worker.output().match(/^begin/gm)?.length, 3);
      const left = await stream.pending();
      assert.deepEqual(
        left.map(({ deliveryCount }) => deliveryCount),
        left.map(() => 0),
        'what was read ahead is given back uncounted',
      );
    });

    it('what others let lie only when that is granted', async () => {
      const stream = await world.stream();
      await stream.publish({ n: 'lies' });
      const [lies] = await stream.deliver('gone', 1, 60_000);
      await stream.publish({ n: 'new' });
      const plain = startWorker([...stream.args, '--handler', handler, '--max-messages', '1']);
      assert.equal(await plain.ended, 0, plain.output());
      const [still] = await stream.pending(consumerName('gone'));
      assert.deepEqual([still?.id, still?.deliveryCount], [lies, 1]);
      const granted = startWorker([...stream.args, '--handler', handler, '--max-messages', '1', '--reclaim']);
      assert.equal(await granted.ended, 0, granted.output());
      assert.match(granted.output(), new RegExp(`begin ${String(lies)} 2`));
      assert.deepEqual(await stream.pending(), []);
    });

    it('a missing group only when creating it is granted, and else says so', async () => {
      const stream = await world.stream();
      await stream.publish({});
      const other = stream.args.with(-1, 'other');
      const refused = startWorker([...other, '--handler', handler]);
      assert.equal(await refused.ended, 1);
      assert.match(refused.output(), /there is no group other, and creating it was not granted/);
      assert.equal((await world.port.groupInfos(stream.key)).length, 1);
      const granted = startWorker([...other, '--handler', handler, '--create-group', '--max-messages', '1']);
      assert.equal(await granted.ended, 0, granted.output());
      assert.equal((await world.port.groupInfos(stream.key)).length, 2);
    });
  });

  describe('when a handler fails', () => {
    it('delivers again, and makes a dead letter of it only when that is granted', async () => {
      const stream = await world.stream();
      await stream.publish({ do: 'fail' });
      const plain = startWorker([...stream.args, '--handler', handler, '--max-messages', '4']);
      assert.equal(await plain.ended, 0, plain.output());
      assert.match(plain.output(), /The handler failed on \S+ delivery 4: TypeError: no amount\n\s+at .*handler\.mjs/);
      const dead = streamKey(`${stream.key}:dlq`);
      assert.equal(await world.port.length(dead), 0);
      assert.equal((await stream.pending())[0]?.deliveryCount, 4);
      await stream.publish({ do: 'fail' });
      const granted = startWorker([...stream.args, '--handler', handler, '--dead-letter', '--max-messages', '3']);
      assert.equal(await granted.ended, 0, granted.output());
      assert.equal(await world.port.length(dead), 1);
    });

    it('writes to the delivery journal of the stream only when that is granted', async () => {
      const stream = await world.stream();
      const journal = streamKey(`${stream.key}:journal`);
      await stream.publish({});
      const strict = startWorker([...stream.args, '--handler', handler, '--max-messages', '1']);
      assert.equal(await strict.ended, 0, strict.output());
      assert.equal(await world.port.length(journal), 0);
      await stream.publish({});
      const granted = startWorker([...stream.args, '--handler', handler, '--journal', '--max-messages', '1']);
      assert.equal(await granted.ended, 0, granted.output());
      const entries = await world.port.range(journal, { from: 'min', to: 'max', count: 10 });
      assert.deepEqual(
        entries.map(({ fields }) => String(fields[1])),
        ['delivered', 'acknowledged'],
      );
    });

    it('says that what was thrown is no Error, and does not print the value', async () => {
      const stream = await world.stream();
      await stream.publish({ do: 'number' });
      const worker = startWorker([...stream.args, '--handler', handler, '--max-messages', '1']);
      assert.equal(await worker.ended, 0);
      assert.match(worker.output(), /a value of type number, which is not an Error/);
      assert.doesNotMatch(worker.output(), /61803398/);
    });

    it('says that it called process.exit, keeps the message for a later delivery and ends with 4', async () => {
      const stream = await world.stream();
      const [id] = await stream.publish({ do: 'exit' });
      const worker = startWorker([...stream.args, '--handler', handler]);
      assert.equal(await worker.ended, 4);
      assert.match(worker.output(), /The handler called process\.exit\(7\)/);
      assert.deepEqual(
        (await stream.pending()).map((entry) => [entry.id, entry.deliveryCount]),
        [[id, 1]],
      );
    });

    it('says what threw outside of any message, and ends with 4', async () => {
      const stream = await world.stream();
      await stream.publish({ do: 'stray' });
      const worker = startWorker([...stream.args, '--handler', handler]);
      assert.equal(await worker.ended, 4);
      assert.match(worker.output(), /outside of any message: RangeError: too late/);
      assert.deepEqual(await stream.pending(), []);
    });

    it('says that it did not return in its time, and gives the slot back only when it ends', async () => {
      const stream = await world.stream();
      const [id] = await stream.publish({ do: 'never' });
      const options = ['--handler-timeout-ms', '100', '--close-ms', '0'];
      const worker = startWorker([...stream.args, '--handler', handler, ...options]);
      await eventually(() => worker.output().includes(`did not return from ${String(id)} within 100 ms`));
      worker.kill('SIGTERM');
      assert.equal(await worker.ended, 0, worker.output());
    });
  });

  describe('refuses a handler file that', () => {
    const files: readonly {
      readonly what: string;
      readonly name: string;
      readonly text: string;
      readonly says: RegExp;
    }[] = [
      { what: 'throws at load', name: 'throws.mjs', text: 'null.x;', says: /failed while it was loaded: TypeError: / },
      { what: 'exports nothing', name: 'nothing.mjs', text: 'const a = 1;', says: /it exports nothing\. Expected/ },
      {
        what: 'exports something else',
        name: 'other.cjs',
        text: 'exports.run = 1;',
        says: /it exports run\. Expected/,
      },
      { what: 'is not JavaScript', name: 'broken.mjs', text: 'export default (', says: /SyntaxError/ },
      { what: 'throws no Error', name: 'odd.cjs', text: 'throw "x"', says: /a value of type string, which is not an/ },
    ];
    for (const { what, name, text, says } of files) {
      it(`${what}, with 3, having read nothing`, async () => {
        const stream = await world.stream();
        await stream.publish({});
        const worker = startWorker([...stream.args, '--handler', world.handlerFile(name, text)]);
        assert.equal(await worker.ended, 3, worker.output());
        assert.match(worker.output(), says);
        assert.deepEqual(await stream.pending(), []);
        assert.deepEqual(await stream.consumers(), []);
      });
    }

    it('is not there, with 3', async () => {
      const stream = await world.stream();
      const worker = startWorker([...stream.args, '--handler', './not-there.js']);
      assert.equal(await worker.ended, 3);
      assert.match(worker.output(), /There is no handler file .*not-there\.js/);
    });

    it('calls process.exit at load, with 4', async () => {
      const stream = await world.stream();
      const worker = startWorker([...stream.args, '--handler', world.handlerFile('exits.mjs', 'process.exit(0);')]);
      assert.equal(await worker.ended, 4, worker.output());
      assert.match(worker.output(), /process\.exit\(0\)/);
    });

    it('is TypeScript where Node cannot run it, with 3 and what to do, and runs it where Node can', async () => {
      const stream = await world.stream();
      await stream.publish({});
      const file = world.handlerFile(
        'typed.ts',
        'export const handle = (message: { id: string }): void => console.log("typed", message.id);',
      );
      const worker = startWorker([...stream.args, '--handler', file, '--max-messages', '1']);
      const canRun = 'typescript' in process.features && process.features.typescript !== false;
      assert.equal(await worker.ended, canRun ? 0 : 3, worker.output());
      assert.match(
        worker.output(),
        canRun ? /typed \d+-0/ : /cannot run the TypeScript of typed\.ts\. Use Node 22\.18/,
      );
    });
  });

  describe('takes a handler', () => {
    const files: readonly (readonly [name: string, text: string])[] = [
      ['default.mjs', 'export default (message) => console.log("handled", message.id)'],
      ['named.mjs', 'export const handle = (message) => console.log("handled", message.id)'],
      ['function.cjs', 'module.exports = (message) => console.log("handled", message.id)'],
      ['property.cjs', 'exports.handle = (message) => console.log("handled", message.id)'],
      ['compiled.cjs', 'exports.__esModule = true; exports.default = (message) => console.log("handled", message.id)'],
    ];
    for (const [name, text] of files) {
      it(`from ${name}: ${text.slice(0, 30)}…`, async () => {
        const stream = await world.stream();
        const [id] = await stream.publish({});
        const file = world.handlerFile(name, text);
        const worker = startWorker([...stream.args, '--handler', file, '--max-messages', '1']);
        assert.equal(await worker.ended, 0, worker.output());
        assert.match(worker.output(), new RegExp(`handled ${String(id)}`));
      });
    }
  });

  describe('ends', () => {
    it('on SIGTERM within its time, giving back what it holds uncounted', async () => {
      const stream = await world.stream();
      const [id] = await stream.publish({ do: 'wait' });
      const worker = startWorker([...stream.args, '--handler', handler, '--close-ms', '0']);
      await eventually(() => worker.output().includes(`begin ${String(id)}`));
      worker.kill('SIGTERM');
      assert.equal(await worker.ended, 0, worker.output());
      assert.deepEqual(
        (await stream.pending()).map((entry) => [entry.id, entry.deliveryCount]),
        [[id, 0]],
      );
    });

    it('at once on a second SIGINT', async () => {
      const stream = await world.stream();
      await stream.publish({ do: 'never' });
      const worker = startWorker([...stream.args, '--handler', handler, '--close-ms', '50000']);
      await eventually(() => worker.output().includes('begin'));
      worker.kill('SIGINT');
      await eventually(() => worker.output().includes('Closing: SIGINT'));
      worker.kill('SIGINT');
      assert.equal(await worker.ended, 130);
    });

    it('by SIGKILL with its message pending, which another worker that reclaims then gets', async () => {
      const stream = await world.stream();
      const [id] = await stream.publish({ do: 'never' });
      const killed = startWorker([...stream.args, '--consumer', 'killed', '--handler', handler]);
      await eventually(() => killed.output().includes('begin'));
      killed.kill('SIGKILL');
      assert.equal(await killed.ended, 'SIGKILL');
      const [left] = await stream.pending();
      assert.deepEqual([left?.id, left?.consumer, left?.deliveryCount], [id, 'killed', 1]);
      const handled = world.handlerFile('handled.cjs', 'exports.handle = () => {}');
      const options = ['--reclaim', '--min-idle-ms', '300', '--handler', handled, '--max-messages', '1'];
      const second = startWorker([...stream.args, ...options]);
      assert.equal(await second.ended, 0, second.output());
      assert.match(second.output(), new RegExp(`Message ${String(id)} of billing, delivery 2`));
      assert.deepEqual(await stream.pending(), []);
    });
  });

  it('prints no field of a message and no password', async () => {
    const stream = await world.stream();
    await stream.publish({ secretname: 'secretvalue', do: 'fail' });
    const url = world.server.url.replace('redis://', 'redis://:secretpassword@');
    const worker = startWorker([...stream.args.with(2, url), '--handler', handler, '--log', 'json'], {});
    await eventually(() => /cannot be kept|Cannot go on|Failed|Reading/.test(worker.output()));
    worker.kill('SIGTERM');
    await worker.ended;
    assert.doesNotMatch(worker.output(), /secret/);
  });

  for (const [args, says] of [
    [['run'], /run needs --url/],
    [['run', '--url', 'redis://127.0.0.1:1'], /run needs --stream/],
    [['run', '--url', 'redis://127.0.0.1:1', '--stream', 's', '--group', 'g', '--max-messages', 'x'], /whole number/],
    [['run', '--url', 'redis://127.0.0.1:1', '--stream', 's', '--group', 'g', '--from', 'x'], /groupStart/],
    [['run', '--launch-file', '/nowhere/launch.json'], /cannot be read \(ENOENT\)/],
    [['run', '--stream', 's', 'redis://:secretpassword@127.0.0.1:1'], /^There is an argument without the name/],
  ] as const) {
    it(`ends with 2 for ${args.join(' ')}`, async () => {
      const worker = startWorker(args);
      assert.equal(await worker.ended, 2);
      assert.match(worker.output(), says);
      assert.doesNotMatch(worker.output(), /secretpassword/);
    });
  }
});
