import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** What was found when Node was looked for. */
export type NodeCheck =
  | { readonly kind: 'found'; readonly path: string; readonly version: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too-old'; readonly path: string; readonly version: string }
  | { readonly kind: 'not-node'; readonly path: string };

/** The oldest Node that the worker runs on. */
const oldest: readonly [number, number] = [20, 19];

/** Looks for the Node that a launch would use: the named executable, else `node` on PATH. */
export async function checkNode(executable: string | undefined, env: NodeJS.ProcessEnv): Promise<NodeCheck> {
  const found = findOnPath(executable ?? 'node', env);
  if (found === undefined) return { kind: 'missing' };
  const version = await versionOf(found);
  if (version === undefined) return { kind: 'not-node', path: found };
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  return { kind: isOld ? 'too-old' : 'found', path: found, version };
}

function findOnPath(program: string, env: NodeJS.ProcessEnv): string | undefined {
  if (program.includes('/') || program.includes(path.sep)) return isExecutable(program) ? program : undefined;
  const extensions = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of (env.PATH ?? '').split(path.delimiter)) {
    for (const extension of extensions) {
      const file = path.join(folder, program + extension);
      if (folder !== '' && isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not for this user.
    return false;
  }
}

function versionOf(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], { timeout: 10_000, windowsHide: true }, (error, stdout) => {
      resolve(error ? undefined : /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1]);
    });
  });
}
