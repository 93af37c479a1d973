// One command to a Redis server over a connection of its own, before any client library is installed.
// Understands the reply's end for simple strings, errors, integers and bulk strings, no arrays.
// Tested by test/bus/support.test.ts.
// @ts-check

import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';

/**
 * The raw text of the reply, `+PONG` or `-ERR ...`; of a bulk string its content.
 * @param {number} port on 127.0.0.1
 * @param {string[]} command
 * @param {{ timeoutMs?: number, tls?: import('node:tls').ConnectionOptions }} [options]
 * @returns {Promise<string>}
 */
export function ask(port, command, { timeoutMs = 5000, tls } = {}) {
  return new Promise((resolve, reject) => {
    const address = { host: '127.0.0.1', port };
    const socket = tls === undefined ? connectTcp(address) : connectTls({ ...address, ...tls });
    let received = Buffer.alloc(0);
    /** @param {Error} error */
    const fail = (error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(timeoutMs, () =>
      fail(new Error(`Port ${port} did not answer ${command[0]} within ${timeoutMs} ms.`)),
    );
    socket.on('error', fail);
    socket.on('close', () => reject(new Error(`Port ${port} closed the connection before it answered ${command[0]}.`)));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const reply = readReply(received);
      if (reply === undefined) return;
      resolve(reply);
      socket.destroy();
    });
    socket.write(
      `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
    );
  });
}

/**
 * @param {Buffer} received
 * @returns {string | undefined}
 */
function readReply(received) {
  const lineEnd = received.indexOf('\r\n');
  if (lineEnd < 0) return undefined;
  const line = received.toString('utf8', 0, lineEnd);
  if (!line.startsWith('$')) return line;
  const start = lineEnd + 2;
  const end = start + Math.max(0, Number(line.slice(1)));
  return received.length < end ? undefined : received.toString('utf8', start, end);
}
