import { systemClock } from '../../base/clock';
import { EmbeddedServer, startRespServer } from '../../embedded';
import { createSampleEvents } from '../sample/sampleEvents';
import { runSampleTraffic } from '../sample/sampleTraffic';
import { seedSample } from '../sample/seedSample';

const seed = 20_240_601;

/** What the sandbox tells the process that forked it; the other side is `src/sandbox`. */
export interface SandboxMessage {
  readonly type: 'ready';
  readonly port: number;
}

/**
 * Serves an engine in this process on loopback, fills it with sample streams and keeps them moving until SIGINT or SIGTERM, or until
 * the process that forked this one is gone. Answers the exit code; rejects when the port is taken.
 */
export async function runSandbox(options: { readonly port: number }): Promise<number> {
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'disconnect'] as const;
  for (const signal of signals) process.once(signal, end);
  const clock = systemClock();
  const embedded = new EmbeddedServer({ clock });
  const server = await startRespServer({ engine: embedded.engine, port: options.port }).catch((error: unknown) => {
    throw isPortTaken(error)
      ? new Error(`Port ${options.port} is taken: give another one, or 0 for a free one`)
      : error;
  });
  const port = embedded.process('sample').openPort();
  try {
    const events = createSampleEvents(seed);
    await seedSample(port, events);
    process.stdout.write(`Sandbox with sample streams: redis://127.0.0.1:${server.port}\n`);
    tellParent({ type: 'ready', port: server.port });
    await runSampleTraffic({ port, events, clock, signal: stop.signal });
    return 0;
  } finally {
    for (const signal of signals) process.off(signal, end);
    await port.close();
    await server.close();
  }
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function tellParent(message: SandboxMessage): void {
  process.send?.(message);
}
