/**
 * sandbox: starts and stops the sandbox process, `dist/worker.js sandbox`, and lists it among the connections. The engine runs in that
 * process and never on the extension host's event loop; when the extension host is gone, so is the sandbox. It knows nothing of what
 * the sandbox holds. Its tests are in `test/worker` and `test/host`.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Disposable } from '../base/disposables';
import type { Localizer } from '../base/localize';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { LiveConnection } from '../connections/liveConnection';
import { connectionId } from '../connections/profiles';
import type { ConnectionProfile } from '../connections/profiles';
import type { Log } from '../ui/log';
import type { Notifications } from '../ui/notifications';

const startLimitMs = 30_000;

/** What the sandbox needs from outside. */
export interface SandboxDeps {
  /** Absolute path of `dist/worker.js`. */
  readonly file: string;
  readonly connections: ConnectionRegistry;
  readonly l10n: Localizer;
  readonly log: Log;
  readonly notifications: Notifications;
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

/** The one sandbox of a window. */
export class Sandbox implements Disposable {
  private running: Running | undefined;
  private starting: Promise<Running> | undefined;

  constructor(private readonly deps: SandboxDeps) {}

  /** Where it listens; undefined while it does not run. */
  get url(): string | undefined {
    return this.running && urlOf(this.running.port);
  }

  /** Starts it unless it runs, and answers its connection. Rejects with what the process said when it does not come up. */
  async start(port = 0): Promise<LiveConnection> {
    this.starting ??= this.launch(port).finally(() => {
      this.starting = undefined;
    });
    this.running ??= await this.starting;
    const profile = this.profileOf(this.running.port);
    this.deps.connections.setSandbox(profile);
    const connection = this.deps.connections.find(profile.id);
    if (!connection) throw new Error(this.deps.l10n.t('The sandbox has no connection.'));
    return connection;
  }

  /** Ends it with all that it holds. */
  async stop(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    this.deps.connections.setSandbox(undefined);
    if (running) await end(running.child);
  }

  /** Ends it and starts a fresh one at the same address. */
  async reset(): Promise<LiveConnection> {
    const port = this.running?.port ?? 0;
    const { running } = this;
    this.running = undefined;
    if (running) await end(running.child);
    return this.start(port);
  }

  dispose(): void {
    this.running?.child.kill();
    this.running = undefined;
  }

  private launch(port: number): Promise<Running> {
    return new Promise((resolve, reject) => {
      const child = fork(this.deps.file, ['sandbox', '--port', String(port)], {
        execArgv: [],
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      let last = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          last = text.trim().split('\n').at(-1) ?? last;
          this.deps.log.info(text.trimEnd());
        });
      }
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(this.deps.l10n.t('The sandbox did not start within {0} s.', startLimitMs / 1000)));
      }, startLimitMs);
      child.once('error', reject);
      child.once('message', (message) => {
        clearTimeout(timer);
        const readyPort = portOf(message);
        if (readyPort === undefined) reject(new Error(this.deps.l10n.t('The sandbox did not say where it listens.')));
        else resolve({ child, port: readyPort });
      });
      child.once('exit', (code) => {
        clearTimeout(timer);
        reject(new Error(this.deps.l10n.t('The sandbox did not start: {0}', last)));
        if (this.running?.child !== child) return;
        this.running = undefined;
        this.deps.connections.setSandbox(undefined);
        this.tellLost(code);
      });
    });
  }

  private tellLost(code: number | null): void {
    const { l10n, log, notifications } = this.deps;
    log.error(`The sandbox ended by itself with ${code ?? 'a signal'}.`);
    void notifications.warning(l10n.t('The sandbox ended by itself; the log says why.'), {
      title: l10n.t('Open Log'),
      run: () => log.open(),
    });
  }

  private profileOf(port: number): ConnectionProfile {
    return {
      id: connectionId('sandbox'),
      name: this.deps.l10n.t('Sandbox'),
      url: urlOf(port),
      environment: 'local',
      source: 'sandbox',
    };
  }
}

function urlOf(port: number): string {
  return `redis://127.0.0.1:${port}`;
}

/** Reads the message that `src/worker/sandbox/runSandbox.ts` sends when it listens. */
function portOf(message: unknown): number | undefined {
  if (typeof message !== 'object' || message === null || !('port' in message)) return undefined;
  return typeof message.port === 'number' ? message.port : undefined;
}

/** Asks the process to end, and resolves when it did; it is killed when it takes over two seconds. */
function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 2_000);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
