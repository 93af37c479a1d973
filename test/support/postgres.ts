// A PostgreSQL server of a test's own: on a free loopback port, in a temporary folder, gone with the test process. It
// refuses to run as root, so root starts it as a system user. Tested by test/worker/postgres.test.ts.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../scripts/lib/freePort.mjs';
import { findPostgres, postgresUser } from '../../scripts/lib/postgresPrograms.mjs';
import { eventually } from './eventually';

/** A server that runs until `stop`. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  /** `postgresql://postgres@host:port/postgres`, without a password. */
  readonly url: string;
  readonly pid: number;
  readonly dir: string;
  /** Kills it at once, as a crash would; the folder stays. */
  kill(): Promise<void>;
  /** Kills it if it runs and starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a server with the superuser `postgres` and resolves when it takes connections. */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = findPostgres();
  if (programs === undefined) {
    throw new Error(
      "There is no PostgreSQL here: install the package postgresql, or set POSTGRES_BIN to its programs' folder.",
    );
  }
  const user = postgresUser();
  const dir = mkdtempSync(path.join(tmpdir(), 'redis-streams-postgres-'));
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  chmodSync(dir, 0o700);
  try {
    initialize(programs, dir, user);
    const port = await freePort();
    let current = await startIn(programs, dir, port, user);
    const stop = async (): Promise<void> => {
      await current.kill();
      rmSync(dir, { recursive: true, force: true });
    };
    return {
      host,
      port,
      url: `postgresql://postgres@${host}:${port}/postgres`,
      get pid() {
        return current.pid;
      },
      dir,
      kill: () => current.kill(),
      restart: async () => {
        await current.kill();
        current = await startIn(programs, dir, port, user);
      },
      stop,
    };
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

const host = '127.0.0.1';
const lifeline = 'read -r line || { kill -QUIT "$1" 2>/dev/null; sleep 0.5; kill -9 "$1" 2>/dev/null; rm -rf "$2"; }';

type SystemUser = ReturnType<typeof postgresUser>;

function initialize(programs: string, dir: string, user: SystemUser): void {
  const args = ['--pgdata', path.join(dir, 'data'), '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8'];
  const run = spawnSync(path.join(programs, 'initdb'), [...args, '--no-sync', '--no-locale'], {
    ...user,
    cwd: dir,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`initdb failed: ${run.error?.message ?? run.stderr.trim()}`);
}

async function startIn(
  programs: string,
  dir: string,
  port: number,
  user: SystemUser,
): Promise<{ pid: number; kill(): Promise<void> }> {
  const settings = ['fsync=off', `listen_addresses=${host}`, 'unix_socket_directories=', 'max_connections=40'];
  const args = ['-D', path.join(dir, 'data'), '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(path.join(programs, 'postgres'), args, {
    ...user,
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = `${log}${text}`.slice(-4000);
  });
  const exited = once(child, 'exit');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${programs}/postgres could not be started: ${log}`);
  const watcher = spawn('sh', ['-c', lifeline, 'lifeline', String(pid), dir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  void exited.then(() => watcher.stdin.end('released\n'));
  const kill = async (): Promise<void> => {
    // SIGQUIT ends its children too, at once and without a checkpoint; SIGKILL would leave them.
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGQUIT');
    await exited;
  };
  try {
    await eventually(() => answers(port), { timeoutMs: 30_000, intervalMs: 50, what: `PostgreSQL on port ${port}` });
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended while it started: ${log}`);
    return { pid, kill };
  } catch (error) {
    await kill();
    throw new Error(`PostgreSQL did not start on port ${port}: ${log.trim()}`, { cause: error });
  }
}

/** Whether a PostgreSQL lets the superuser in. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.write(startupMessage()));
    socket.on('data', (reply) => {
      // R: authentication goes on; E: for example still starting up.
      resolve(reply.toString('latin1', 0, 1) === 'R');
      socket.destroy();
    });
  });
}

function startupMessage(): Buffer {
  const body = Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from('user\0postgres\0database\0postgres\0\0')]);
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length + 4);
  return Buffer.concat([size, body]);
}
