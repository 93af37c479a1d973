/** package.json, its translations and `src/manifest` say the same; what is registered is compared in the host tier. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { commandIds } from '../../src/manifest/commands';
import { contextKeys } from '../../src/manifest/contextKeys';
import { settingKeys } from '../../src/manifest/settings';
import { viewContainerIds, viewIds } from '../../src/manifest/views';

interface MenuItem {
  readonly command?: string;
  readonly submenu?: string;
  readonly when?: string;
}

interface Manifest {
  readonly icon: string;
  readonly engines: { readonly vscode: string };
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly activationEvents: readonly string[];
  readonly extensionKind: readonly string[];
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly enablement?: string }[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly viewsContainers: { readonly activitybar: readonly { readonly id: string; readonly icon: string }[] };
    readonly views: Readonly<Record<string, readonly { readonly id: string; readonly when?: string }[]>>;
    readonly viewsWelcome: readonly { readonly view: string; readonly when?: string; readonly contents: string }[];
    readonly keybindings?: readonly { readonly command: string; readonly when?: string }[];
    readonly configuration?: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

const repository = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const translations = JSON.parse(read('package.nls.json')) as Record<string, string>;
const { contributes } = manifest;

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();
const allStrings = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(allStrings)
      : [];

/** The words of a `when` clause that are context keys of ours. */
function ownContextKeys(when: string | undefined): string[] {
  return (when ?? '').match(/(?<!config\.)\bredisStreams\.[A-Za-z.]+/g) ?? [];
}

const whenClauses = [
  ...contributes.commands.map(({ enablement }) => enablement),
  ...Object.values(contributes.menus).flatMap((items) => items.map(({ when }) => when)),
  ...Object.values(contributes.views).flatMap((items) => items.map(({ when }) => when)),
  ...contributes.viewsWelcome.map(({ when }) => when),
  ...(contributes.keybindings ?? []).map(({ when }) => when),
];

describe('the manifest', () => {
  it('declares exactly the typed commands, each once', () => {
    const declared = contributes.commands.map(({ command }) => command);
    assert.deepEqual(declared.length, new Set(declared).size);
    assert.deepEqual(sorted(declared), sorted(commandIds));
  });

  it('uses only declared commands in menus, key bindings and welcome texts', () => {
    const used = [
      ...Object.values(contributes.menus).flatMap((items) => items.flatMap(({ command }) => command ?? [])),
      ...(contributes.keybindings ?? []).map(({ command }) => command),
      ...Object.values(translations).flatMap((text) =>
        [...text.matchAll(/\(command:([\w.]+)/g)].map((match) => match[1] ?? ''),
      ),
    ].filter((command) => command.startsWith('redisStreams.'));
    assert.deepEqual(
      sorted(used).filter((command) => !commandIds.some((known) => known === command)),
      [],
    );
  });

  it('declares exactly the typed settings', () => {
    assert.deepEqual(sorted(Object.keys(contributes.configuration?.properties ?? {})), sorted(settingKeys));
  });

  it('declares exactly the typed views and view containers', () => {
    const views = Object.values(contributes.views).flatMap((items) => items.map(({ id }) => id));
    assert.deepEqual(sorted(views), sorted(viewIds));
    assert.deepEqual(sorted(contributes.viewsContainers.activitybar.map(({ id }) => id)), sorted(viewContainerIds));
  });

  it('uses only typed context keys, and every typed one', () => {
    const views: readonly string[] = viewIds;
    const used = whenClauses.flatMap(ownContextKeys).filter((word) => !views.includes(word));
    assert.deepEqual(sorted(used), sorted(contextKeys));
  });

  it('has every text in package.nls.json, and no text there that is not used', () => {
    const placeholders = allStrings(manifest).flatMap((text) => /^%(.+)%$/.exec(text)?.[1] ?? []);
    assert.deepEqual(sorted(placeholders), sorted(Object.keys(translations)));
    const visible = contributes.commands.map(({ title }) => title).filter((title) => !/^%.+%$/.test(title));
    assert.deepEqual(visible, []);
  });

  it('activates only by what it contributes, to restore its panels and to debug, and runs where the workspace is', () => {
    assert.deepEqual(manifest.activationEvents, [
      'onWebviewPanel:redisStreams.stream',
      'onDebugResolve:redis-streams-worker',
      'onDebugDynamicConfigurations:redis-streams-worker',
    ]);
    assert.deepEqual(manifest.extensionKind, ['workspace']);
  });

  it('is typed against the oldest VS Code that it says it runs on', () => {
    assert.equal(`^${manifest.devDependencies['@types/vscode'] ?? ''}`, manifest.engines.vscode);
  });

  it('names icons that exist', () => {
    for (const file of [manifest.icon, ...contributes.viewsContainers.activitybar.map(({ icon }) => icon)]) {
      assert.ok(existsSync(path.join(repository, file)), file);
    }
  });
});

describe('the texts of the code', () => {
  const sources = readdirSync(path.join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: read(path.join('src', file)) }));

  it('are given to l10n.t as literals, so that they can be translated', () => {
    for (const { file, text } of sources) {
      for (const call of text.matchAll(/l10n\.t\(\s*(.)/g)) assert.match(call[1] ?? '', /['"{]/, `${file}: ${call[0]}`);
    }
  });
});
