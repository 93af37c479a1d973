/**
 * `watch-launch`: looks after a launch until the worker itself can. A debugger starts the worker's process and lets it wait; when the
 * editor dies in that moment nobody would ever let it go on, and its launch file, which holds secrets, would lie about.
 *
 * An editor forks it beside a launch. The message `launched` ends it; the end of the channel without that means that the launch is
 * not wanted any more. Its tests are in `test/worker/launchWatch.test.ts`.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { UsageError } from '../usageError';

/** How long a worker that does run may take to notice that its editor is gone, and one that was on its way to appear. */
const waits = { graceMs: 3000, lookMs: 250, giveUpMs: 10_000 };

/** Answers the exit code when the launch came to something, or is cleared away. */
export async function watchLaunch(launchFile: string | undefined): Promise<number> {
  if (launchFile === undefined) throw new UsageError('watch-launch needs the launch file');
  if (!process.connected) throw new UsageError('watch-launch is for editors: it needs a channel to who forked it');
  const isLaunched = await new Promise<boolean>((resolve) => {
    process.once('message', () => {
      resolve(true);
    });
    process.once('disconnect', () => {
      resolve(false);
    });
  });
  // A signal to the whole group would end this before it has done its work.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  if (isLaunched) process.disconnect();
  else await clearAway(launchFile);
  return 0;
}

async function clearAway(launchFile: string): Promise<void> {
  await rm(launchFile, { force: true });
  const folder = path.dirname(launchFile);
  if ((await readdir(folder).catch(() => ['?'])).length === 0) await rm(folder, { recursive: true, force: true });
  await sleep(waits.graceMs);
  for (let waitedMs = 0; waitedMs < waits.giveUpMs; waitedMs += waits.lookMs) {
    const found = await processesOf(launchFile);
    for (const pid of found) kill(pid);
    if (found.length > 0) return;
    await sleep(waits.lookMs);
  }
}

/** The processes that were started to run this launch file. On Windows none is found. */
async function processesOf(launchFile: string): Promise<number[]> {
  const isOne = (args: readonly string[]): boolean => args.includes('--launch-file') && args.includes(launchFile);
  if (existsSync('/proc/self/cmdline')) {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const all = await Promise.all(
      pids.map(async (pid) => {
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        return isOne(line.split('\0')) ? [Number(pid)] : [];
      }),
    );
    return all.flat();
  }
  if (process.platform === 'win32') return [];
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout
    .split('\n')
    .filter((line) => line.includes(`--launch-file ${launchFile}`))
    .map((line) => Number.parseInt(line, 10));
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
