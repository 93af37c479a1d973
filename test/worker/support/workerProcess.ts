import { fork, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The built worker. */
export const workerFile = path.resolve(import.meta.dirname, '../../../dist/worker.js');

/** A running `dist/worker.js`. */
export interface WorkerProcess {
  readonly pid: number;
  /** All that it wrote so far, both streams together. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when it ended, with its exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

const running = new Set<WorkerProcess>();

/** Starts the built worker as users do. It does not outlive the tests of its file (`endWorkers`). */
export function startWorker(
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly nodeArgs?: readonly string[] } = {},
): WorkerProcess {
  if (!existsSync(workerFile)) throw new Error('dist/worker.js is missing: run "npm run build" first');
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), workerFile, ...args], {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const worker: WorkerProcess = {
    pid: child.pid ?? -1,
    output: () => output,
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => {
      child.on('close', (code, signal) => {
        running.delete(worker);
        resolve(code ?? signal ?? 1);
      });
    }),
  };
  running.add(worker);
  return worker;
}

/** Forks the built worker with a channel to it, as the extension does; it ends when the channel does. */
export function forkWorker(args: readonly string[]): ChildProcess {
  return fork(workerFile, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
}

/** Ends what still runs; for an `after` hook. */
export async function endWorkers(): Promise<void> {
  const left = [...running];
  for (const worker of left) worker.kill('SIGKILL');
  await Promise.all(left.map(({ ended }) => ended));
}
