import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What a worker may do to the group besides reading, acknowledging and giving back. */
export interface WorkerGrant {
  readonly createGroup: boolean;
  readonly reclaim: boolean;
  readonly deadLetter: boolean;
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

/** Writes a launch file that only this user can read, in a fresh folder outside of every workspace. */
export function writeLaunchFile(launch: WorkerLaunch): LaunchFileOnDisk {
  const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-'));
  const file = path.join(folder, 'launch.json');
  chmodSync(folder, 0o700);
  const clear = (): void => {
    rmSync(file, { force: true });
  };
  const write = (next: WorkerLaunch): void => {
    clear();
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
