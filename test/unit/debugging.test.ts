/** What of debugging needs no VS Code: configurations, the names and the memory of debug groups, links, what the status bar says. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { englishLocalizer } from '../../src/base/localize';
import { consumerName, entryId, groupName, parseEntryId, streamKey } from '../../src/bus';
import { HeldByDebugger } from '../../src/connections/heldMessages';
import { connectionId } from '../../src/connections/profiles';
import { DebugGroups, debugGroupName, hasDebugMark } from '../../src/debugging/debugGroups';
import { entryLink, readEntryLink } from '../../src/debugging/entryLink';
import { readMessage } from '../../src/debugging/lifelineServer';
import { nodeConfiguration, substitute } from '../../src/debugging/nodeConfiguration';
import { checkNode } from '../../src/debugging/nodeProgram';
import { readWorkerConfiguration } from '../../src/debugging/workerConfiguration';

const connection = connectionId('shop');
const stream = streamKey('orders');

describe('A launch configuration', () => {
  const read = (raw: Readonly<Record<string, unknown>>): ReturnType<typeof readWorkerConfiguration> =>
    readWorkerConfiguration(raw, { l10n: englishLocalizer, folder: '/work' });

  it('has defaults that touch nobody', () => {
    const outcome = read({ connection: 'shop', stream: 'orders', handler: 'a.mjs' });
    assert.ok('configuration' in outcome);
    const { mode, allow, handler, console } = outcome.configuration;
    assert.deepEqual(
      { mode, allow, handler, console },
      {
        mode: 'isolated',
        allow: { createGroup: false, reclaim: false, deadLetter: false, journal: false },
        handler: '/work/a.mjs',
        console: 'internalConsole',
      },
    );
  });

  for (const [attribute, value] of [
    ['connection', ''],
    ['connection', 7],
    ['stream', undefined],
    ['group', []],
    ['consumer', ''],
    ['handler', {}],
    ['mode', 'both'],
    ['from', 'yesterday'],
    ['allow', ['everything']],
    ['allow', ['reclaim']],
    ['allow', ['journal']],
    ['maxMessages', 1.5],
    ['runtimeExecutable', ''],
    ['runtimeArgs', 'x'],
    ['console', 'externalTerminal'],
  ] as const) {
    it(`with ${attribute} ${JSON.stringify(value)} is refused, and ${attribute} is named`, () => {
      const outcome = read({ connection: 'shop', stream: 'orders', [attribute]: value });
      assert.ok('problem' in outcome);
      assert.equal(outcome.problem.attribute, attribute);
      assert.ok(outcome.problem.message.startsWith(`${attribute}: `), outcome.problem.message);
    });
  }

  it('becomes one of Node that ends politely, names the sources and hands through what is not ours', () => {
    const outcome = read({ connection: 'shop', stream: 'orders', handler: 'a.mjs' });
    assert.ok('configuration' in outcome);
    const node = nodeConfiguration({
      configuration: outcome.configuration,
      raw: { connection: 'shop', stream: 'orders', env: { A: '1' }, killBehavior: 'forceful', args: ['x'] },
      extensionPath: '/ext',
      folder: '/work',
      launchFile: '/tmp/launch.json',
      session: 'id',
    });
    assert.equal(node.type, 'node');
    assert.deepEqual(node.args, ['run', '--launch-file', '/tmp/launch.json']);
    assert.equal(node.killBehavior, 'polite');
    assert.deepEqual(node.env, { A: '1' });
    assert.deepEqual(node.outFiles, ['/ext/dist/**/*.js', '/work/**/*.(m|c|)js', '!**/node_modules/**']);
    assert.equal('connection' in node || 'stream' in node, false);
  });

  it('may hold variables, and one without a value is told', () => {
    const values = { folder: '/work', file: undefined, home: '/home/ana', env: { NODE: '/n' } };
    assert.deepEqual(substitute('${workspaceFolder}/${env:NODE}${env:NONE}${userHome}', values), {
      text: '/work//n/home/ana',
    });
    assert.deepEqual(substitute('${file}', values), { unknown: '${file}' });
  });
});

describe('Node', () => {
  it('is found by its path or on PATH, and told when it is missing, no Node or too old', async () => {
    assert.equal((await checkNode(process.execPath, {})).kind, 'found');
    assert.equal((await checkNode(undefined, { PATH: process.execPath.replace(/\/[^/]+$/, '') })).kind, 'found');
    assert.equal((await checkNode(undefined, { PATH: '/nowhere' })).kind, 'missing');
    assert.equal((await checkNode('/nowhere/node', process.env)).kind, 'missing');
    assert.equal((await checkNode('/bin/false', process.env)).kind, 'not-node');
    const folder = mkdtempSync(join(tmpdir(), 'redis-streams-node-'));
    try {
      const old = join(folder, 'node');
      writeFileSync(old, '#!/bin/sh\necho v18.20.4\n', { mode: 0o755 });
      assert.deepEqual(await checkNode(old, {}), { kind: 'too-old', path: old, version: '18.20.4' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('A debug group', () => {
  it('bears its mark in its name', () => {
    assert.equal(debugGroupName('billing', 'ana'), 'billing-debug-ana');
    assert.equal(debugGroupName(undefined, 'ana'), 'debug-ana');
    assert.equal(debugGroupName('billing-debug-bob', 'ana'), 'billing-debug-ana');
    assert.equal(debugGroupName('debug-bob', 'ana'), 'debug-ana');
    assert.ok(hasDebugMark(debugGroupName('billing')) && hasDebugMark(debugGroupName(undefined)));
    assert.equal(hasDebugMark('billing'), false);
    assert.equal(hasDebugMark('nodebug-ana'), false);
  });

  it('is remembered with its consumers until it is forgotten, and nothing without the mark is', async () => {
    const kept = new Map<string, unknown>();
    const groups = new DebugGroups({
      get: (key) => kept.get(key),
      update: (key, value) => Promise.resolve(void kept.set(key, structuredClone(value))),
    });
    const group = { connection, stream, group: groupName('billing-debug-ana') };
    await groups.remember(group, consumerName('a'));
    await groups.remember(group, consumerName('b'));
    await groups.remember({ ...group, group: groupName('billing') }, consumerName('c'));
    assert.deepEqual(groups.list(), [{ ...group, consumers: ['a', 'b'] }]);
    await groups.forget(group);
    assert.deepEqual(groups.list(), []);
  });
});

describe('What a session holds', () => {
  it('is told to whoever shows it, until the session is over', () => {
    const held = new HeldByDebugger();
    const changes: string[] = [];
    held.onDidChange((id) => changes.push(id));
    const group = groupName('billing');
    const id = entryId('1-0');
    held.set('s', { connection, stream, group, consumer: consumerName('me'), ids: [id] });
    assert.ok(held.isHeld(connection, stream, group, id));
    assert.ok(held.isConsumer(connection, stream, group, consumerName('me')));
    assert.equal(held.isHeld(connection, stream, groupName('other'), id), false);
    assert.equal(held.isHeld(connectionId('prod'), stream, group, id), false);
    held.set('s', undefined);
    assert.equal(held.isHeld(connection, stream, group, id), false);
    assert.deepEqual(changes, ['shop', 'shop']);
  });
});

describe('A link to an entry', () => {
  it('is read as it was made, whatever the key holds', () => {
    const key = streamKey('a&b=c é#{x}');
    const link = entryLink({ scheme: 'vscode', extension: 'p.e', connection, stream: key });
    const query = new URL(`${link ?? ''}1-2`).search.slice(1);
    assert.deepEqual(readEntryLink(query, parseEntryId), { connection, stream: key, entry: '1-2' });
  });

  it('is not made for bytes that are no text, and not read when something is missing', () => {
    assert.equal(entryLink({ scheme: 'vscode', extension: 'p.e', connection, stream: streamKey('\udcff') }), undefined);
    assert.equal(readEntryLink('connection=shop', parseEntryId), undefined);
    assert.equal(readEntryLink('connection=shop&stream=s&entry=x', parseEntryId)?.entry, undefined);
  });
});

describe('What a worker says', () => {
  it('is ignored when it is nothing that a worker says', () => {
    for (const line of ['', '{', '7', 'null', '{"type":"rm"}', '{"type":"settled","id":"1-0","outcome":"x"}'])
      assert.equal(readMessage(line), undefined, line);
    assert.deepEqual(readMessage('{"type":"hello","pid":"x"}'), { type: 'hello', pid: 0 });
  });
});
