// Starts crashWorker.ts as a process of its own. Tested by test/bus/consumeCrash.test.ts.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

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
  const child = spawn(process.execPath, [await bundledWorker()], {
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

/** Bundled once: a worker that is transpiled at each start takes a second longer to be there. */
let bundled: Promise<string> | undefined;

function bundledWorker(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-crash-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const outfile = path.join(folder, 'crashWorker.js');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'crashWorker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'silent',
  });
  return outfile;
}
