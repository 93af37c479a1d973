// Loaded into every tier: nothing that a test started may be left when the tier's tests have ended. A server that was not
// stopped fails the tier by name; whatever else keeps the process from ending is listed before it is ended.
// Tested by test/worker/testRun.test.ts.
import type { RootHookObject } from 'mocha';
import { listLiveServers } from './redisServer';

const patienceMs = 5000;

/** Mocha's root hooks. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    endWhenIdleTooLong();
    const left = listLiveServers();
    const names = left.map((server) => `${server.url.replace(/:[^:@/]*@/, ':***@')} (pid ${server.pid})`);
    await Promise.all(left.map((server) => server.stop()));
    if (left.length > 0) throw new Error(`Tests left servers running; stop them in an after hook: ${names.join(', ')}`);
  },
};

/** A process that ends by itself never sees this timer go off. */
function endWhenIdleTooLong(): void {
  // An end that nobody asked for frees all handles first, and Node 20 was seen to wait in there for ever, at full load, for the pipes of a
  // child that had been let go of, as esbuild's is. Exiting does not.
  process.once('beforeExit', () => process.exit());
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((name) => !['TTYWrap', 'PipeWrap'].includes(name));
    process.stderr.write(`The tests have ended but this process does not; still open: ${open.join(', ') || 'pipes'}\n`);
    // Mocha sets the exit code as its last act; this comes after it.
    process.once('exit', () => {
      process.exitCode = 1;
    });
    process.exit();
  }, patienceMs);
  timer.unref();
}
