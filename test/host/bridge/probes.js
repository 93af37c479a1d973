// A view, a panel and commands that exist only so that the harness can test itself on known content.

'use strict';

const vscode = require('vscode');

const rows = [
  {
    label: 'fruit',
    description: '3 rows',
    children: [{ label: 'apple' }, { label: 'pear', description: 'green' }, { label: 'plum' }],
  },
  { label: 'empty', children: [] },
  {
    label: 'many',
    description: '60 rows',
    children: Array.from({ length: 60 }, (_, index) => ({ label: `row ${index}` })),
  },
];

exports.registerProbes = (context) => {
  const tree = vscode.window.createTreeView('testBridge.rows', {
    canSelectMany: true,
    treeDataProvider: {
      getChildren: (row) => (row === undefined ? rows : row.children),
      getTreeItem: toItem,
    },
  });
  const status = vscode.window.createStatusBarItem('testBridge.status', vscode.StatusBarAlignment.Left);
  status.text = '$(beaker) bridge ready';
  status.name = 'Test Bridge';
  status.show();
  const output = vscode.window.createOutputChannel('Test Bridge', { log: true });
  output.info('The test bridge is active.');
  context.subscriptions.push(
    tree,
    status,
    output,
    vscode.commands.registerCommand('testBridge.ask', ask),
    vscode.commands.registerCommand('testBridge.openPanel', () => openPanel(context)),
    vscode.commands.registerCommand('testBridge.openLog', () => output.show()),
    vscode.commands.registerCommand('testBridge.notify', async (message = 'Something happened') => {
      const answer = await vscode.window.showWarningMessage(message, 'Show Details', 'Ignore');
      status.text = `$(beaker) answered ${answer}`;
    }),
    vscode.commands.registerCommand('testBridge.copyRows', (row, selected = [row]) =>
      vscode.env.clipboard.writeText(selected.map(({ label }) => label).join(',')),
    ),
    vscode.commands.registerCommand('testBridge.pingRow', (row) => {
      status.text = `$(beaker) pinged ${row.label}`;
    }),
  );
};

function toItem({ label, description, children }) {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, children === undefined ? None : Collapsed);
  item.description = description;
  item.tooltip = new vscode.MarkdownString(`**${label}** is a row of the test bridge`);
  item.iconPath = new vscode.ThemeIcon(children === undefined ? 'circle-outline' : 'folder');
  item.contextValue = children === undefined ? 'leaf' : 'branch';
  return item;
}

async function ask() {
  const kinds = [
    { label: 'small', description: 'S' },
    { label: 'large', description: 'L', detail: 'takes longer' },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title: 'Size', placeHolder: 'Choose a size' });
  if (kind === undefined) return undefined;
  const name = await vscode.window.showInputBox({
    title: 'Name',
    prompt: 'Name of the thing',
    validateInput: (text) => (text.includes(' ') ? 'A name has no spaces.' : undefined),
  });
  if (name === undefined) return undefined;
  const detail = `A ${kind.label} thing.\nIt cannot be undone.`;
  const answer = await vscode.window.showWarningMessage(
    `Make ${name}?`,
    { modal: true, detail },
    'Make 1',
    'Copy as Text',
  );
  void vscode.window.showInformationMessage(`Answer for ${name}: ${answer ?? 'cancelled'}`);
  return answer;
}

function openPanel(context) {
  const panel = vscode.window.createWebviewPanel('testBridge.panel', 'Bridge Panel', vscode.ViewColumn.One, {
    enableScripts: true,
  });
  panel.webview.onDidReceiveMessage((text) => panel.webview.postMessage(`${text} answered`));
  panel.webview.html = `<!doctype html>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-bridge'">
<button>Ask</button><p id="answer">nothing yet</p>
<script nonce="bridge">
  const host = acquireVsCodeApi();
  document.querySelector('button').addEventListener('click', () => host.postMessage('ping'));
  window.addEventListener('message', ({ data }) => (document.querySelector('#answer').textContent = data));
</script>`;
  context.subscriptions.push(panel);
}
