// A loopback port to start a server on. Picked at random below the range from which the system takes the ports of
// outgoing connections, so that a server which restarts finds its port still free. Tested by test/unit/serverScripts.test.ts.
// @ts-check

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const lowest = 12_000;
const beyondHighest = 32_000;
const clusterBusOffset = 10_000;

/**
 * A port on 127.0.0.1 that nothing listens on now.
 * @param {{ clusterBus?: boolean }} [options] `clusterBus`: the port 10000 above it is free too
 * @returns {Promise<number>}
 */
export async function freePort({ clusterBus = false } = {}) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(lowest, clusterBus ? beyondHighest - clusterBusOffset : beyondHighest);
    if ((await isFree(port)) && (!clusterBus || (await isFree(port + clusterBusOffset)))) return port;
  }
  throw new Error(`No free port between ${lowest} and ${beyondHighest} on 127.0.0.1 after 200 tries.`);
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
