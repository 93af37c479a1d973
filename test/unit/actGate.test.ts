/** Nothing gets to a port that can write but through the gate, and what it writes is listed; proof that each check can fail. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { verbs } from '../../src/connections/verbs/index';

const source = path.resolve(import.meta.dirname, '../../src');

interface SourceFile {
  readonly file: string;
  readonly text: string;
}

/** The rooms of the extension host; the bus, the worker and the engine write on their own account. */
const rooms = ['connections', 'tree', 'panels', 'commands', 'sandbox', 'debugging', 'ui'];

const files: readonly SourceFile[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll(path.sep, '/'))
  .filter((file) => file === 'extension.ts' || rooms.some((room) => file.startsWith(`${room}/`)))
  .map((file) => ({ file, text: readFileSync(path.join(source, file), 'utf8') }));

/** What must not stand in a file, and where it may. */
const rules: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  {
    what: 'takes the port from a connection',
    pattern: /\btakeGateAccess\b/,
    allowed: /^connections\/(?:gate|gatePorts)\.ts$/,
  },
  {
    what: 'opens a port of its own',
    pattern: /\bconnectRedis\b|\bcreateBus\b|\bnew Redis(?:Port)?\(|\bcreateMemoryBus\b/,
    allowed: /^connections\/openRedisPort\.ts$/,
  },
  {
    what: 'is given what opens ports',
    pattern: /\bopenPort\b|\bopenRedisPort\b/,
    allowed:
      /^(?:extension\.ts|connections\/(?:openRedisPort|inspectPort|lane|profileConnection|connectionRegistry|testConnection)\.ts|commands\/(?:commandServices|connectionWizard)\.ts)$/,
  },
  {
    what: 'makes a call that writes',
    pattern:
      /\bport\??\.(?:add|delete|trim|createGroup|destroyGroup|readGroup|acknowledge|claim|autoClaim|run|openReader|openTransaction)\(/,
    allowed: /^connections\/verbs\/[A-Za-z]+\.ts$/,
  },
  {
    what: 'runs a verb around the gate',
    pattern: /\bverb\.run\(|\b(?:makeReclaimable|claim|acknowledge|replay|publish|restore|\w+Verb)\.run\(/,
    allowed: /^connections\/gate\.ts$/,
  },
];

function violations(all: readonly SourceFile[]): readonly string[] {
  return all.flatMap(({ file, text }) =>
    rules.flatMap(({ what, pattern, allowed }) =>
      pattern.test(text) && !allowed.test(file) ? [`${file} ${what}`] : [],
    ),
  );
}

describe('the write gate', () => {
  it('is the only way to write: no other file of the extension host gets to a port', () => {
    assert.deepEqual(violations(files), []);
  });

  for (const [text, problem] of [
    ["import { takeGateAccess } from '../connections/gatePorts';", 'takes the port from a connection'],
    ["import { connectRedis } from '../bus';", 'opens a port of its own'],
    ['const port = await services.openPort(url, {});', 'is given what opens ports'],
    ['await port.acknowledge(stream, group, ids);', 'makes a call that writes'],
    ['await acknowledgeVerb.run(port, request, items, mode);', 'runs a verb around the gate'],
  ] as const) {
    it(`would notice a file that ${problem}`, () => {
      assert.ok(violations([{ file: 'tree/planted.ts', text }]).includes(`tree/planted.ts ${problem}`));
    });
  }

  it('looks at the files that write', () => {
    const writing = files.filter(({ text }) => rules.some(({ pattern }) => pattern.test(text))).map(({ file }) => file);
    assert.ok(writing.includes('connections/gate.ts'));
    assert.ok(writing.includes('connections/verbs/acknowledge.ts'));
  });

  it('knows every verb there is a file of', () => {
    const shared = ['verb', 'pendingRows', 'withoutScripts', 'index'];
    const names = files
      .flatMap(({ file }) => /^connections\/verbs\/(\w+)\.ts$/.exec(file)?.[1] ?? [])
      .filter((name) => !shared.includes(name));
    assert.deepEqual(Object.keys(verbs).sort(), names.sort());
    for (const [key, { name }] of Object.entries(verbs)) assert.equal(name, key);
  });
});
