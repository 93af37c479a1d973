/**
 * tree: the sidebar. Connections, streams, groups, consumers, pending entries. It reads through `connections` and writes nothing.
 * Its tests are in `test/unit`, `test/bus` and `test/host`.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import type { ViewId } from '../manifest/views';

const explorerId: ViewId = 'redisStreams.explorer';

/** Shows the explorer view until disposed. Without connections it is empty, and VS Code shows the welcome of the manifest. */
export function registerExplorer(): Disposable {
  const provider: vscode.TreeDataProvider<never> = {
    getChildren: () => [],
    getTreeItem: (element) => element,
  };
  return vscode.window.createTreeView(explorerId, { treeDataProvider: provider });
}
