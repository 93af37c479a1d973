/**
 * The extension's bundle in plain Node, on a stand-in for VS Code that only counts: loading it needs nothing newer than the Node that it
 * is built for, activation opens no connection, and disposing leaves nothing alive. What it does in VS Code is tested in `test/host`.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import Module from 'node:module';
import path from 'node:path';
import { runInThisContext } from 'node:vm';
import { build } from 'esbuild';
import { eventually } from '../support/eventually';

const repository = path.resolve(import.meta.dirname, '../..');

type Activate = (context: unknown) => void;

/** Every disposable that VS Code has handed out and that was not disposed, by what made it. */
class FakeVsCode {
  readonly live = new Map<object, string>();

  /** The module `vscode`: namespaces whose `create…`, `register…` and `onDid…` hand out counted disposables. */
  readonly module: object = {
    EventEmitter: this.emitterClass(),
    Disposable: this.disposableClass(),
    l10n: { t: (text: string) => text },
    env: { language: 'en' },
    ...Object.fromEntries(usedNamespaces().map((name) => [name, this.namespace(name)])),
  };

  private namespace(namespace: string): object {
    const construct = function (): void {};
    return new Proxy(construct, {
      get: (_, name: string) => {
        if (/^(create|register|onDid)/.test(name)) return () => this.counted(`${namespace}.${name}`);
        if (name === 'getConfiguration') return () => ({ get: () => undefined, inspect: () => undefined });
        if (name === 'executeCommand') return () => Promise.resolve();
        if (name === 'joinPath') return () => ({ fsPath: '/' });
        return name === 'prototype' ? (construct as { prototype: unknown }).prototype : [];
      },
    });
  }

  private counted(what: string): object {
    const own = {
      dispose: () => this.live.delete(disposable),
      visible: false,
      selection: [],
    } as Record<string, unknown>;
    const disposable: object = new Proxy(own, {
      get: (target, name: string) =>
        name in target
          ? target[name]
          : name.startsWith('onDid')
            ? () => this.counted(`${what}.${name}`)
            : () => undefined,
    });
    this.live.set(disposable, what);
    return disposable;
  }

  private disposableClass(): object {
    const from = (...items: readonly { dispose(): unknown }[]): object => ({
      dispose: () => items.map((item) => item.dispose()),
    });
    return Object.assign(function (): void {}, { from });
  }

  private emitterClass(): object {
    const counted = (what: string): object => this.counted(what);
    return class {
      readonly self = counted('EventEmitter') as { dispose: () => void };
      readonly event = (): object => counted('EventEmitter.event');
      fire(): void {}
      dispose(): void {
        this.self.dispose();
      }
    };
  }
}

/** The names of VS Code's API that the sources use, besides those that the stand-in makes itself. */
function usedNamespaces(): string[] {
  const sources = readdirSync(path.join(repository, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const names = sources.flatMap((file) =>
    [...readFileSync(path.join(repository, 'src', file), 'utf8').matchAll(/vscode\.([A-Za-z]+)/g)].map(
      (match) => match[1] ?? '',
    ),
  );
  return [...new Set(names)].filter((name) => !['EventEmitter', 'Disposable', 'l10n', 'env'].includes(name));
}

async function loadExtension(vscode: object): Promise<{ readonly activate: Activate }> {
  const { outputFiles } = await build({
    entryPoints: [path.join(repository, 'src/extension.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['vscode'],
    logLevel: 'silent',
  });
  const loaded = { exports: {} as { activate: Activate } };
  const real = Module.createRequire(import.meta.url);
  const require = (name: string): unknown => (name === 'vscode' ? vscode : real(name));
  const code = `(function (module, exports, require, __dirname, __filename) {${outputFiles[0]?.text ?? ''}\n})`;
  const run = runInThisContext(code) as (...args: unknown[]) => void;
  run(loaded, loaded.exports, require, repository, path.join(repository, 'extension.js'));
  return loaded.exports;
}

describe('The extension in plain Node', function () {
  this.timeout(60_000);

  it('activates without a connection and leaves nothing alive when it is disposed', async () => {
    const fake = new FakeVsCode();
    const { activate } = await loadExtension(fake.module);
    const before = process.getActiveResourcesInfo().sort();
    const subscriptions: { dispose(): unknown }[] = [];
    const memento = { get: () => undefined, update: () => Promise.resolve(), keys: () => [] };
    activate({
      subscriptions,
      globalState: memento,
      workspaceState: memento,
      secrets: {
        get: () => Promise.resolve(undefined),
        store: () => Promise.resolve(),
        delete: () => Promise.resolve(),
      },
      extensionUri: { fsPath: repository },
      extensionPath: repository,
      globalStorageUri: { fsPath: path.join(repository, 'test-output') },
      asAbsolutePath: (file: string) => path.join(repository, file),
    });
    assert.ok(fake.live.size > 20, 'views and commands are registered');
    const sockets = (names: readonly string[]): string[] => names.filter((name) => /TCP|TLS|Pipe/.test(name));
    assert.deepEqual(sockets(process.getActiveResourcesInfo().sort()), sockets(before), 'nothing is connected');

    for (const subscription of subscriptions.reverse()) subscription.dispose();
    assert.deepEqual([...fake.live.values()], []);
    await eventually(() => {
      assert.deepEqual(process.getActiveResourcesInfo().sort(), before, 'no timer, no socket and no file is left');
    });
  });
});
