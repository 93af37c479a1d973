// The harness of the host tier, tested on the built VSIX and, for what that does not show, on the probes of the test bridge.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { processesOf } from '../../scripts/lib/processTree.mjs';
import { eventually } from '../support/eventually';
import { assertNothingLeft, openWindow } from './support/openWindow';
import { repositoryRoot } from './support/repositoryRoot';
import { themeNames } from './support/themes';
import { useWindow } from './support/useWindow';

const extensionId = 'redis-streams.redis-streams-debugger';

const program = `function main() {
  const answer = 42;
  const text = 'answer is ' + answer;
  console.log(text);
}
main();
`;

describe('A VS Code window with the built extension', () => {
  const window = useWindow();

  it('has the extension installed from the VSIX and activates it', async () => {
    const state = await window().bridge.activate(extensionId);
    assert.equal(state.isActive, true);
    assert.match(state.path, /extensions\/redis-streams\.redis-streams-debugger-/);
  });

  it('opens the view container from the activity bar and shows the welcome', async () => {
    await window().openView('Redis Streams');
    const welcome = await window().tree('Explorer').welcome();
    assert.match(welcome, /Redis/);
  });

  it('runs Open Log from the command palette, which shows the output channel', async () => {
    await window().runCommand('Redis Streams: Open Log');
    await window().output.shows('Redis Streams');
  });

  it('takes a screenshot in every theme', async () => {
    await window().openView('Redis Streams');
    const paths = await window().screenshots('harness');
    assert.equal(paths.length, themeNames.length);
    const sizes = new Set(paths.map((path) => statSync(path).size));
    assert.equal(sizes.size, paths.length, 'The themes give the same picture.');
  });

  it('still has the extension and the bridge after a reload', async () => {
    await window().reload();
    const { isActive } = await window().bridge.activate(extensionId);
    assert.equal(isActive, true);
  });

  it('has no error of the extension in the console of the extension host', () => {
    const ours = window()
      .extensionHostErrors()
      .filter((error) => /redis-?streams/i.test(error));
    assert.deepEqual(ours, []);
  });
});

describe('The page objects', () => {
  const secondExtension = join(repositoryRoot, 'test', 'host', 'fixtures', 'second-extension');
  const window = useWindow({ probes: true, extensions: [secondExtension], files: { 'program.js': program } });

  it('stand in a window with the extensions that were asked for', async () => {
    const id = 'redis-streams-tests.second-extension';
    const { isActive, version } = await window().bridge.extension(id);
    assert.deepEqual([isActive, version], [false, '0.0.1']);
    assert.equal((await window().bridge.activate(id)).isActive, true);
  });

  it('read a whole tree, expand, collapse and wait for it', async () => {
    await window().openView('Test Bridge');
    const tree = window().tree('Rows');
    await tree.reads(`
      ▸ fruit  3 rows
      ▸ empty
      ▸ many  60 rows`);
    await tree.expand('fruit');
    await tree.reads(
      `
      ▾ $(folder) fruit  3 rows
          $(circle-outline) apple
          $(circle-outline) pear  green
          $(circle-outline) plum
      ▸ $(folder) empty
      ▸ $(folder) many  60 rows`,
      { icons: true },
    );
    await tree.collapse('fruit');
    assert.equal((await tree.rows()).length, 3);
  });

  it('read and reach rows that are out of sight', async () => {
    const tree = window().tree('Rows');
    await tree.expand('many');
    assert.equal((await tree.rows()).length, 63);
    await tree.click(['many', 'row 59']);
    assert.deepEqual(await tree.selection(), ['row 59']);
    await tree.collapse('many');
  });

  it('fail with the whole tree when a row is not there', async () => {
    const tree = window().tree('Rows');
    assert.equal(await tree.has('cheese'), false);
    await assert.rejects(tree.element('cheese', { timeoutMs: 100 }), /No row cheese in the tree:\n.*fruit/s);
    await assert.rejects(tree.element(['fruit', 'row 1'], { timeoutMs: 100 }), /No row fruit › row 1/);
  });

  it('select several rows and choose from their context menu', async () => {
    const tree = window().tree('Rows');
    await tree.expand('fruit');
    await tree.select(['fruit', 'apple'], ['fruit', 'plum']);
    assert.deepEqual(await tree.selection(), ['apple', 'plum']);
    const menu = await tree.contextMenu(['fruit', 'plum']);
    assert.deepEqual(await menu.items(), ['Copy Rows', '---', 'Ask']);
    await menu.choose('Copy Rows');
    await eventually(async () => assert.equal(await window().readClipboard(), 'apple,plum'));
  });

  it('hover a row for its tooltip and press its inline action', async () => {
    const tree = window().tree('Rows');
    assert.equal(await tree.tooltip('fruit'), 'fruit is a row of the test bridge');
    assert.deepEqual(await tree.inlineActions('fruit'), ['Ping Row']);
    await tree.pressInline('fruit', 'Ping Row');
    assert.equal(await window().statusBar.find(/pinged/), '$(beaker) pinged fruit');
  });

  it('answer a quick pick, an input box and a modal dialog, and read the notification after', async () => {
    const { quickInput, dialog, notifications } = window();
    await window().runCommand('Test Bridge: Ask');
    const pick = await quickInput.read('Size');
    assert.equal(pick.placeholder, 'Choose a size');
    assert.deepEqual(pick.items, [
      { label: 'small', description: 'S', detail: '', checked: undefined },
      { label: 'large', description: 'L', detail: 'takes longer', checked: undefined },
    ]);
    await quickInput.choose('large');
    assert.match((await quickInput.read('Name')).message, /Name of the thing/);
    await quickInput.type('two words');
    await quickInput.says('A name has no spaces.');
    assert.equal((await quickInput.read()).isInvalid, true);
    await quickInput.answer('thing');
    const question = await dialog.read();
    assert.equal(question.message, 'Make thing?');
    assert.equal(question.detail, 'A large thing.\nIt cannot be undone.');
    assert.deepEqual([...question.buttons].sort(), ['Cancel', 'Copy as Text', 'Make 1']);
    await dialog.press('Make 1');
    await notifications.find('Answer for thing: Make 1');
    await window().runCommand('Test Bridge: Ask');
    await quickInput.choose('small');
    await quickInput.answer('other', 'Name');
    await dialog.read();
    await dialog.dismiss();
    await notifications.find('Answer for other: cancelled');
  });

  it('press a button of a notification', async () => {
    const answered = window().bridge.executeCommand('testBridge.notify', 'Acknowledged 2 of 3');
    const { severity, buttons } = await window().notifications.find('Acknowledged 2 of 3');
    assert.equal(severity, 'warning');
    assert.deepEqual(buttons, ['Show Details', 'Ignore']);
    await window().notifications.press('Acknowledged 2 of 3', 'Show Details');
    await answered;
    await window().statusBar.find('$(beaker) answered Show Details');
    await window().notifications.clear();
  });

  it('use the document of a webview like a page', async () => {
    await window().runCommand('Test Bridge: Open Panel');
    await window().editors.isActive('Bridge Panel');
    const panel = await window().webview({ extension: 'redis-streams-tests.test-bridge' });
    await panel.getByRole('button', { name: 'Ask' }).click();
    await panel.getByText('ping answered').waitFor();
    await window().screenshot('harness-webview');
    await window().editors.closeAll();
  });

  it('read an output channel', async () => {
    await window().bridge.executeCommand('testBridge.openLog');
    await window().output.shows('Test Bridge');
    await window().output.reads(/\[info\] The test bridge is active\./);
  });

  it('list what the command palette offers', async () => {
    const found = await window().quickInput.commandsFor('Test Bridge:');
    assert.deepEqual(found.filter((title) => title.startsWith('Test Bridge')).sort(), [
      'Test Bridge: Ask',
      'Test Bridge: Focus on Rows View',
      'Test Bridge: Notify',
      'Test Bridge: Open Panel',
    ]);
  });

  it('steer a debug session of a Node program that runs on the node of PATH', async () => {
    const { bridge, debug } = window();
    const path = join(window().workspace, 'program.js');
    await bridge.addBreakpoint(path, 3);
    await bridge.startDebugging({ type: 'node', request: 'launch', name: 'Program', program: path });
    const stop = await debug.stopped();
    assert.equal(stop.reason, 'breakpoint');
    assert.deepEqual([stop.frames[0]?.path, stop.frames[0]?.line], [path, 3]);
    assert.equal(await debug.evaluate(stop, 'process.version'), `'${process.version}'`);
    assert.equal((await debug.variables(stop)).answer, '42');
    await window().screenshot('harness-debug');
    await debug.press('Step Over');
    assert.equal((await debug.stopped(1)).frames[0]?.line, 4);
    await debug.press('Continue');
    await debug.ended();
    assert.match(debug.output(), /answer is 42/);
    await bridge.removeBreakpoints();
  });
});

describe('Closing a window', () => {
  it('leaves no process and no port, also with a debuggee that is paused', async function () {
    this.timeout(180_000);
    const window = await openWindow({ files: { 'program.js': program } });
    await window.bridge.addBreakpoint(join(window.workspace, 'program.js'), 3);
    await window.bridge.startDebugging({
      type: 'node',
      request: 'launch',
      name: 'Program',
      program: join(window.workspace, 'program.js'),
    });
    await window.debug.stopped();
    await assert.rejects(assertNothingLeft(), /Processes of a closed window are left/);
    await window.close();
    await assertNothingLeft();
    assert.deepEqual(processesOf({ mark: 'no such mark' }), []);
  });
});
