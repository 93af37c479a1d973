// The test bridge: an extension that the host tier installs beside the product. It connects to the tests' loopback port
// and answers what they ask: one JSON object a line, `{ id, operation, argument }` answered by `{ id, result }` or
// `{ id, error }`, and `{ event, data }` by itself. What it can do is in operations.js; the views and commands that only
// the harness's own tests use are in probes.js. It must know nothing of the product.

'use strict';

const net = require('node:net');
const vscode = require('vscode');
const { createOperations } = require('./operations');
const { registerProbes } = require('./probes');

const addressVariable = 'REDIS_STREAMS_TEST_BRIDGE';
const retryMs = 200;

exports.activate = (context) => {
  if (vscode.workspace.getConfiguration().get('testBridge.probes') === true) registerProbes(context);
  const address = process.env[addressVariable];
  if (address === undefined) return;
  const [port, secret] = address.split(':');
  const link = { socket: undefined, closed: false, timer: undefined };
  const operations = createOperations(context, (event, data) => send(link, { event, data }));
  context.subscriptions.push({
    dispose() {
      link.closed = true;
      clearTimeout(link.timer);
      link.socket?.destroy();
    },
  });
  connect(link, Number(port), secret, operations);
};

function connect(link, port, secret, operations) {
  const socket = net.connect({ host: '127.0.0.1', port });
  socket.setNoDelay(true).setEncoding('utf8');
  socket.on('connect', () => {
    link.socket = socket;
    send(link, { hello: secret, pid: process.pid, vscode: vscode.version, node: process.version });
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    link.socket = undefined;
    if (!link.closed) link.timer = setTimeout(() => connect(link, port, secret, operations), retryMs);
  });
  let rest = '';
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) void answer(link, operations, JSON.parse(line));
  });
}

async function answer(link, operations, { id, operation, argument }) {
  try {
    const run = operations[operation];
    if (run === undefined) throw new Error(`The test bridge knows no operation ${operation}.`);
    send(link, { id, result: (await run(argument)) ?? null });
  } catch (error) {
    send(link, { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function send(link, message) {
  link.socket?.write(`${JSON.stringify(message)}\n`);
}
