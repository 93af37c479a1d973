import * as vscode from 'vscode';
import { contextValueOf } from './row';
import type { Row } from './row';
import type { TreeNode } from './treeNode';

/** Draws a node. */
export function toTreeItem(node: TreeNode): vscode.TreeItem {
  const row = node.row();
  const item = new vscode.TreeItem(row.label, collapsibleState(row));
  item.id = node.id;
  item.description = row.description;
  item.contextValue = contextValueOf(row);
  item.iconPath = new vscode.ThemeIcon(
    row.icon.id,
    row.icon.color === undefined ? undefined : new vscode.ThemeColor(row.icon.color),
  );
  item.tooltip = toMarkdown(row.tooltip);
  item.accessibilityInformation = { label: row.accessibilityLabel };
  if (row.command !== undefined) item.command = { command: row.command, title: row.label, arguments: [node] };
  return item;
}

/** Markdown that can run no command, load nothing and hold no HTML. */
function toMarkdown(text: string): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString(text, false);
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  return markdown;
}

function collapsibleState({ children }: Row): vscode.TreeItemCollapsibleState {
  switch (children) {
    case 'none':
      return vscode.TreeItemCollapsibleState.None;
    case 'collapsed':
      return vscode.TreeItemCollapsibleState.Collapsed;
    case 'expanded':
      return vscode.TreeItemCollapsibleState.Expanded;
  }
}
