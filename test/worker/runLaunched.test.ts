/**
 * The worker as an editor launches it: launch file, lifeline, and what happens when the editor is gone, whatever the worker is doing.
 * The editor's side is the extension's own code.
 */
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { consumerName, groupName, minEntryId } from '../../src/bus';
import type { EntryId } from '../../src/bus';
import { writeLaunchFile } from '../../src/debugging/launchFile';
import type { LaunchFileOnDisk, WorkerLaunch } from '../../src/debugging/launchFile';
import { LifelineServer } from '../../src/debugging/lifelineServer';
import type { WorkerMessage } from '../../src/debugging/lifelineServer';
import { parseLaunchFile } from '../../src/worker/run/launchFile';
import { watchLifeline } from '../../src/bus/consume/lifeline';
import { eventually } from '../support/eventually';
import { InspectorClient } from './support/inspectorClient';
import { startWorker } from './support/workerProcess';
import type { WorkerProcess } from './support/workerProcess';
import { WorkerWorld } from './support/workerWorld';
import type { WorkerStream } from './support/workerWorld';

const handlerText = `
exports.handle = async (message, context) => {
  const { do: what } = message.fields;
  console.log('begin', message.id);
  if (what === 'wait') await new Promise((resolve, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));
  if (what === 'never') await new Promise(() => {});
  if (what === 'busy') for (;;);
  if (what === 'break') debugger;
  if (what === 'long') await new Promise((resolve) => setTimeout(resolve, 300));
};`;

const noGrant = { createGroup: false, reclaim: false, deadLetter: false };

/** An editor that launched one worker. */
class Editor {
  readonly said: WorkerMessage[] = [];
  hasEnded = false;
  readonly lifeline = new LifelineServer({
    said: (message) => this.said.push(message),
    ended: () => {
      this.hasEnded = true;
    },
  });
  file: LaunchFileOnDisk | undefined;

  async launch(
    launch: Omit<WorkerLaunch, 'lifeline' | 'grant'> & Partial<WorkerLaunch>,
    nodeArgs: readonly string[] = [],
  ): Promise<WorkerProcess> {
    const port = await this.lifeline.listen();
    this.file = writeLaunchFile({ grant: noGrant, ...launch, lifeline: { port, token: this.lifeline.token } });
    return startWorker(['run', '--launch-file', this.file.path], { nodeArgs });
  }

  /** Waits until the worker has told that a message is with the handler. */
  async delivered(id: EntryId | undefined): Promise<void> {
    const isTold = (): boolean => this.said.some((message) => message.type === 'delivered' && message.id === id);
    await eventually(isTold, { what: 'the delivery to be told' });
  }

  close(): void {
    this.lifeline.dispose();
    this.file?.remove();
  }
}

describe('A launched worker', () => {
  let world: WorkerWorld;
  let handler: string;
  let editors: Editor[] = [];

  before(async () => {
    world = await WorkerWorld.start();
    handler = world.handlerFile('handler.cjs', handlerText);
  });

  afterEach(() => {
    for (const editor of editors) editor.close();
    editors = [];
  });

  after(() => world.end());

  const open = (): Editor => {
    const editor = new Editor();
    editors.push(editor);
    return editor;
  };

  const launchOf = ({ key, group }: WorkerStream): Omit<WorkerLaunch, 'lifeline' | 'grant'> => ({
    url: world.server.url,
    stream: key,
    group,
    consumer: 'debugger',
    handler,
  });

  /** A worker that a debugger has stopped in its handler, and the message that it has. */
  const pausedIn = async (
    stream: WorkerStream,
    launch: ReturnType<typeof launchOf>,
  ): Promise<{ editor: Editor; worker: WorkerProcess; inspector: InspectorClient; id: EntryId | undefined }> => {
    const editor = open();
    const worker = await editor.launch(launch, ['--inspect=127.0.0.1:0']);
    const inspector = await InspectorClient.attach(worker);
    inspector.send('Debugger.enable');
    await eventually(() => editor.said.some(({ type }) => type === 'ready'));
    const [id] = await stream.publish({ do: 'break' });
    await inspector.saw('Debugger.paused');
    await editor.delivered(id);
    return { editor, worker, inspector, id };
  };

  /** What is pending, as `[id, delivery count]`. */
  const pending = async (stream: WorkerStream): Promise<(readonly [EntryId, number])[]> =>
    (await stream.pending()).map(({ id, deliveryCount }) => [id, deliveryCount] as const);

  it('takes its launch file away at once and reads from it what the extension wrote', async () => {
    const stream = await world.stream();
    const editor = open();
    const worker = await editor.launch({ ...launchOf(stream), maxMessages: 1 });
    const file = editor.file?.path ?? '';
    await eventually(() => editor.said.some(({ type }) => type === 'ready'));
    assert.equal(existsSync(file), false);
    assert.equal(existsSync(path.dirname(file)), true);
    await stream.publish({});
    assert.equal(await worker.ended, 0, worker.output());
    editor.file?.remove();
    assert.equal(existsSync(path.dirname(file)), false);
  });

  it('has a launch file that only this user can read', () => {
    const launch: WorkerLaunch = {
      url: 'redis://:secret@127.0.0.1:1',
      lifeline: { port: 1, token: 't' },
      stream: 'orders "é',
      group: 'g',
      consumer: 'c',
      grant: { createGroup: true, reclaim: false, deadLetter: true, journal: true },
      handler: '/h.js',
      maxMessages: 3,
      from: '0',
      ownGroup: { formerConsumers: ['a'] },
      entryLink: 'vscode://x/',
    };
    const file = writeLaunchFile(launch);
    try {
      assert.equal(statSync(file.path).mode & 0o777, 0o600);
      assert.equal(statSync(path.dirname(file.path)).mode & 0o777, 0o700);
    } finally {
      file.remove();
    }
    assert.deepEqual(parseLaunchFile(JSON.stringify({ version: 1, ...launch })), { version: 1, ...launch });
  });

  it('refuses a launch file that is wrong, names the field and shows no value', async () => {
    const file = world.handlerFile('launch.json', '');
    const broken = ['{', '{"version":2}', '{"version":1,"lifeline":{},"grant":{},"url":"redis://:secret@h"}'];
    for (const text of broken) {
      writeFileSync(file, text);
      const worker = startWorker(['run', '--launch-file', file]);
      assert.equal(await worker.ended, 2);
      assert.match(worker.output(), /launch file/);
      assert.doesNotMatch(worker.output(), /secret/);
      assert.equal(existsSync(file), false);
    }
  });

  it('tells the editor of every message and what became of it', async () => {
    const stream = await world.stream();
    const editor = open();
    const [id] = await stream.publish({ do: 'long' });
    const worker = await editor.launch({ ...launchOf(stream), maxMessages: 1, entryLink: 'vscode://open?entry=' });
    assert.equal(await worker.ended, 0, worker.output());
    await eventually(() => editor.hasEnded);
    assert.deepEqual(editor.said, [
      { type: 'hello', pid: worker.pid },
      { type: 'ready', group: 'billing', consumer: 'debugger' },
      { type: 'delivered', id, deliveryCount: 1 },
      { type: 'settled', id, outcome: 'acknowledged' },
      { type: 'bye', exitCode: 0 },
    ]);
    assert.match(worker.output(), new RegExp(`delivery 1, vscode://open\\?entry=${String(id)}`));
  });

  it('ends with 5 and touches no server when the editor is gone before it starts', async () => {
    const stream = await world.stream();
    const editor = open();
    const worker = await editor.launch(launchOf(stream));
    editor.lifeline.dispose();
    assert.equal(await worker.ended, 5, worker.output());
    assert.deepEqual(await stream.consumers(), []);
  });

  it('is told whether it may come to its end by itself, or is paused and must not run on', async () => {
    const ends: string[] = [];
    for (const end of [{ isPaused: false }, { isPaused: true }, undefined]) {
      const editor = open();
      const port = await editor.lifeline.listen();
      watchLifeline({ port, hello: editor.lifeline.token }, (how) => ends.push(how));
      await eventually(() => editor.lifeline.connections === 1);
      if (end) editor.lifeline.stop(end);
      else editor.lifeline.dispose();
      await eventually(() => ends.length === editors.length);
    }
    assert.deepEqual(ends, ['in-time', 'now', 'in-time']);
  });

  it('talks only to who knows the secret', async () => {
    const editor = open();
    const port = await editor.lifeline.listen();
    const ends = ['wrong', `${editor.lifeline.token}x`, ''].map(
      (line) =>
        new Promise<void>((resolve) => {
          const socket = connect({ host: '127.0.0.1', port }, () =>
            socket.write(`${line}\n{"type":"hello","pid":1}\n`),
          );
          socket.once('close', () => {
            resolve();
          });
          socket.on('error', () => undefined);
        }),
    );
    await Promise.all(ends);
    assert.deepEqual(editor.said, []);
    assert.equal(editor.lifeline.connections, 0);
  });

  describe('gives back what it holds, its delivery uncounted, and is gone', () => {
    const cases: readonly { readonly what: string; readonly does: string; readonly ends: number | NodeJS.Signals }[] = [
      { what: 'while its handler waits', does: 'wait', ends: 5 },
      { what: 'while its handler ignores that it should stop', does: 'never', ends: 5 },
      { what: 'while its handler keeps the thread busy', does: 'busy', ends: 'SIGKILL' },
    ];
    for (const { what, does, ends } of cases) {
      it(`when the lifeline is cut ${what}`, async () => {
        const stream = await world.stream();
        const editor = open();
        const [id] = await stream.publish({ do: does });
        await stream.publish({ do: 'never' });
        const worker = await editor.launch(launchOf(stream));
        await editor.delivered(id);
        assert.deepEqual(await pending(stream), [[id, 1]], 'it holds one message at a time');
        editor.lifeline.dispose();
        assert.equal(await worker.ended, ends, worker.output());
        assert.deepEqual(await pending(stream), [[id, 0]]);
        const second = open();
        const next = await second.launch({
          ...launchOf(stream),
          consumer: 'next',
          grant: { ...noGrant, reclaim: true },
        });
        await second.delivered(id);
        const [taken] = await stream.pending(consumerName('next'));
        assert.deepEqual(
          [taken?.id, taken?.deliveryCount],
          [id, 1],
          'whoever reclaims gets it at once, as its first delivery',
        );
        next.kill('SIGKILL');
      });
    }

    it('when the lifeline is cut while it is paused by a debugger', async () => {
      const stream = await world.stream();
      const { editor, worker, inspector, id } = await pausedIn(stream, launchOf(stream));
      editor.lifeline.dispose();
      assert.equal(await worker.ended, 'SIGKILL', worker.output());
      inspector.detach();
      assert.deepEqual(await pending(stream), [[id, 0]]);
    });

    it('when the lifeline is cut while it is paused between two messages, and one came meanwhile', async () => {
      const stream = await world.stream();
      const editor = open();
      const ticking = world.handlerFile('ticking.cjs', 'setInterval(() => {}, 20); exports.handle = () => {};');
      const [before] = await stream.publish({});
      const worker = await editor.launch({ ...launchOf(stream), handler: ticking }, ['--inspect=127.0.0.1:0']);
      const inspector = await InspectorClient.attach(worker);
      inspector.send('Debugger.enable');
      await editor.delivered(before);
      await eventually(async () => (await stream.pending()).length === 0, { what: 'the first to be acknowledged' });
      await eventually(() => world.countBlocked().then((count) => count === 1), { what: 'the next read to block' });
      inspector.send('Debugger.pause');
      await inspector.saw('Debugger.paused');
      const [id] = await stream.publish({});
      await eventually(async () => (await pending(stream)).length === 1, { what: 'the blocked read to be served' });
      assert.deepEqual(await pending(stream), [[id, 1]]);
      editor.lifeline.dispose();
      assert.equal(await worker.ended, 'SIGKILL', worker.output());
      inspector.detach();
      assert.deepEqual(await pending(stream), [[id, 0]]);
    });

    it('when the editor asks for it while its handler keeps the thread busy', async () => {
      const stream = await world.stream();
      const editor = open();
      const [id] = await stream.publish({ do: 'busy' });
      const worker = await editor.launch(launchOf(stream));
      await editor.delivered(id);
      editor.lifeline.stop();
      assert.equal(await worker.ended, 'SIGKILL', worker.output());
      assert.deepEqual(await pending(stream), [[id, 0]]);
    });

    it('when the editor asks for it while it is paused by a debugger', async () => {
      const stream = await world.stream();
      const { editor, worker, inspector, id } = await pausedIn(stream, launchOf(stream));
      editor.lifeline.stop({ isPaused: true });
      assert.equal(await worker.ended, 'SIGKILL', worker.output());
      inspector.detach();
      assert.deepEqual(await pending(stream), [[id, 0]]);
    });

    it('when the editor asks for it while its handler waits', async () => {
      const stream = await world.stream();
      const editor = open();
      const [id] = await stream.publish({ do: 'wait' });
      const worker = await editor.launch(launchOf(stream));
      await editor.delivered(id);
      editor.lifeline.stop();
      assert.equal(await worker.ended, 0, worker.output());
      assert.deepEqual(await pending(stream), [[id, 0]]);
    });

    it('when the handler file never comes to its end', async () => {
      const stream = await world.stream();
      await stream.publish({});
      const editor = open();
      const file = world.handlerFile('endless.cjs', 'console.log("loading"); for (;;);');
      const worker = await editor.launch({ ...launchOf(stream), handler: file });
      await eventually(() => worker.output().includes('loading'));
      editor.lifeline.dispose();
      assert.equal(await worker.ended, 'SIGKILL', worker.output());
      assert.deepEqual(await pending(stream), []);
      assert.deepEqual(await stream.consumers(), []);
    });
  });

  describe('with a group of its own', () => {
    const own = (stream: WorkerStream, from = '0'): Omit<WorkerLaunch, 'lifeline'> => ({
      ...launchOf(stream),
      group: 'billing-debug-ana',
      from,
      grant: { ...noGrant, createGroup: true },
      ownGroup: { formerConsumers: ['former'] },
    });
    const groups = async (stream: WorkerStream): Promise<string[]> =>
      (await world.port.groupInfos(stream.key)).map(({ name }) => name).sort();

    it('begins it where it is told, changes nothing of the real one, and removes it at the end', async () => {
      const stream = await world.stream();
      await stream.publish({}, {});
      await stream.deliver('live', 1);
      const before = await stream.pending();
      const [, second] = await world.port.range(stream.key, { from: 'min', to: 'max', count: 2 });
      const [first] = before;
      const editor = open();
      const worker = await editor.launch({ ...own(stream, first?.id), maxMessages: 1 });
      await editor.delivered(second?.id);
      assert.equal(await worker.ended, 0, worker.output());
      assert.deepEqual(await groups(stream), ['billing']);
      assert.deepEqual(
        (await stream.pending()).map(({ id, consumer, deliveryCount }) => [id, consumer, deliveryCount]),
        [[first?.id, 'live', 1]],
      );
      const [real] = await world.port.groupInfos(stream.key);
      assert.equal(real?.lastDeliveredId, first?.id);
    });

    it('removes it also when the lifeline is cut', async () => {
      const stream = await world.stream();
      const [id] = await stream.publish({ do: 'wait' });
      const editor = open();
      const worker = await editor.launch(own(stream));
      await editor.delivered(id);
      editor.lifeline.dispose();
      assert.equal(await worker.ended, 5, worker.output());
      assert.deepEqual(await groups(stream), ['billing']);
    });

    it('reads nothing when somebody else is in it, and leaves it', async () => {
      const stream = await world.stream();
      await stream.publish({});
      const group = groupName('billing-debug-ana');
      await world.port.createGroup(stream.key, group, minEntryId);
      await world.port.readGroup(stream.key, group, consumerName('stranger'), { count: 1 });
      const editor = open();
      const worker = await editor.launch(own(stream));
      assert.equal(await worker.ended, 1, worker.output());
      assert.ok(editor.said.some((message) => message.type === 'error' && message.reason === 'group-in-use'));
      assert.deepEqual(await groups(stream), ['billing', 'billing-debug-ana']);
    });
  });

  it('ends also when its server is gone when the lifeline is cut', async () => {
    const own = await WorkerWorld.start();
    try {
      const stream = await own.stream();
      const editor = open();
      const [id] = await stream.publish({ do: 'busy' });
      const worker = await editor.launch({ ...launchOf(stream), url: own.server.url });
      await editor.delivered(id);
      await own.server.kill();
      editor.lifeline.dispose();
      assert.equal(await worker.ended, 'SIGKILL', worker.output());
    } finally {
      await own.end();
    }
  });

  it('keeps its message while it is paused, although another worker reclaims all the time', async () => {
    const stream = await world.stream();
    const { worker, inspector, id } = await pausedIn(stream, { ...launchOf(stream), maxMessages: 1 });
    const taker = world.handlerFile('taker.cjs', 'exports.handle = () => {}');
    const options = ['--handler', taker, '--reclaim', '--min-idle-ms', '3000', '--consumer', 'other'];
    const other = startWorker([...stream.args, ...options]);
    const beganAtMs = await world.port.serverTimeMs();
    await eventually(async () => (await world.port.serverTimeMs()) > beganAtMs + 11_000, {
      timeoutMs: 50_000,
      intervalMs: 500,
      what: 'three times the minimum idle time to go by',
    });
    const [proof] = await stream.publish({ n: 'proof' });
    await eventually(() => other.output().includes(`Acknowledged ${String(proof)}`), {
      what: 'the other to be at work',
    });
    const [held] = await stream.pending();
    assert.deepEqual([held?.id, held?.consumer, held?.deliveryCount], [id, 'debugger', 1]);
    inspector.send('Debugger.resume');
    await eventually(async () => (await stream.pending()).length === 0, { what: 'the message to be acknowledged' });
    inspector.detach();
    assert.equal(await worker.ended, 0, worker.output());
    assert.doesNotMatch(other.output(), new RegExp(`Message ${String(id)}`));
    other.kill('SIGTERM');
    assert.equal(await other.ended, 0);
  });
});
