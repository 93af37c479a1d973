// The ends of a debug session that debug.test.ts does not have: while the handler runs, and with the VS Code server itself gone. Each
// time the worker is gone within seconds, its message is back with the delivery not counted, and no group or consumer is left.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { DebugWorld, noWorkerLeft, serverPassword } from './support/debugWorld';
import { useWindow } from './support/useWindow';

const waits = `export async function handle(message, context) {
  const { id } = message;
  await new Promise((resolve, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));
  return id;
}
`;

describe('A debug session ends', () => {
  let world: DebugWorld;
  const window = useWindow({
    files: { 'waits.mjs': waits },
    settings: { 'redisStreams.autoRefreshSeconds': 0 },
    env: { TEST_REDIS_PASSWORD: serverPassword },
  });

  before(async () => {
    world = await DebugWorld.start();
    const url = `redis://:\${env:TEST_REDIS_PASSWORD}@${world.server.host}:${world.server.port}`;
    await window().bridge.updateSetting('redisStreams.connections', [{ name: 'shop', url, environment: 'local' }]);
  });
  after(() => world.end());

  /** Starts a session that joins the group of a new stream, and waits until its handler has the one message. */
  const session = async (stream: string, { isPaused }: { readonly isPaused: boolean }): Promise<string> => {
    const [id = ''] = await world.stream(stream, { undelivered: 1 });
    const { bridge, debug, quickInput } = window();
    const handler = join(window().workspace, 'waits.mjs');
    await bridge.removeBreakpoints();
    if (isPaused) await bridge.addBreakpoint(handler, 2);
    const stops = debug.stops;
    const started = bridge.startDebugging({
      ...{ type: 'redis-streams-worker', request: 'launch', name: stream, connection: 'shop' },
      ...{ stream, group: 'billing', mode: 'join', handler },
    });
    await quickInput.answer('billing');
    await started;
    if (isPaused) await debug.stopped(stops);
    await eventually(async () => assert.deepEqual(await world.pending(stream), [[id, 1]]), { timeoutMs: 60_000 });
    return id;
  };

  const assertGivenBack = async (stream: string, id: string): Promise<void> => {
    await noWorkerLeft();
    assert.deepEqual(await world.pending(stream), [[id, 0]]);
    assert.deepEqual(await world.groups(stream), ['billing']);
  };

  it('by Stop, while the handler runs', async () => {
    const id = await session('stopped', { isPaused: false });
    await window().debug.press('Stop');
    await window().debug.ended();
    await assertGivenBack('stopped', id);
  });

  it('by a reload of the window, while the handler runs', async () => {
    const id = await session('reloaded', { isPaused: false });
    await window().reload();
    await assertGivenBack('reloaded', id);
  });

  it('by the death of the extension host, while the handler runs', async () => {
    const id = await session('killed', { isPaused: false });
    const { bridge, page } = window();
    const before = bridge.connections;
    process.kill(await bridge.evaluate(() => process.pid), 'SIGKILL');
    await assertGivenBack('killed', id);
    await page.reload();
    await bridge.connected(before);
  });

  it('by the death of the VS Code server, while the handler is paused', async () => {
    const id = await session('abandoned', { isPaused: true });
    const host = await window().bridge.evaluate(() => process.pid);
    const server = parentOf(host);
    assert.match(readFileSync(`/proc/${server}/cmdline`, 'utf8'), /server-main\.js/);
    process.kill(server, 'SIGKILL');
    await assertGivenBack('abandoned', id);
  });
});

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
