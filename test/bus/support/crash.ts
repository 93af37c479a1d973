// Starts crashWorker.ts as a process of its own. Tested by test/bus/consumeCrash.test.ts.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { bundledProgram } from '../../support/bundledProgram';

/** How a crash worker is started. */
export interface CrashWorkerOptions {
  readonly url: string;
  readonly stream: string;
  readonly killAt?: 'before-handler' | 'after-effect';
  readonly killId?: string;
  readonly name?: string;
  /** Default 600. */
  readonly minIdleMs?: number;
  /** Whether it keeps a journal. */
  readonly journal?: boolean;
}

/** A worker process. */
export interface CrashWorker {
  /** Resolves with the signal that ended it, null when it ended by itself. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** Kills it, and waits until it is gone. */
  kill(): Promise<void>;
}

const live = new Set<CrashWorker>();

/** Starts a worker; it is ready when this resolves, or has died already. */
export async function startCrashWorker(options: CrashWorkerOptions): Promise<CrashWorker> {
  const { url, stream, killAt = '', killId = '', name, minIdleMs = 600, journal = false } = options;
  const child = spawn(process.execPath, [await bundledProgram(path.join(import.meta.dirname, 'crashWorker.ts'))], {
    env: {
      ...process.env,
      REDIS_URL: url,
      STREAM: stream,
      KILL_AT: killAt,
      KILL_ID: killId,
      MIN_IDLE_MS: String(minIdleMs),
      JOURNAL: String(journal),
      ...(name === undefined ? {} : { NAME: name }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
  const worker: CrashWorker = {
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
  live.add(worker);
  void ended.then(() => live.delete(worker));
  await Promise.race([firstLine(child), ended]);
  return worker;
}

/** Kills every worker that still runs; for the `afterEach` hook. */
export async function killCrashWorkers(): Promise<void> {
  await Promise.all([...live].map((worker) => worker.kill()));
}

async function firstLine({ stdout }: ChildProcess): Promise<void> {
  if (stdout) await once(stdout, 'data');
}
