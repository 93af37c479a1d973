import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

/** What a worker may do to the group besides reading, acknowledging and giving back. */
export interface WorkerGrant {
  readonly createGroup: boolean;
  readonly reclaim: boolean;
  readonly deadLetter: boolean;
  readonly journal?: boolean;
}

/** What a worker that is launched here is told; it reads the same in `src/worker/run/launchFile.ts`. */
export interface WorkerLaunch {
  /** With its secrets. */
  readonly url: string;
  readonly lifeline: { readonly port: number; readonly token: string };
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  readonly grant: WorkerGrant;
  /** Absolute path; the sample's handler when left out. */
  readonly handler?: string;
  readonly maxMessages?: number;
  /** Where the group starts when the worker creates it: `0`, `$` or an entry id; default `$`. */
  readonly from?: string;
  /** The group is the worker's own: it begins anew and is removed at the end, unless somebody else is in it. */
  readonly ownGroup?: { readonly formerConsumers: readonly string[] };
  /** A link to the stream's panel; an entry id at its end leads to the entry. */
  readonly entryLink?: string;
}

/** A launch file on disk. */
export interface LaunchFileOnDisk {
  readonly path: string;
  /** Writes it again, at the same place. */
  write(launch: WorkerLaunch): void;
  /** Deletes the file and keeps its folder, which only this user can enter, for `write`. */
  clear(): void;
  /** Deletes it and its folder, whether or not the worker did. */
  remove(): void;
}

const folderPrefix = 'redis-streams-launch-';

/** Older than what any launch needs. */
const staleMs = 10 * 60_000;

/** Deletes launch files that this user's editors could not delete because they were killed; the rest of the folder is left alone. */
export async function removeStaleLaunchFiles(nowMs: number): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(folderPrefix));
  for (const name of names) {
    const folder = path.join(tmpdir(), name);
    const found = await stat(folder).catch(() => undefined);
    const isOurs = found?.isDirectory() === true && (found.uid === userInfo().uid || process.platform === 'win32');
    if (isOurs && nowMs - found.mtimeMs > staleMs) await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a launch file that only this user can read, in a fresh folder outside of every workspace. */
export function writeLaunchFile(launch: WorkerLaunch): LaunchFileOnDisk {
  const folder = mkdtempSync(path.join(tmpdir(), folderPrefix));
  const file = path.join(folder, 'launch.json');
  chmodSync(folder, 0o700);
  const clear = (): void => {
    rmSync(file, { force: true });
  };
  const write = (next: WorkerLaunch): void => {
    clear();
    // Another window may have taken the folder for a leftover.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ version: 1, ...next }), { mode: 0o600, flag: 'wx' });
  };
  write(launch);
  return {
    path: file,
    write,
    clear,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
