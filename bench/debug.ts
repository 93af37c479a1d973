/**
 * Debugging: from the command to the stop in the sample handler's TypeScript on a real message, next to the same debugger stopping in
 * a plain Node script of the same window, alternating which comes first.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { openWindow } from '../test/host/support/openWindow';
import type { Window } from '../test/host/support/window';
import { startRedis } from '../test/support/redisServer';
import { figureOf, readBenchFlags, report, type Figure } from './support/report';

const flags = readBenchFlags();
const rounds = flags.quick ? 3 : 11;

/** What one launch took, milliseconds from the command: until the debugger answered, until it stopped. */
interface Times {
  readonly started: number;
  readonly stopped: number;
}

async function main(): Promise<void> {
  const server = await startRedis();
  const client = new Redis(server.port, server.host);
  const window = await openWindow({
    settings: { 'redisStreams.connections': [{ name: 'bench', url: server.url, environment: 'local' }] },
  });
  try {
    await client.xgroup('CREATE', 'orders', 'billing', '0', 'MKSTREAM');
    for (let n = 0; n < 100; n += 1) await client.xadd('orders', '*', 'type', 'order.created', 'payload', '{}');
    report('From the command to the stop', await measure(window), flags);
  } finally {
    await window.close();
    client.disconnect();
    await server.stop();
  }
}

async function measure(window: Window): Promise<Figure[]> {
  const { path: extension } = await window.bridge.activate('redis-streams.redis-streams-debugger');
  const handler = path.join(extension, 'src', 'worker', 'sampleHandler.ts');
  const line = lineOf(handler, 'const type = message.fields.type');
  const script = path.join(window.workspace, 'plain.js');
  writeFileSync(script, 'const answer = 42;\nconsole.log(answer);\n');
  await window.bridge.addBreakpoint(handler, line);
  await window.bridge.addBreakpoint(script, 2);
  const worker = {
    type: 'redis-streams-worker',
    request: 'launch',
    name: 'worker',
    connection: 'bench',
    stream: 'orders',
    group: 'billing',
  };
  const plain = { type: 'node', request: 'launch', name: 'plain', program: script };
  const times = { worker: [] as Times[], plain: [] as Times[] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['worker', 'plain'] as const) : (['plain', 'worker'] as const);
    for (const which of order) times[which].push(await launch(window, which === 'worker' ? worker : plain));
  }
  const afterStart = (all: readonly Times[]): number[] => all.map(({ started, stopped }) => stopped - started);
  const total = (all: readonly Times[]): number[] => all.map(({ stopped }) => stopped);
  return [
    figureOf('worker: command to stop', 'ms', total(times.worker)),
    figureOf('worker: debugger started to stop', 'ms', afterStart(times.worker), {
      text: 'under 3,000',
      met: (value) => value < 3000,
    }),
    figureOf('plain script: command to stop', 'ms', total(times.plain)),
    figureOf('plain script: debugger started to stop', 'ms', afterStart(times.plain)),
  ];
}

async function launch(window: Window, configuration: Readonly<Record<string, unknown>>): Promise<Times> {
  const { bridge, debug } = window;
  const eventsBefore = bridge.debugEvents.length;
  const began = performance.now();
  const launched = bridge.startDebugging(configuration);
  const started = await eventAt(window, eventsBefore, 'initialized', began);
  const stopped = await eventAt(window, eventsBefore, 'stopped', began);
  await launched;
  await bridge.stopDebugging();
  await debug.ended();
  return { started, stopped };
}

/** Milliseconds since `began` when the event came; the bridge pushes events, so looking often costs nothing in VS Code. */
async function eventAt(window: Window, from: number, name: string, began: number): Promise<number> {
  for (;;) {
    if (window.bridge.debugEvents.slice(from).some(({ event }) => event === name)) return performance.now() - began;
    if (performance.now() - began > 60_000) throw new Error(`The debugger did not say ${name} within 60 s`);
    await sleep(5);
  }
}

function lineOf(file: string, text: string): number {
  return (
    1 +
    readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((candidate) => candidate.includes(text))
  );
}

void main();
