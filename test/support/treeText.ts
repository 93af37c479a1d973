// Trees of the explorer without VS Code: on real servers, and as text to compare. Used by test/bus/tree*.test.ts and bench/tree.ts.
import { systemClock } from '../../src/base/clock';
import { englishLocalizer } from '../../src/base/localize';
import { connectRedis } from '../../src/bus/redis/connect';
import type { RedisPort } from '../../src/bus/redis/redisPort';
import { ConnectionRegistry } from '../../src/connections/connectionRegistry';
import type { ConnectionProfile, Environment } from '../../src/connections/profiles';
import { connectionId } from '../../src/connections/profiles';
import { ProfileStore } from '../../src/connections/profileStore';
import type { SettingLevels } from '../../src/connections/settingProfiles';
import { splitSecrets } from '../../src/connections/connectionUrl';
import { createInspectReads } from '../../src/tree/inspectReads';
import type { ConnectionNode } from '../../src/tree/nodes/connectionNode';
import { contextValueOf } from '../../src/tree/row';
import type { TreeSettings } from '../../src/tree/treeContext';
import { TreeModel } from '../../src/tree/treeModel';
import type { TreeNode } from '../../src/tree/treeNode';

/** Keeps values and secrets as VS Code's stores do, in memory. */
export function memoryStore(): {
  readonly state: Map<string, unknown>;
  readonly secrets: Map<string, string>;
  readonly store: ProfileStore;
} {
  const state = new Map<string, unknown>();
  const secrets = new Map<string, string>();
  const store = new ProfileStore(
    {
      get: (key) => state.get(key),
      update: async (key, value) => {
        state.set(key, value);
      },
    },
    {
      get: async (key) => secrets.get(key),
      store: async (key, value) => {
        secrets.set(key, value);
      },
      delete: async (key) => {
        secrets.delete(key);
      },
    },
  );
  return { state, secrets, store };
}

/** A tree on a server, and what it asked of it. */
export interface TestTree {
  readonly model: TreeModel;
  readonly connections: ConnectionRegistry;
  readonly root: ConnectionNode;
  readonly settings: { -readonly [Key in keyof TreeSettings]: TreeSettings[Key] };
  readonly ports: readonly RedisPort[];
  /** How many round trips the tree has made so far, all links together. */
  roundTrips(): number;
  dispose(): void;
}

/** Makes a tree with one saved connection; nothing is connected yet. */
export async function openTree(
  url: string,
  options: {
    readonly name?: string;
    readonly environment?: Environment;
    readonly setting?: SettingLevels;
    readonly settings?: Partial<TreeSettings>;
  } = {},
): Promise<TestTree> {
  const { store } = memoryStore();
  const { url: shown, secrets } = splitSecrets(url);
  const profile: ConnectionProfile = {
    id: connectionId('saved/test'),
    name: options.name ?? 'test',
    url: shown,
    environment: options.environment ?? 'local',
    source: 'saved',
  };
  await store.save(profile, secrets);
  const ports: RedisPort[] = [];
  const connections = new ConnectionRegistry({
    store,
    readSetting: () => options.setting ?? { user: undefined, workspace: undefined },
    variables: {},
    clock: systemClock(),
    l10n: englishLocalizer,
    openPort: async (target, { onClosed }) => {
      const port = await connectRedis({ url: target, clientName: 'tree-test', onLost: onClosed });
      ports.push(port);
      return port;
    },
  });
  const settings = { pageSize: 100, keySeparator: ':', scanMatch: '*', refreshSeconds: () => 0, ...options.settings };
  const model = new TreeModel({
    connections,
    readsOf: (connection) => createInspectReads(connection, englishLocalizer),
    context: { l10n: englishLocalizer, locale: 'en', clock: systemClock(), settings: () => settings },
  });
  const root = model.connectionNodes().find((node) => node.profile.id === profile.id);
  if (!root) throw new Error('The saved connection has no node.');
  return {
    model,
    connections,
    root,
    settings,
    ports,
    roundTrips: () => ports.reduce((sum, port) => sum + port.traffic.flushes, 0),
    dispose: () => {
      model.dispose();
      connections.dispose();
    },
  };
}

/** A node and all below it as lines: icon, label, description, and the context value when it has flags. */
export async function treeText(node: TreeNode, indent = ''): Promise<string> {
  const row = node.row();
  const context = contextValueOf(row);
  const flags = row.flags.length > 0 ? ` <${context}>` : '';
  const lines = [
    `${indent}$(${row.icon.id}) ${row.label}${row.description === '' ? '' : ` | ${row.description}`}${flags}`,
  ];
  if (row.children !== 'none') {
    for (const child of await node.children()) lines.push(await treeText(child, `${indent}  `));
  }
  return lines.join('\n');
}

/** The node reached by labels from another one; loads what is on the way. */
export async function nodeAt(from: TreeNode, ...labels: readonly string[]): Promise<TreeNode> {
  const [label, ...rest] = labels;
  if (label === undefined) return from;
  const children = await from.children();
  const child = children.find((candidate) => candidate.row().label === label);
  if (!child) {
    throw new Error(`No "${label}" among ${children.map((each) => JSON.stringify(each.row().label)).join(', ')}`);
  }
  return nodeAt(child, ...rest);
}
