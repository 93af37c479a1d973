// Debugging the worker in a real VS Code on a real Redis: from the tree to the stop in the handler's TypeScript, what nobody else may
// notice of it, what is refused, and what is left when a session ends in any way. The worker itself: test/worker/run*.test.ts.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { DebugWorld, noWorkerLeft, serverPassword, startedWith, workerProcesses } from './support/debugWorld';
import { useWindow } from './support/useWindow';

const extensionId = 'redis-streams.redis-streams-debugger';

describe('Debugging a worker in VS Code', () => {
  let world: DebugWorld;
  let sampleHandler: string;
  let firstLine: number;
  const handlers = {
    'throws.mjs': 'throw new RangeError("not today");',
    'waits.mjs': `export async function handle(message, context) {
  const { id } = message;
  await new Promise((resolve, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));
  return id;
}
`,
  };
  const window = useWindow({ files: handlers, settings: { 'redisStreams.autoRefreshSeconds': 0 } });
  const tree = (): ReturnType<ReturnType<typeof window>['tree']> => window().tree('Explorer');

  before(async () => {
    world = await DebugWorld.start();
  });
  after(() => world.end());
  afterEach(async () => {
    await window().bridge.removeBreakpoints();
    await window().bridge.stopDebugging();
    await window().debug.ended();
    await noWorkerLeft();
    await window().notifications.clear();
  });

  const launch = (attributes: Readonly<Record<string, unknown>>): Promise<boolean> =>
    window().bridge.startDebugging({
      type: 'redis-streams-worker',
      request: 'launch',
      name: 'Test',
      connection: 'shop',
      ...attributes,
    });

  it('is offered on a connection that was added, and shows where the sample handler is', async () => {
    await world.connect(window(), 'shop', 'local');
    const { path } = await window().bridge.extension(extensionId);
    sampleHandler = join(path, 'src', 'worker', 'sampleHandler.ts');
    const lines = readFileSync(sampleHandler, 'utf8').split('\n');
    firstLine = 1 + lines.findIndex((line) => line.includes('const type = message.fields.type'));
    assert.ok(firstLine > 0);
    await window().runCommand('Redis Streams: Open Sample Handler');
    await window().editors.isActive('sampleHandler.ts');
  });

  it('stops in the TypeScript of the handler on a real message, from the tree; nobody else notices', async () => {
    const ids = await world.stream('orders', { pending: 50, undelivered: 50 });
    const before = await world.groupState('orders');
    const [first] = ids.slice(50);
    const { debug, statusBar } = window();
    await window().bridge.addBreakpoint(sampleHandler, firstLine);
    await window().openView('Redis Streams');
    await window().runCommand('Redis Streams: Refresh');
    await tree().expand(['shop', 'orders']);
    const stops = debug.stops;
    await (await tree().contextMenu(['shop', 'orders', 'billing'])).choose('Debug Sample Worker');
    const stop = await debug.stopped(stops);
    const [frame] = stop.frames;
    assert.deepEqual([frame?.name, frame?.path, frame?.line], ['handle', sampleHandler, firstLine]);
    const variables = await debug.variables(stop);
    assert.match(variables.message ?? '', new RegExp(`id: '${String(first)}'`));
    assert.equal(await debug.evaluate(stop, 'message.fields.payload'), '\'{"n":50}\'');
    assert.equal(await debug.evaluate(stop, 'context.deliveryCount'), '1');
    const group = (await world.groups('orders')).find((name) => name !== 'billing') ?? '';
    assert.match(group, /^billing-debug-/);
    await statusBar.find(new RegExp(`^\\$\\(debug\\) worker on orders/${group}: ${String(first)}, attempt 1, paused`));
    assert.match(
      debug.output(),
      new RegExp(`Message ${String(first)} of ${group}, delivery 1, .*://${extensionId}/entry`),
    );

    await window().openView('Redis Streams');
    await tree().expand(['shop', 'orders', group]);
    await tree().expand(['shop', 'orders', group, /^vscode-/]);
    await eventually(async () =>
      assert.match(
        await tree().text({ icons: true }),
        new RegExp(`\\$\\(debug\\) ${String(first)}  ×1 · held by debugger`),
      ),
    );

    await debug.press('Step Over');
    const next = await debug.stopped(stops + 1);
    assert.equal(next.frames[0]?.line, firstLine + 1);
    await window().bridge.removeBreakpoints();
    await debug.press('Continue');
    await eventually(async () => assert.deepEqual(await world.pending('orders', group), []), {
      what: 'all messages of the session to be acknowledged',
    });
    assert.match(debug.output(), new RegExp(`Acknowledged ${String(first)}`));
    await debug.press('Stop');
    await debug.ended();
    await noWorkerLeft();
    assert.deepEqual(await world.groups('orders'), ['billing']);
    assert.deepEqual(await world.groupState('orders'), before);
  });

  it('keeps the password out of the configuration, the process and the terminal', async () => {
    const [id] = await world.stream('secrets', { undelivered: 1 });
    const { debug, bridge } = window();
    await bridge.addBreakpoint(sampleHandler, firstLine);
    const stops = debug.stops;
    assert.ok(await launch({ stream: 'secrets', group: 'billing', console: 'integratedTerminal' }));
    const stop = await debug.stopped(stops);
    assert.equal(await debug.evaluate(stop, 'message.id'), `'${String(id)}'`);
    const sessions = JSON.stringify(await debug.sessions());
    assert.match(sessions, /--launch-file/);
    assert.doesNotMatch(sessions, new RegExp(serverPassword));
    assert.doesNotMatch(JSON.stringify(await bridge.terminals()), new RegExp(serverPassword));
    const [pid = 0] = workerProcesses();
    assert.notEqual(pid, 0);
    assert.doesNotMatch(startedWith(pid), new RegExp(serverPassword));
    const launchFile = /"--launch-file","([^"]+)"/.exec(sessions)?.[1] ?? '';
    assert.equal(existsSync(launchFile), false);
    assert.equal(statSync(join(launchFile, '..')).mode & 0o777, 0o700);
    const terminal = window().page.locator('.terminal-wrapper .xterm-accessibility, .terminal-wrapper .xterm-screen');
    assert.doesNotMatch((await terminal.allInnerTexts()).join('\n'), new RegExp(serverPassword));
    await bridge.stopDebugging();
    await debug.ended();
    assert.equal(existsSync(join(launchFile, '..')), false);
  });

  it('gives the message back uncounted when Stop is pressed while it is paused in a joined group', async () => {
    const [id] = await world.stream('joined', { undelivered: 1 });
    const { debug, quickInput } = window();
    await window().bridge.addBreakpoint(sampleHandler, firstLine);
    const stops = debug.stops;
    const started = launch({ stream: 'joined', group: 'billing', mode: 'join' });
    const question = await quickInput.read();
    assert.match(question.message, /takes messages of this group from its other workers/);
    await quickInput.type('billin');
    await quickInput.accept();
    await quickInput.says('This is not the name of the group.');
    await quickInput.type('billing');
    await quickInput.accept();
    assert.ok(await started);
    await debug.stopped(stops);
    assert.deepEqual(await world.pending('joined'), [[id, 1]]);
    await debug.press('Stop');
    await debug.ended();
    await noWorkerLeft();
    assert.deepEqual(await world.pending('joined'), [[id, 0]]);
    assert.deepEqual(await world.groups('joined'), ['billing']);
  });

  it('does not join a group whose name was not typed', async () => {
    const started = launch({ stream: 'joined', group: 'billing', mode: 'join' });
    await window().quickInput.read();
    await window().quickInput.cancel();
    await started;
    assert.deepEqual(await window().debug.sessions(), []);
  });

  it('starts again by Restart', async () => {
    const [id] = await world.stream('again', { undelivered: 1 });
    const { debug } = window();
    await window().bridge.addBreakpoint(sampleHandler, firstLine);
    const stops = debug.stops;
    assert.ok(await launch({ stream: 'again', group: 'billing' }));
    await debug.stopped(stops);
    await debug.press('Restart');
    const stop = await debug.stopped(stops + 1);
    assert.equal(await debug.evaluate(stop, 'message.id'), `'${String(id)}'`);
    assert.equal(await debug.evaluate(stop, 'context.deliveryCount'), '1');
  });

  it('removes the group of a worker that was killed, as soon as that cannot be running any more', async () => {
    await world.stream('slain', { undelivered: 1 });
    const { debug } = window();
    await window().bridge.addBreakpoint(sampleHandler, firstLine);
    const stops = debug.stops;
    assert.ok(await launch({ stream: 'slain', group: 'billing' }));
    await debug.stopped(stops);
    assert.equal((await world.groups('slain')).length, 2);
    for (const pid of workerProcesses()) process.kill(pid, 'SIGKILL');
    await debug.ended();
    await eventually(async () => assert.deepEqual(await world.groups('slain'), ['billing']), {
      timeoutMs: 60_000,
      what: 'the debug group to be removed',
    });
  });

  for (const [attributes, says] of [
    [{}, /stream: is missing/],
    [{ stream: 'orders', connection: 'nowhere' }, /connection: there is none named nowhere; known are shop/],
    [{ stream: 'missing' }, /stream: shop has no stream missing/],
    [{ stream: 'orders', mode: 'sideways' }, /mode: expected one of isolated, join/],
    [{ stream: 'orders', mode: 'join' }, /group: expected the name of the group to join/],
    [{ stream: 'orders', mode: 'join', group: 'nobody' }, /group: orders has no group nobody/],
    [{ stream: 'orders', maxMessages: 0 }, /maxMessages: expected a whole number of at least 1/],
    [{ stream: 'orders', allow: ['reclaim'] }, /allow: is for the mode join/],
    [{ stream: 'orders', runtimeExecutable: '/nowhere/node' }, /runtimeExecutable: there is no program/],
    [{ stream: 'orders', handler: '${workspaceRoot}/a.js' }, /handler: \$\{workspaceRoot\} has no value here/],
  ] as const) {
    it(`refuses ${JSON.stringify(attributes)} and names the attribute`, async () => {
      const groups = await world.groups('orders');
      const started = launch(attributes);
      const { severity } = await window().notifications.find(says);
      assert.equal(severity, 'error');
      await window().notifications.clear();
      assert.equal(await started, false);
      assert.deepEqual(await world.groups('orders'), groups);
    });
  }

  it('says what is wrong with a handler file, and leaves nothing behind', async () => {
    const groups = await world.groups('orders');
    assert.ok(await launch({ stream: 'orders', group: 'billing', handler: '${workspaceFolder}/throws.mjs' }));
    await window().notifications.find(/failed while it was loaded: RangeError: not today/);
    await window().debug.ended();
    await noWorkerLeft();
    assert.deepEqual(await world.groups('orders'), groups);
  });

  it('asks what to debug when F5 is pressed without a launch.json', async () => {
    const { quickInput, debug, bridge, editors } = window();
    const [id] = await world.stream('pressed', { undelivered: 1 });
    await editors.closeAll();
    await bridge.addBreakpoint(sampleHandler, firstLine);
    const stops = debug.stops;
    const started = bridge.executeCommand('workbench.action.debug.start');
    await quickInput.choose('Redis Streams Worker');
    await quickInput.choose('pressed');
    const stop = await debug.stopped(stops);
    assert.equal(await debug.evaluate(stop, 'message.id'), `'${String(id)}'`);
    await started;
  });

  it('offers every stream and group of a connected server in the list of configurations', async () => {
    const { quickInput, debug, bridge } = window();
    const [id] = await world.stream('listed', { undelivered: 1 });
    await bridge.addBreakpoint(sampleHandler, firstLine);
    const stops = debug.stops;
    const started = bridge.executeCommand('workbench.action.debug.selectandstart');
    await quickInput.choose(' Redis Streams Worker...');
    await quickInput.choose('shop: listed/billing');
    const stop = await debug.stopped(stops);
    assert.equal(await debug.evaluate(stop, 'message.id'), `'${String(id)}'`);
    await started;
  });

  it('writes a handler and its launch configuration, whose breakpoint is hit', async () => {
    const { quickInput, debug } = window();
    await world.stream('carts', { undelivered: 1 });
    await window().runCommand('Redis Streams: Create Handler File…');
    await quickInput.answer('handlers/carts.mjs', 'Create Handler File');
    await quickInput.choose('carts');
    await window().editors.isActive('carts.mjs');
    const file = join(window().workspace, 'handlers', 'carts.mjs');
    const line =
      1 +
      readFileSync(file, 'utf8')
        .split('\n')
        .findIndex((text) => text.includes('const { id, fields }'));
    const written = await eventually(() => readFileSync(join(window().workspace, '.vscode', 'launch.json'), 'utf8'));
    assert.match(written, /"stream": "carts"/);
    await window().bridge.addBreakpoint(file, line);
    const stops = debug.stops;
    await window().bridge.evaluate((vscode) =>
      vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], 'Debug handlers/carts.mjs'),
    );
    const stop = await debug.stopped(stops);
    assert.deepEqual([stop.frames[0]?.name, stop.frames[0]?.path], ['handle', file]);
  });

  it('asks on production whether the side effects of the handler may be real, and needs writing unlocked', async () => {
    await world.connect(window(), 'prod', 'production');
    const { dialog, quickInput } = window();
    const started = launch({ stream: 'orders', group: 'billing', connection: 'prod' });
    const question = await dialog.read();
    assert.equal(question.message, 'Debug a worker on prod?');
    assert.match(question.detail, /production: connection prod, stream orders, group billing-debug-/);
    assert.match(question.detail, /side effects are real/);
    await dialog.press('Debug');
    assert.match((await quickInput.read()).placeholder, /Unlock writing for how long/);
    await quickInput.cancel();
    assert.equal(await started, false);
    assert.deepEqual(await world.groups('orders'), ['billing']);
    const second = launch({ stream: 'orders', group: 'billing', connection: 'prod' });
    await dialog.read();
    await dialog.dismiss();
    assert.equal(await second, false);
  });

  it('ends the worker and gives back its message when the window is reloaded while it is paused', async () => {
    const [id] = await world.stream('reloaded', { undelivered: 1 });
    const { debug, quickInput } = window();
    const file = join(window().workspace, 'waits.mjs');
    await window().bridge.addBreakpoint(file, 2);
    const stops = debug.stops;
    const started = launch({ stream: 'reloaded', group: 'billing', mode: 'join', handler: file });
    await quickInput.answer('billing');
    await started;
    await debug.stopped(stops);
    assert.deepEqual(await world.pending('reloaded'), [[id, 1]]);
    await window().reload();
    await noWorkerLeft();
    assert.deepEqual(await world.pending('reloaded'), [[id, 0]]);
  });

  it('ends the worker and gives back its message when the extension host is killed while it is paused', async () => {
    const file = join(window().workspace, 'waits.mjs');
    const joined = { group: 'billing', mode: 'join' };
    const ids = await world.stream('killed', { undelivered: 1 });
    const { debug, quickInput, bridge } = window();
    // The secret storage of this VS Code lives in memory: the reload has lost the password of the other connection.
    await world.connect(window(), 'second', 'local');
    await bridge.addBreakpoint(file, 2);
    const stops = debug.stops;
    const started = launch({ ...joined, stream: 'killed', connection: 'second', handler: file });
    await quickInput.answer('billing');
    await started;
    await debug.stopped(stops);
    const host = await bridge.evaluate(() => process.pid);
    const before = bridge.connections;
    process.kill(host, 'SIGKILL');
    await noWorkerLeft();
    assert.deepEqual(await world.pending('killed'), [[ids[0], 0]]);
    await window().page.reload();
    await bridge.connected(before);
  });
});
