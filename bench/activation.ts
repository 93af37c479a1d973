/**
 * Activation: the built extension next to a bare hello-world extension in the same window, alternating which is activated first,
 * a fresh extension host each round; and the size of every bundle and of the VSIX.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openWindow } from '../test/host/support/openWindow';
import type { Window } from '../test/host/support/window';
import { figureOf, readBenchFlags, report, type Figure } from './support/report';

const repository = path.resolve(import.meta.dirname, '..');
const ours = 'redis-streams.redis-streams-debugger';
const hello = 'redis-streams-bench.hello-world';

const flags = readBenchFlags();
const rounds = flags.quick ? 3 : 11;

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-hello-'));
  try {
    writeHelloWorld(folder);
    report('Activation and size', [...(await measureActivation(folder)), ...measureSizes()], flags);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureActivation(helloFolder: string): Promise<Figure[]> {
  const window = await openWindow({ extensions: [helloFolder] });
  try {
    const times = { ours: [] as number[], hello: [] as number[], ratio: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await window.reload();
      const first = round % 2 === 0 ? ours : hello;
      const firstMs = await activate(window, first);
      const secondMs = await activate(window, first === ours ? hello : ours);
      const [oursMs, helloMs] = first === ours ? [firstMs, secondMs] : [secondMs, firstMs];
      times.ours.push(oursMs);
      times.hello.push(helloMs);
      times.ratio.push(oursMs / helloMs);
    }
    return [
      figureOf('activation, this extension', 'ms', times.ours),
      figureOf('activation, hello world', 'ms', times.hello),
      figureOf('this extension / hello world', 'x', times.ratio, { text: 'at most 2', met: (value) => value <= 2 }),
    ];
  } finally {
    await window.close();
  }
}

/** Milliseconds in which the extension's code is loaded and its `activate` ends, measured in the extension host. */
async function activate(window: Window, id: string): Promise<number> {
  const result: unknown = await window.bridge.evaluate(async (vscode, extensionId) => {
    const extension = vscode.extensions.getExtension(extensionId);
    if (!extension || extension.isActive) return null;
    const start = performance.now();
    await extension.activate();
    return performance.now() - start;
  }, id);
  if (typeof result !== 'number') throw new Error(`${id} is not installed or was active already`);
  return result;
}

function measureSizes(): Figure[] {
  const dist = path.join(repository, 'dist');
  const bundles = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(js|css)$/.test(file));
  const kilobytes = (file: string): number => statSync(path.join(dist, file)).size / 1024;
  return [
    ...bundles.sort().map((file) => ({ name: file, value: kilobytes(file), unit: 'KB' })),
    {
      name: 'redis-streams-debugger.vsix',
      value: kilobytes('redis-streams-debugger.vsix'),
      unit: 'KB',
      aim: 'under 1024',
      met: kilobytes('redis-streams-debugger.vsix') < 1024,
    },
  ];
}

function writeHelloWorld(target: string): void {
  mkdirSync(target, { recursive: true });
  const manifest = {
    name: 'hello-world',
    publisher: 'redis-streams-bench',
    version: '0.0.1',
    engines: { vscode: '^1.100.0' },
    main: './extension.js',
    activationEvents: [],
    contributes: { commands: [{ command: 'helloWorld.hello', title: 'Hello World' }] },
  };
  writeFileSync(path.join(target, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    path.join(target, 'extension.js'),
    `const vscode = require('vscode');
exports.activate = (context) => {
  context.subscriptions.push(vscode.commands.registerCommand('helloWorld.hello', () => vscode.window.showInformationMessage('Hello World')));
};
`,
  );
}

void main();
