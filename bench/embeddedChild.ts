/** The sandbox's server in a process of its own, for bench/embedded.ts: prints its port, then its memory for each line of input. */
import { createInterface } from 'node:readline';
import { systemClock } from '../src/base/clock';
import { EmbeddedServer, startRespServer } from '../src/embedded';

async function main(): Promise<void> {
  const { engine } = new EmbeddedServer({ clock: systemClock() });
  const server = await startRespServer({ engine });
  process.stdout.write(`${server.port}\n`);
  const input = createInterface({ input: process.stdin });
  input.on('line', () => {
    // Bytes outside of the heap are given back a while after the objects that held them.
    globalThis.gc?.();
    setTimeout(() => {
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      process.stdout.write(`${heapUsed + external}\n`);
    }, 300);
  });
  input.on('close', () => process.exit(0));
}

void main();
