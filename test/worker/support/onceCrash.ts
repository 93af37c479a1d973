// Starts onceWorker.ts as a process of its own. Tested by test/worker/idempotencyCrash.test.ts.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { bundledProgram } from '../../support/bundledProgram';

/** How a worker is started. */
export interface OnceWorkerOptions {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly stream: string;
  readonly group: string;
  readonly mode: 'redis' | 'postgres' | 'inbox';
  readonly killAt?: 'after-effect' | 'before-acknowledgement';
}

const live = new Set<ChildProcess>();

/** Starts a worker; resolves with the signal that ends it. */
export async function startOnceWorker(options: OnceWorkerOptions): Promise<{ ended: Promise<NodeJS.Signals | null> }> {
  const { redisUrl, databaseUrl, stream, group, mode, killAt = '' } = options;
  const names = { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, STREAM: stream, GROUP: group, MODE: mode };
  const child = spawn(process.execPath, [await bundledProgram(path.join(import.meta.dirname, 'onceWorker.ts'))], {
    env: { ...process.env, ...names, KILL_AT: killAt },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  live.add(child);
  const ended = once(child, 'exit').then(([, signal]) => {
    live.delete(child);
    return signal as NodeJS.Signals | null;
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  return { ended };
}

/** Kills every worker that still runs; for the `afterEach` hook. */
export async function killOnceWorkers(): Promise<void> {
  await Promise.all(
    [...live].map(async (child) => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }),
  );
}
